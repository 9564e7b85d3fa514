// Forged and confused credentials: tokens, schemes, headers reserved for a front proxy, impersonation.
import { createHmac, generateKeyPairSync, sign } from "node:crypto";
import { attacks, issuer, keys, target, users } from "./target.fixture.ts";

const at = await target();
const vault = "/api/v1/namespaces/default/secrets/vault";
const part = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString("base64url");
const other = generateKeyPairSync("rsa", { modulusLength: 2048 });
const seconds = Math.floor(at.start / 1000);
const boss = { namespace: "default", serviceaccount: { name: "boss", uid: "1" } };
const claims = (given: object = {}): object => ({
  iss: issuer,
  sub: "system:serviceaccount:default:boss",
  aud: [issuer],
  exp: seconds + 600,
  iat: seconds,
  nbf: seconds,
  "orch.io": boss,
  ...given,
});
const signed = (body: string, key = keys.privateKey): string =>
  `${body}.${sign("sha256", Buffer.from(body), key).toString("base64url")}`;
const token = (header: object, payload: object, key = keys.privateKey): string =>
  signed(`${part({ alg: "RS256", ...header })}.${part(payload)}`, key);
const good = token({}, claims());
const [head = "", body = "", tail = ""] = good.split(".");
const mac = (secret: string): string => {
  const text = `${part({ alg: "HS256" })}.${part(claims())}`;
  return `${text}.${createHmac("sha256", secret).update(text).digest("base64url")}`;
};
const publicPem = keys.publicKey.export({ type: "spki", format: "pem" }).toString();
const jwk = other.publicKey.export({ format: "jwk" });

const forged: [name: string, token: string][] = [
  ["no signature", `${part({ alg: "none" })}.${body}.`],
  ["no signature, capitals", `${part({ alg: "None" })}.${body}.`],
  ["no signature, odd capitals", `${part({ alg: "nOnE" })}.${body}.`],
  ["no algorithm", `${part({})}.${body}.${tail}`],
  ["a list of algorithms", `${part({ alg: ["RS256"] })}.${body}.${tail}`],
  ["the public key as a secret", mac(publicPem)],
  ["the public key as a secret, trimmed", mac(publicPem.trim())],
  ["an empty secret", mac("")],
  ["another key", token({}, claims(), other.privateKey)],
  ["another key, embedded", token({ jwk }, claims(), other.privateKey)],
  ["another key, by URL", token({ jku: "https://evil.example/keys" }, claims(), other.privateKey)],
  ["another key, by certificate", token({ x5u: "https://evil.example/cert" }, claims(), other.privateKey)],
  ["a key id that is a path", token({ kid: "../../../dev/null" }, claims(), other.privateKey)],
  ["a key id that is a query", token({ kid: "' OR 1=1 --" }, claims(), other.privateKey)],
  ["critical extensions", token({ crit: ["b64"], b64: false }, claims())],
  ["another issuer", token({}, claims({ iss: "https://evil.example" }))],
  ["no issuer", token({}, claims({ iss: undefined }))],
  ["an issuer with a slash", token({}, claims({ iss: `${issuer}/` }))],
  ["another audience", token({}, claims({ aud: ["else"] }))],
  ["an audience that has the accepted one as a prefix", token({}, claims({ aud: [`${issuer}.evil`] }))],
  ["expired", token({}, claims({ exp: seconds - 60 }))],
  ["expired long ago", token({}, claims({ exp: 0 }))],
  ["an expiry that is a string", token({}, claims({ exp: "9999999999" }))],
  ["not yet valid", token({}, claims({ nbf: seconds + 3600 }))],
  [
    "an account that never existed",
    token(
      {},
      claims({
        sub: "system:serviceaccount:default:ghost",
        "orch.io": { namespace: "default", serviceaccount: { name: "ghost", uid: "1" } },
      }),
    ),
  ],
  ["the uid of another account", good],
  ["no uid", token({}, claims({ "orch.io": { namespace: "default", serviceaccount: { name: "boss" } } }))],
  ["a subject that is not the account", token({}, claims({ sub: "system:admin" }))],
  ["a subject of a group", token({}, claims({ sub: "system:masters" }))],
  ["groups in the claims", token({}, claims({ groups: ["system:masters"] }))],
  [
    "a pod that never existed",
    token({}, claims({ "orch.io": { ...boss, pod: { name: "ghost", uid: "1" } } })),
  ],
  ["claims named __proto__", token({}, claims({ __proto__: { admin: true }, constructor: { name: "x" } }))],
  ["a changed body", `${head}.${part(claims({ exp: seconds + 9999 }))}.${tail}`],
  ["a changed signature", `${head}.${body}.${tail.slice(0, -4)}AAAA`],
  ["a truncated signature", `${head}.${body}.${tail.slice(0, 10)}`],
  ["an empty signature", `${head}.${body}.`],
  ["two parts", `${head}.${body}`],
  ["four parts", `${good}.${tail}`],
  ["five parts", `${head}..${tail}.${body}.x`],
  ["a padded signature", `${good}==`],
  ["a header that is not JSON", `bm9wZQ.${body}.${tail}`],
  ["a body that is not JSON", signed(`${head}.bm9wZQ`)],
  ["a body that is a list", signed(`${head}.${part([claims()])}`)],
  ["a body that is null", signed(`${head}.${part(null)}`)],
  ["a token of 60 kB", `${head}.${"A".repeat(60_000)}.${tail}`],
  ["a static token with a suffix", `${users.admin}x`],
  ["a truncated static token", users.admin.slice(0, -1)],
  ["a static token in capitals", users.admin.toUpperCase()],
  ["a line of the token file", `${users.admin},admin,1`],
  ["a bootstrap token", "abcdef.0123456789abcdef"],
];
attacks(
  forged.map(([name, text]) => [`token: ${name}`, text] as const),
  async (text) => await at.refuses("nobody", "GET", vault, { headers: { authorization: `Bearer ${text}` } }),
);

const schemes: [name: string, value: string][] = [
  ["basic", `Basic ${Buffer.from(`admin:${users.admin}`).toString("base64")}`],
  ["digest", `Digest username="admin", response="${users.admin}"`],
  ["token", `Token ${users.admin}`],
  ["no scheme", users.admin],
  ["two spaces", `Bearer  ${users.admin}`],
  ["a tab", `Bearer\t${users.admin}`],
  ["a colon", `Bearer: ${users.admin}`],
  ["quoted", `Bearer "${users.admin}"`],
  ["percent-encoded", `Bearer ${encodeURIComponent(users.admin).replace("-", "%2d")}`],
  ["base64", `Bearer ${Buffer.from(users.admin).toString("base64")}`],
  ["two schemes", `Bearer Bearer ${users.admin}`],
  ["a list", `Bearer x, Bearer ${users.admin}`],
  ["an empty token", "Bearer "],
  ["only the scheme", "Bearer"],
];
attacks(
  schemes.map(([name, value]) => [`authorization header: ${name}`, value] as const),
  async (authorization) => await at.refuses("nobody", "GET", vault, { headers: { authorization } }),
);

const places: [name: string, path: string, headers: Record<string, string>][] = [
  ["the query", `${vault}?access_token=${users.admin}`, {}],
  ["the query, as token", `${vault}?token=${users.admin}`, {}],
  ["a cookie", vault, { cookie: `Authorization=Bearer%20${users.admin}` }],
  ["a proxy's header", vault, { "proxy-authorization": `Bearer ${users.admin}` }],
  ["another header", vault, { "x-authorization": `Bearer ${users.admin}` }],
  [
    "a WebSocket's protocol without an upgrade",
    vault,
    {
      "sec-websocket-protocol": `base64url.bearer.authorization.orch.io.${Buffer.from(users.admin).toString("base64url")}`,
    },
  ],
];
attacks(
  places.map(([name, path, headers]) => [`a token in ${name} is ignored`, { path, headers }] as const),
  async ({ path, headers }) => await at.refuses("nobody", "GET", path, { headers }),
);

const names = [
  "x-remote-user",
  "X-Remote-User",
  "x-remote-user ",
  "x_remote_user",
  "x-forwarded-user",
  "x-webauth-user",
  "remote-user",
  "x-auth-request-user",
  "x-original-user",
  "forwarded",
];
const grants = ["admin", "system:admin", "system:masters", "system:serviceaccount:default:boss"];
attacks(
  names.flatMap((name) =>
    grants.flatMap((value) =>
      (["nobody", "reader"] as const).map(
        (as) =>
          [
            `${as} sends ${JSON.stringify(name)}: ${value}`,
            { as, name: name.trim().toLowerCase(), value },
          ] as const,
      ),
    ),
  ),
  async ({ as, name, value }) =>
    await at.refuses(as, "GET", vault, {
      headers: { [name]: value, "x-remote-group": "system:masters", "x-remote-extra-scopes": "all" },
    }),
);

const impersonations: Record<string, string>[] = [
  { "impersonate-user": "admin" },
  { "impersonate-user": "system:admin", "impersonate-group": "system:masters" },
  { "impersonate-group": "system:masters" },
  { "impersonate-user": "reader", "impersonate-group": "system:masters" },
  { "impersonate-user": "system:serviceaccount:default:boss" },
  { "impersonate-user": "system:node:n1", "impersonate-group": "system:nodes" },
  { "impersonate-uid": "1" },
  { "impersonate-user": "reader", "impersonate-uid": "1" },
  { "impersonate-extra-scopes": "all" },
  { "impersonate-user": "reader", "impersonate-extra-scopes": "all" },
  { "impersonate-user": "", "impersonate-group": "system:masters" },
  { "impersonate-user": "system:anonymous" },
  { "impersonate-user": "admin", "impersonate-extra-%73copes": "x" },
];
attacks(
  impersonations.flatMap((headers) =>
    (["nobody", "reader", "node", "clerk"] as const).map(
      (as) => [`${as} impersonates ${JSON.stringify(headers)}`, { as, headers }] as const,
    ),
  ),
  async ({ as, headers }) => await at.refuses(as, "GET", vault, { headers }),
);
