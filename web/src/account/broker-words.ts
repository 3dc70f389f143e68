import type { Broker, BrokerTest } from "../broker-api";
import { formatCount, formatWhen, shown } from "../format";

/** A sentence that ends where it ends. */
function sentence(words: string): string {
  return /[.!?]$/.test(words) ? words : `${words}.`;
}

/** Which devices' readings are published. */
export function devicesWords({ resources, tag }: Pick<Broker, "resources" | "tag">): string {
  if (tag !== null) return `devices with the tag ${shown(tag)}`;
  if (resources === null) return "all devices";
  return resources.length === 1 ? "1 device" : `${formatCount(resources.length)} devices`;
}

/** How publishing to a broker goes. */
export function brokerState(broker: Broker): { state: "good" | "waiting" | "failing"; words: string } {
  const { connected_since, last_error, failures, published, last_published, behind, dropped } = broker;
  const words: string[] = [];
  if (connected_since !== null) {
    words.push(`Connected since ${formatWhen(connected_since)}.`);
  } else if (last_error !== null) {
    const times = failures > 1 ? `${formatCount(failures)} tries failed` : "The last try failed";
    words.push(sentence(`${times}: ${last_error}`));
  } else {
    words.push("Connecting.");
  }
  if (last_published === null) words.push("Nothing was published yet.");
  else words.push(`${formatCount(published)} readings published, the last at ${formatWhen(last_published)}.`);
  if (behind > 0) words.push(`${formatCount(behind)} ${behind === 1 ? "reading waits" : "readings wait"}.`);
  if (dropped > 0) words.push(`${formatCount(dropped)} left out.`);
  const state = connected_since !== null ? "good" : last_error !== null ? "failing" : "waiting";
  return { state, words: words.join(" ") };
}

/** What came of a test. */
export function testWords({ topic, taken, said }: BrokerTest): string {
  const what = taken ? `A message to ${topic} was sent` : `No message reached ${topic}`;
  return sentence(`${what}: ${said}`);
}
