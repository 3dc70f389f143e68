// An OpenID provider: it says at which port it listens, and is another one with each line of JSON that it reads, with new keys.
import { generateKeyPairSync, randomUUID } from "node:crypto";
import { createServer } from "node:http";
import { createInterface } from "node:readline";
import Provider from "oidc-provider";

let answer = (_request, response) => response.writeHead(503).end();
const server = createServer((request, response) => answer(request, response));
await new Promise((listening) => server.listen(0, "127.0.0.1", listening));
const issuer = `http://127.0.0.1:${server.address().port}`;
console.log(`issuer ${issuer}`);

function key(algorithm) {
  const [kind, options] = algorithm.startsWith("ES")
    ? ["ec", { namedCurve: "P-256" }]
    : ["rsa", { modulusLength: 2048 }];
  const jwk = generateKeyPairSync(kind, options).privateKey.export({ format: "jwk" });
  return { ...jwk, kid: randomUUID(), use: "sig", alg: algorithm };
}

for await (const line of createInterface({ input: process.stdin })) {
  const { client, algorithm, lean } = JSON.parse(line);
  const claims = (sub) => ({
    sub,
    preferred_username: sub,
    email: `${sub}@example.org`,
    email_verified: true,
  });
  const provider = new Provider(issuer, {
    clients: [{ ...client, id_token_signed_response_alg: algorithm }],
    jwks: { keys: [key(algorithm)] },
    claims: { openid: ["sub"], profile: ["preferred_username"], email: ["email", "email_verified"] },
    // A lean ID token has no claims but of who it is: the others are asked for.
    conformIdTokenClaims: lean,
    findAccount: (_context, id) => ({ accountId: id, claims: async () => claims(id) }),
    pkce: { required: () => true, methods: ["S256"] },
    features: { devInteractions: { enabled: true } },
    cookies: { keys: [randomUUID()] },
  });
  answer = provider.callback();
  console.log("ready");
}
