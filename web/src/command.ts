import type { Endpoints, ResourceWithKey } from "./api";
import { hasPublicKey, isCertified } from "./public-key";

/** The reading that the shown commands post. */
const READING = '[{"n":"temperature","u":"Cel","v":21.4}]';
const SENML_JSON = "110";
/** What the shown commands read: the device's private key, with its certificate if it has one, and the cloud's authority. */
export const DEVICE_FILE = "device.pem";
export const CLOUD_FILE = "cloud.pem";

/** A word as a POSIX shell takes it. */
export function shellWord(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}

/** Where a device finds a server: one that listens on all addresses is at the one that the page came from. */
export function reachable(endpoint: string, pageHost: string): string {
  const at = endpoint.lastIndexOf(":");
  const host = endpoint.slice(0, at);
  return ["0.0.0.0", "[::]"].includes(host) ? `${pageHost}${endpoint.slice(at)}` : endpoint;
}

/** The line for a shell that reads which devices a user has, by a DTLS identity of theirs. */
export function readCommand(
  { mode, identity, key }: Pick<ResourceWithKey, "mode" | "identity" | "key">,
  endpoints: Endpoints,
  pageHost: string,
): string {
  const [client, ...proof] = prover(mode, identity, key ?? "");
  const uri = `coaps://${reachable(endpoints.coaps, pageHost)}/resources`;
  return [client, ...proof, uri].map(shellWord).join(" ");
}

/** The client of libcoap that proves an identity of this mode, and what it is told for that. */
function prover(mode: string, identity: string, key: string): [string, ...string[]] {
  if (isCertified(mode)) return ["coap-client-openssl", "-c", DEVICE_FILE, "-C", CLOUD_FILE];
  if (hasPublicKey(mode)) return ["coap-client-gnutls", "-M", DEVICE_FILE];
  return ["coap-client-openssl", "-u", identity, "-k", key];
}

/** The line for a shell that posts a reading as the device would; nothing where the server it needs is off. */
export function postCommand(
  device: ResourceWithKey,
  endpoints: Endpoints,
  pageHost: string,
): string | undefined {
  const words = (client: string, more: string[], uri: string) =>
    [client, ...more, "-m", "post", "-t", SENML_JSON, "-e", READING, uri].map(shellWord).join(" ");
  const key = device.key ?? "";
  if (device.mode.includes("dtls")) {
    const uri = `coaps://${reachable(endpoints.coaps, pageHost)}/resources/data`;
    const [client, ...proof] = prover(device.mode, device.identity, key);
    return words(client, proof, uri);
  }
  if (endpoints.coap === null) return undefined;
  const query = `id=${device.id}&key=${encodeURIComponent(key)}`;
  return words(
    "coap-client-notls",
    [],
    `coap://${reachable(endpoints.coap, pageHost)}/resources/data?${query}`,
  );
}
