import assert from "node:assert/strict";
import { type KeyObject, createHmac, generateKeyPairSync, sign } from "node:crypto";
import { test } from "node:test";
import { virtualClock } from "#base";
import { BadCredential } from "./authenticator.ts";
import { type PlainMapping, plainMapping } from "./claims.ts";
import { DocumentRefused } from "./fetch-document.ts";
import { providerKeys } from "./oidc-keys.ts";
import { oidcTokens } from "./oidc.ts";

const issuer = "https://issuer.example";
const now = Date.UTC(2024, 0, 1);
const seconds = now / 1000;
const pairs = {
  k1: generateKeyPairSync("rsa", { modulusLength: 2048 }),
  k2: generateKeyPairSync("rsa", { modulusLength: 2048 }),
};
const other = generateKeyPairSync("rsa", { modulusLength: 2048 });

const part = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString("base64url");
function tokenOf(
  claims: object,
  { header = {}, key = pairs.k1.privateKey }: { header?: object; key?: KeyObject } = {},
): string {
  const head = { alg: "RS256", kid: "k1", ...header };
  const body = `${part(head)}.${part({ iss: issuer, aud: "app", sub: "pat", exp: seconds + 60, ...claims })}`;
  return `${body}.${sign("sha256", Buffer.from(body), key).toString("base64url")}`;
}

type Given = Partial<PlainMapping> & { readonly discoveryUrl?: string };

function harness({ discoveryUrl, ...given }: Given = {}) {
  const clock = virtualClock(now);
  const published = new Set<string>(["k1"]);
  const requests: string[] = [];
  const documents = new Map<string, string>();
  const refusals = new Map<string, Error>();
  let down = false;
  const fetch = async (url: string, token?: string): Promise<string> => {
    requests.push(token === undefined ? url : `${url} ${token}`);
    if (down) throw new Error("connection refused");
    const refusal = refusals.get(url);
    if (refusal) throw refusal;
    const document = documents.get(url);
    if (document !== undefined) return document;
    if (url === `${issuer}/.well-known/openid-configuration`)
      return JSON.stringify({ issuer, jwks_uri: `${issuer}/keys` });
    const keys = [...published].map((kid) => ({
      ...pairs[kid as "k1"].publicKey.export({ format: "jwk" }),
      kid,
      use: "sig",
    }));
    return JSON.stringify({ keys });
  };
  const plain = {
    issuer,
    usernameClaim: "sub",
    usernamePrefix: "",
    groupsClaim: "groups",
    groupsPrefix: "",
    requiredClaims: {},
    ...given,
  };
  const method = oidcTokens([
    {
      issuer,
      discoveryUrl,
      audiences: ["app", "second"],
      algorithms: ["RS256"],
      mapping: plainMapping(plain),
      clock,
      fetch,
    },
  ]);
  return {
    clock,
    published,
    requests,
    documents,
    refusals,
    setDown: (value: boolean) => void (down = value),
    identify: async (token: string) => (await method.identify(token, []))?.user,
  };
}

const users: [name: string, options: Given, claims: object, user: object][] = [
  ["names are prefixed with the issuer", {}, {}, { name: `${issuer}#pat`, groups: [] }],
  ["a configured prefix replaces the issuer", { usernamePrefix: "x:" }, {}, { name: "x:pat", groups: [] }],
  ["a dash disables the prefix", { usernamePrefix: "-" }, {}, { name: "pat", groups: [] }],
  ["email has no prefix", { usernameClaim: "email" }, { email: "p@x" }, { name: "p@x", groups: [] }],
  ["one group", { groupsPrefix: "o:" }, { groups: "a" }, { name: `${issuer}#pat`, groups: ["o:a"] }],
  ["many groups", {}, { groups: ["a", "b"] }, { name: `${issuer}#pat`, groups: ["a", "b"] }],
  [
    "required claims",
    { requiredClaims: { t: "blue" } },
    { t: "blue" },
    { name: `${issuer}#pat`, groups: [] },
  ],
  ["an empty name", { usernamePrefix: "-" }, { sub: "", groups: "a" }, { name: "", groups: ["a"] }],
  ["a name that is null", { usernamePrefix: "x:" }, { sub: null }, { name: "x:", groups: [] }],
  [
    "a group that is null",
    { usernamePrefix: "-" },
    { groups: ["a", null] },
    { name: "pat", groups: ["a", ""] },
  ],
  ["several audiences", {}, { aud: ["x", "app"] }, { name: `${issuer}#pat`, groups: [] }],
  ["the second of the audiences", {}, { aud: "second" }, { name: `${issuer}#pat`, groups: [] }],
  ["issued in the future", {}, { iat: seconds + 9999 }, { name: `${issuer}#pat`, groups: [] }],
  ["not before soon", {}, { nbf: seconds + 60 }, { name: `${issuer}#pat`, groups: [] }],
];
for (const [name, options, claims, user] of users)
  test(`an identity token is accepted: ${name}`, async () =>
    assert.deepEqual(await harness(options).identify(tokenOf(claims)), user));

const unsigned = "failed to verify signature: failed to verify id token signature";
const cannot = "json: cannot unmarshal";
const refused: [name: string, options: Given, token: string, why: string][] = [
  [
    "for another audience",
    {},
    tokenOf({ aud: "other" }),
    'verify token: oidc: expected audience in ["app" "second"] got ["other"]',
  ],
  [
    "that expired",
    {},
    tokenOf({ exp: seconds - 1 }),
    "verify token: oidc: token is expired (Token Expiry: 2023-12-31 23:59:59 +0000 UTC)",
  ],
  [
    "without an expiry time",
    {},
    tokenOf({ exp: undefined }),
    "verify token: oidc: token is expired (Token Expiry: 0001-01-01 00:00:00 +0000 UTC)",
  ],
  [
    "that is not valid yet",
    {},
    tokenOf({ nbf: seconds + 61 }),
    "verify token: oidc: current time 2024-01-01 00:00:00 +0000 UTC before the nbf (not before) time: 2024-01-01 00:01:01 +0000 UTC",
  ],
  ["signed with another key", {}, tokenOf({}, { key: other.privateKey }), `verify token: ${unsigned}`],
  ["with an unknown key id", {}, tokenOf({}, { header: { kid: "k9" } }), `verify token: ${unsigned}`],
  [
    "with another algorithm",
    {},
    tokenOf({}, { header: { alg: "RS512" } }),
    'verify token: oidc: id token signed with unsupported algorithm, expected ["RS256"] got "RS512"',
  ],
  [
    "without a signature",
    {},
    `${tokenOf({}, { header: { alg: "none" } })
      .split(".")
      .slice(0, 2)
      .join(".")}.`,
    'verify token: oidc: id token signed with unsupported algorithm, expected ["RS256"] got "none"',
  ],
  [
    "without the username claim",
    { usernamePrefix: "-" },
    tokenOf({ sub: undefined }),
    'parse username claims "sub": claim not present',
  ],
  [
    "whose name is a list",
    { usernameClaim: "nick" },
    tokenOf({ nick: ["pat"] }),
    `parse username claims "nick": ${cannot} array into Go value of type string`,
  ],
  [
    "whose groups are an object",
    {},
    tokenOf({ groups: { a: 1 } }),
    `parse groups claim "groups": ${cannot} object into Go value of type string`,
  ],
  [
    "whose groups are mixed",
    {},
    tokenOf({ groups: ["a", 1] }),
    `parse groups claim "groups": ${cannot} array into Go value of type string`,
  ],
  [
    "with another value of a required claim",
    { requiredClaims: { t: "blue" } },
    tokenOf({ t: "red" }),
    "required claim t value does not match. Got = red, want = blue",
  ],
  [
    "without a required claim",
    { requiredClaims: { t: "blue" } },
    tokenOf({}),
    "required claim t not present in ID token",
  ],
  [
    "whose required claim is a number",
    { requiredClaims: { t: "blue" } },
    tokenOf({ t: 5 }),
    `parse claim t: ${cannot} number into Go value of type string`,
  ],
  [
    "with an unverified email address",
    { usernameClaim: "email" },
    tokenOf({ email: "p@x", email_verified: false }),
    "email not verified",
  ],
  [
    "with a string as email_verified",
    { usernameClaim: "email" },
    tokenOf({ email: "p@x", email_verified: "true" }),
    `parse 'email_verified' claim: ${cannot} string into Go value of type bool`,
  ],
  [
    "with a claim from a missing source",
    {},
    tokenOf({ _claim_names: { groups: "s" } }),
    "verify token: oidc: source does not exist",
  ],
  [
    "signed with the public key as a secret",
    {},
    (() => {
      const body = `${part({ alg: "HS256", kid: "k1" })}.${part({ iss: issuer, aud: "app", sub: "pat", exp: seconds + 60 })}`;
      const secret = pairs.k1.publicKey.export({ type: "spki", format: "pem" });
      return `${body}.${createHmac("sha256", secret).update(body).digest("base64url")}`;
    })(),
    'verify token: oidc: id token signed with unsupported algorithm, expected ["RS256"] got "HS256"',
  ],
];
for (const [name, options, token, why] of refused)
  test(`an identity token ${name} is refused with kube-apiserver's message`, async () =>
    await assert.rejects(
      harness(options).identify(token),
      (error: Error) => (assert.equal(error.message, `oidc: ${why}`), error instanceof BadCredential),
    ));

test("tokens of other issuers are ignored without a request", async () => {
  const { identify, requests } = harness();
  for (const token of ["opaque", "a.b.c", tokenOf({ iss: "https://other.example" })])
    assert.equal(await identify(token), undefined);
  assert.deepEqual(requests, []);
});

test("keys are fetched for an unknown key id, at most every second, and cached otherwise", async () => {
  const { identify, requests, published, clock } = harness();
  await identify(tokenOf({}));
  await identify(tokenOf({}));
  assert.equal(requests.length, 2);
  published.clear();
  published.add("k2");
  const second = tokenOf({}, { header: { kid: "k2" }, key: pairs.k2.privateKey });
  await assert.rejects(identify(second));
  assert.equal(requests.length, 2);
  await clock.advance(1000);
  await identify(second);
  assert.equal(requests.length, 3);
});

test("keys replaced under the same id are tried by every token that none of the former keys signed", async () => {
  const clock = virtualClock(now);
  let key = "old";
  const fetch = async (url: string): Promise<string> =>
    JSON.stringify(
      url === `${issuer}/keys`
        ? { keys: [{ kty: "RSA", kid: "k1", n: key }] }
        : { issuer, jwks_uri: `${issuer}/keys` },
    );
  const keys = providerKeys({ issuer, clock, fetch });
  const tried = await keys.candidates("k1");
  key = "new";
  await clock.advance(1000);
  for (const attempt of [1, 2])
    assert.deepEqual(
      await keys.newCandidates("k1", tried),
      [{ kty: "RSA", kid: "k1", n: "new" }],
      `${attempt}`,
    );
});

test("a discovery document at another URL must still name the issuer", async () => {
  const { identify, documents, requests } = harness({ discoveryUrl: "https://inside.example/found" });
  documents.set("https://inside.example/found", JSON.stringify({ issuer, jwks_uri: `${issuer}/keys` }));
  assert.ok(await identify(tokenOf({})));
  assert.deepEqual(requests, ["https://inside.example/found", `${issuer}/keys`]);
});

test("the request to an unavailable issuer is retried later", async () => {
  const { identify, setDown, clock } = harness();
  setDown(true);
  await assert.rejects(identify(tokenOf({})), /^BadCredential: oidc: authenticator not initialized$/);
  setDown(false);
  await clock.advance(1000);
  assert.ok(await identify(tokenOf({})));
});

test("a distributed claim is fetched with its token and verified", async () => {
  const { identify, documents, requests } = harness();
  const distributedTo = (endpoint: string) =>
    tokenOf({ _claim_names: { groups: "s" }, _claim_sources: { s: { endpoint, access_token: "t" } } });
  documents.set("https://claims.example/g", tokenOf({ groups: ["far"] }));
  assert.deepEqual((await identify(distributedTo("https://claims.example/g")))?.groups, ["far"]);
  assert.ok(requests.includes("https://claims.example/g t"));
  documents.set("https://claims.example/g", tokenOf({ groups: ["far"] }, { key: other.privateKey }));
  await assert.rejects(identify(distributedTo("https://claims.example/g")), BadCredential);
  await assert.rejects(identify(distributedTo("http://claims.example/g")), /https/);
});

test("a distributed claim that cannot be fetched is reported with the status of its source", async () => {
  const { identify, refusals } = harness();
  const token = tokenOf({
    _claim_names: { groups: "s" },
    _claim_sources: { s: { endpoint: "https://claims.example/g" } },
  });
  refusals.set("https://claims.example/g", new DocumentRefused(401, "no token"));
  const could = "oidc: could not expand distributed claims: ";
  await assert.rejects(identify(token), {
    message: `${could}while getting distributed claim "groups": error while getting distributed claim JWT: 401 Unauthorized`,
  });
  refusals.clear();
});

test("a source whose issuer has no keys is reported", async () => {
  const { identify, documents, refusals } = harness();
  const far = "https://far.example";
  refusals.set(`${far}/.well-known/openid-configuration`, new DocumentRefused(500, "oh no"));
  documents.set("https://claims.example/g", tokenOf({ iss: far, groups: ["far"] }));
  const token = tokenOf({
    _claim_names: { groups: "s" },
    _claim_sources: { s: { endpoint: "https://claims.example/g" } },
  });
  await assert.rejects(identify(token), {
    message: `oidc: could not expand distributed claims: verifying untrusted issuer ${far} failed: verifier not initialized for issuer: "${far}"`,
  });
});

test("keys that cannot be fetched or parsed are reported with the response", async () => {
  for (const [answer, why] of [
    [new DocumentRefused(500, "down"), "get keys failed: 500 Internal Server Error down"],
    [
      "junk",
      "failed to decode keys: got Content-Type = application/json, but could not unmarshal as JSON: " +
        "invalid character 'j' looking for beginning of value junk",
    ],
  ] as const) {
    const { identify, documents, refusals } = harness();
    if (typeof answer === "string") documents.set(`${issuer}/keys`, answer);
    else refusals.set(`${issuer}/keys`, answer);
    await assert.rejects(identify(tokenOf({})), {
      message: `oidc: verify token: failed to verify signature: fetching keys oidc: ${why}`,
    });
  }
});

test("a token whose payload is signed without base64 is not verified", async () => {
  const token = tokenOf({}, { header: { crit: ["b64"], b64: false } });
  await assert.rejects(harness().identify(token), /failed to verify id token signature/);
});

test("an expiry time beyond 64 bits counts as expired", async () =>
  await assert.rejects(harness().identify(tokenOf({ exp: 1e30 })), /Token Expiry: 292277026596-12-04/));
