// A certified OpenID provider (oidc-provider) for tests: node provider.mjs LIBRARY PORT ALGORITHM
// Anybody logs in with any password; the address of `unverified` is not verified.
import { generateKeyPair } from "node:crypto";
import { promisify } from "node:util";

const [library, port, algorithm] = process.argv.slice(2);
const { default: Provider } = await import(library);
const kinds = { RS256: ["rsa", { modulusLength: 2048 }], ES256: ["ec", { namedCurve: "P-256" }], EdDSA: ["ed25519", {}] };
const { privateKey } = await promisify(generateKeyPair)(...kinds[algorithm]);
const key = { ...privateKey.export({ format: "jwk" }), kid: algorithm, use: "sig", alg: algorithm };
const provider = new Provider(`http://127.0.0.1:${port}`, {
  clients: [
    {
      client_id: "trip-companion",
      redirect_uris: ["https://app.example.com/callback"],
      token_endpoint_auth_method: "none",
      id_token_signed_response_alg: algorithm,
    },
  ],
  jwks: { keys: [key] },
  enabledJWA: { idTokenSigningAlgValues: ["RS256", "ES256", "EdDSA"] },
  cookies: { keys: ["a key of tests"] },
  claims: { email: ["email", "email_verified"], profile: ["name"] },
  conformIdTokenClaims: false,
  findAccount: (_context, id) => ({
    accountId: id,
    claims: () => ({
      sub: id,
      name: `${id} of the provider`,
      email: `${id}@example.com`,
      email_verified: id !== "unverified",
    }),
  }),
});
provider.listen(Number(port), "127.0.0.1", () => console.log("listening"));
