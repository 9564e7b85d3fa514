import assert from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import { test } from "node:test";
import { SignJWT } from "jose/jwt/sign";
import type { TokenRequest, TokenReview } from "#api";
import { type ApiError, virtualClock } from "#base";
import { dialects } from "#dialect";
import { BadCredential } from "./authenticator.ts";
import { identifyToken } from "./bearer-token.ts";
import { reviewSelf, reviewToken } from "./reviews.ts";
import { type StoredObject, legacyServiceAccountTokens, serviceAccountTokens } from "./service-account.ts";
import { type TokenKey, signingKeyOf, verificationKeysOf } from "./service-account-keys.ts";
import { type TokenContents, issueServiceAccountToken, openIdDocuments } from "./service-account-token.ts";
import { serveTokenRequest } from "./token-request.ts";

const dialect = dialects.orch;
const now = Date.UTC(2027, 0, 1);
const issuerName = "https://orch.default.svc";
const pem = (pair: {
  privateKey: { export(options: { type: "pkcs8"; format: "pem" }): string | Buffer };
}): string => pair.privateKey.export({ type: "pkcs8", format: "pem" }).toString();
const rsaPem = pem(generateKeyPairSync("rsa", { modulusLength: 2048 }));
const ecPem = pem(generateKeyPairSync("ec", { namedCurve: "P-256" }));
const rsa = signingKeyOf(rsaPem, "rsa");
const ec = signingKeyOf(ecPem, "ec");
const foreign = signingKeyOf(pem(generateKeyPairSync("ec", { namedCurve: "P-384" })), "foreign");
const keys = [...verificationKeysOf(rsaPem, "rsa"), ...verificationKeysOf(ecPem, "ec")];

const live = (uid: string, more: Partial<StoredObject> = {}): StoredObject => ({
  metadata: { uid },
  ...more,
});
function world() {
  const stored = new Map<string, StoredObject>([
    ["serviceAccount/ns/robot", live("u1")],
    ["pod/ns/web", live("p1", { spec: { serviceAccountName: "robot" } })],
    ["pod/ns/other", live("p2", { spec: { serviceAccountName: "default" } })],
    ["secret/ns/sec", live("s1")],
  ]);
  const get = (kind: string) => (namespace: string, name: string) =>
    stored.get(`${kind}/${namespace}/${name}`);
  const clock = virtualClock(now);
  const objects = {
    serviceAccount: get("serviceAccount"),
    pod: get("pod"),
    secret: get("secret"),
    node: (name: string) => stored.get(`node/${name}`),
  };
  const method = serviceAccountTokens({
    issuers: ["https://old", issuerName],
    keys,
    audiences: [issuerName],
    objects,
    clock,
    dialect,
  });
  return { stored, clock, objects, method };
}
const contents: TokenContents = {
  namespace: "ns",
  account: { name: "robot", uid: "u1" },
  audiences: [issuerName],
  now,
  seconds: 3600,
};
const issue = (more: Partial<TokenContents> = {}, key: TokenKey = ec, issuer = issuerName): Promise<string> =>
  issueServiceAccountToken({ issuer, key, dialect }, { ...contents, ...more });
const claimsOf = (token: string): Record<string, unknown> =>
  JSON.parse(Buffer.from(token.split(".")[1]!, "base64url").toString()) as Record<string, unknown>;

for (const [name, key] of [
  ["an RSA", rsa],
  ["an elliptic", ec],
] as const) {
  test(`a token signed with ${name} key names the account`, async () => {
    const identity = await identifyToken([world().method], await issue({}, key), []);
    assert.deepEqual(identity.user, {
      name: "system:serviceaccount:ns:robot",
      uid: "u1",
      groups: ["system:serviceaccounts", "system:serviceaccounts:ns", "system:authenticated"],
    });
    assert.deepEqual(identity.audiences, [issuerName]);
  });
}
test("a token carries the claims that clients know", async () => {
  assert.deepEqual(claimsOf(await issue({ pod: { name: "web", uid: "p1" }, warnAfterSeconds: 3607 })), {
    aud: [issuerName],
    exp: now / 1000 + 3600,
    iat: now / 1000,
    nbf: now / 1000,
    iss: issuerName,
    "orch.io": {
      namespace: "ns",
      pod: { name: "web", uid: "p1" },
      serviceaccount: { name: "robot", uid: "u1" },
      warnafter: now / 1000 + 3607,
    },
    sub: "system:serviceaccount:ns:robot",
  });
});
test("tokens of every trusted issuer are accepted, those of others ignored", async () => {
  const { method } = world();
  assert.ok(await method.identify(await issue({}, ec, "https://old"), []));
  assert.equal(await method.identify(await issue({}, ec, "https://elsewhere"), []), undefined);
  for (const token of [
    "a.b.c",
    "alice-token",
    "a.b.c.d",
    "..",
    `x.${Buffer.from("null").toString("base64url")}.y`,
  ])
    assert.equal(await method.identify(token, []), undefined);
});
test("the same token yields the same identity", async () => {
  const { method } = world();
  const token = await issue();
  assert.equal(await method.identify(token, []), await method.identify(token, []));
});
test("a token bound to a pod has the pod in extra", async () => {
  const identity = await world().method.identify(await issue({ pod: { name: "web", uid: "p1" } }), []);
  assert.deepEqual(identity?.user.extra, {
    "authentication.orch.io/pod-name": ["web"],
    "authentication.orch.io/pod-uid": ["p1"],
  });
});
test("the use of a token past its warning time is recorded", async () => {
  const { method, clock } = world();
  const token = await issue({ seconds: 10_000, warnAfterSeconds: 100 });
  await clock.advance(150_000);
  assert.deepEqual((await method.identify(token, []))?.annotations, {
    "authentication.orch.io/stale-token":
      "subject: system:serviceaccount:ns:robot, seconds after warning threshold: 50",
  });
});

const bad: [
  name: string,
  token: () => Promise<string>,
  change: (w: ReturnType<typeof world>) => unknown,
  why: RegExp,
][] = [
  ["signed with an unknown key", () => issue({}, foreign), () => undefined, /cryptographic primitive/],
  ["with a modified signature", async () => `${await issue()}x`, () => undefined, /cryptographic primitive/],
  [
    "for another audience",
    () => issue({ audiences: ["vault", "bank"] }),
    () => undefined,
    /token audiences \["vault" "bank"\] is invalid/,
  ],
  ["that has expired", () => issue(), ({ clock }) => clock.advance(3_661_000), /expired/],
  ["that is not valid yet", () => issue({ now: now + 120_000 }), () => undefined, /not valid yet/],
  [
    "whose account was deleted",
    () => issue(),
    ({ stored }) => stored.delete("serviceAccount/ns/robot"),
    /not found/,
  ],
  [
    "whose account was recreated",
    () => issue(),
    ({ stored }) => stored.set("serviceAccount/ns/robot", live("u2")),
    /not the one/,
  ],
  [
    "whose account is being deleted",
    () => issue(),
    ({ stored }) =>
      stored.set("serviceAccount/ns/robot", {
        metadata: { uid: "u1", deletionTimestamp: "2026-12-31T23:58:00Z" },
      }),
    /has been deleted/,
  ],
  [
    "whose pod was deleted",
    () => issue({ pod: { name: "web", uid: "p1" } }),
    ({ stored }) => stored.delete("pod/ns/web"),
    /invalidated/,
  ],
  [
    "whose secret was recreated",
    () => issue({ secret: { name: "sec", uid: "s1" } }),
    ({ stored }) => stored.set("secret/ns/sec", live("s2")),
    /invalidated/,
  ],
];
for (const [name, token, change, why] of bad) {
  test(`a token ${name} is a bad credential, even if it was valid before`, async () => {
    const w = world();
    const text = await token();
    await Promise.allSettled([w.method.identify(text, [])]);
    await change(w);
    await assert.rejects(
      async () => w.method.identify(text, []),
      (error: Error) => error instanceof BadCredential && why.test(error.message),
    );
  });
}
test("an expired token is still accepted within the clock skew tolerance", async () => {
  const { method, clock } = world();
  await clock.advance(3_650_000);
  assert.ok(await method.identify(await issue(), []));
});

test("a secret-based token is valid while the secret contains it and its account exists", async () => {
  const { stored, objects, clock } = world();
  const names = dialect.names.legacyTokens;
  const claims = {
    iss: names.issuer,
    sub: "system:serviceaccount:ns:robot",
    [names.namespace]: "ns",
    [names.secret]: "old",
    [names.account]: "robot",
    [names.accountUid]: "u1",
  };
  const sign = (more: object = {}): Promise<string> =>
    new SignJWT({ ...claims, ...more }).setProtectedHeader({ alg: ec.algorithm }).sign(ec.key);
  const token = await sign();
  const used: string[] = [];
  const onUse = (namespace: string, secret: string, day: string): number =>
    used.push(`${namespace}/${secret} ${day}`);
  const method = legacyServiceAccountTokens({
    keys,
    audiences: [issuerName],
    objects,
    clock,
    dialect,
    lookup: true,
    onUse,
  });
  const identify = (text: string) => async () => method.identify(text, []);
  await assert.rejects(identify(token), /invalidated/);
  stored.set("secret/ns/old", live("s9", { data: { token: Buffer.from(token).toString("base64") } }));
  stored.set("serviceAccount/ns/robot", live("u1", { secrets: [{ name: "old" }] }));
  const identity = await method.identify(token, []);
  assert.equal(identity?.user.name, "system:serviceaccount:ns:robot");
  assert.deepEqual(
    [identity.warnings?.length, identity.annotations],
    [1, { "authentication.orch.io/legacy-token": "system:serviceaccount:ns:robot" }],
  );
  assert.deepEqual(used, ["ns/old 2027-01-01"]);
  const untracked = legacyServiceAccountTokens({
    keys,
    audiences: [issuerName],
    objects,
    clock,
    dialect,
    lookup: true,
  });
  assert.equal((await untracked.identify(token, []))?.warnings, undefined);
  await assert.rejects(identify(await sign({ sub: "system:serviceaccount:ns:admin" })), /subject/);
  await assert.rejects(identify(await sign({ [names.secret]: "" })), /lacks the claim/);
  await assert.rejects(identify(await sign({ jti: "2" })), /does not match the server's copy/);
  assert.equal(await method.identify(await issue(), []), undefined);
  const states: [account: StoredObject | undefined, why: RegExp][] = [
    [{ metadata: { uid: "u1", deletionTimestamp: "2026-12-31T23:58:00Z" } }, /has been deleted/],
    [live("u2"), /is not the one the token was issued for/],
    [undefined, /not found/],
  ];
  for (const [account, why] of states) {
    if (account) stored.set("serviceAccount/ns/robot", account);
    else stored.delete("serviceAccount/ns/robot");
    await assert.rejects(identify(token), why);
  }
});

const request = (
  spec: Partial<TokenRequest["spec"]> = {},
  metadata: TokenRequest["metadata"] = {} as TokenRequest["metadata"],
): TokenRequest =>
  ({
    kind: "TokenRequest",
    apiVersion: "authentication.orch.io/v1",
    metadata,
    spec: { audiences: [], expirationSeconds: 3600, boundObjectRef: null, ...spec },
  }) as unknown as TokenRequest;
const answer = (
  tokenRequest: TokenRequest,
  name = "robot",
  more: { maximumSeconds?: number; extend?: boolean } = {},
) =>
  serveTokenRequest(
    {
      issuer: { issuer: issuerName, key: ec, dialect },
      objects: world().objects,
      audiences: [issuerName],
      maximumSeconds: 0,
      extend: true,
      ...more,
    },
    tokenRequest,
    {
      namespace: "ns",
      name,
      now,
    },
  );

test("an empty request gets an hour for this server's audiences", async () => {
  const { body, warnings } = await answer(request());
  assert.deepEqual(body.metadata, {
    name: "robot",
    namespace: "ns",
    creationTimestamp: "2027-01-01T00:00:00Z",
  });
  assert.deepEqual(body.spec, { audiences: [issuerName], expirationSeconds: 3600, boundObjectRef: null });
  assert.equal(body.status.expirationTimestamp, "2027-01-01T01:00:00Z");
  assert.deepEqual(warnings, []);
});
test("a request beyond the maximum is shortened with a warning", async () => {
  const { body, warnings } = await answer(request({ expirationSeconds: 86_400 }), "robot", {
    maximumSeconds: 7200,
  });
  assert.deepEqual(
    [body.spec.expirationSeconds, warnings],
    [7200, ["requested expiration of 86400 seconds shortened to 7200 seconds"]],
  );
  assert.equal(claimsOf(body.status.token)["exp"], now / 1000 + 7200);
});
const mounted = {
  expirationSeconds: 3607,
  boundObjectRef: { kind: "Pod", apiVersion: "v1", name: "web", uid: "p1" },
};
const lives: [name: string, spec: Partial<TokenRequest["spec"]>, extend: boolean, seconds: number][] = [
  ["an agent's default token is valid for a year", mounted, true, 365 * 86_400],
  ["without extension it has the requested lifetime", mounted, false, 3607],
  ["another lifetime is not extended", { ...mounted, expirationSeconds: 3600 }, true, 3600],
  ["another audience is not extended", { ...mounted, audiences: ["vault"] }, true, 3607],
  ["a token without a pod is not extended", { expirationSeconds: 3607 }, true, 3607],
];
for (const [name, spec, extend, seconds] of lives) {
  test(name, async () => {
    const { body } = await answer(request(spec), "robot", { extend });
    assert.equal(claimsOf(body.status.token)["exp"], now / 1000 + seconds);
    assert.equal(body.spec.expirationSeconds, spec.expirationSeconds);
  });
}
const refusals: [
  name: string,
  tokenRequest: TokenRequest,
  account: string,
  code: number,
  details: object | undefined,
][] = [
  ["for a missing account", request(), "nobody", 404, { name: "nobody", kind: "serviceaccounts" }],
  [
    "for a missing pod",
    request({ boundObjectRef: { kind: "Pod", apiVersion: "v1", name: "none" } }),
    "robot",
    404,
    { name: "none", kind: "pods" },
  ],
  [
    "for a pod of another account",
    request({ boundObjectRef: { kind: "Pod", apiVersion: "v1", name: "other" } }),
    "robot",
    400,
    undefined,
  ],
  [
    "for another kind of object",
    request({ boundObjectRef: { kind: "ConfigMap", apiVersion: "v1", name: "c" } }),
    "robot",
    400,
    undefined,
  ],
  [
    "for another object of that name",
    request({ boundObjectRef: { kind: "Secret", apiVersion: "v1", name: "sec", uid: "x" } }),
    "robot",
    409,
    { name: "sec", kind: "Secret" },
  ],
];
for (const [name, tokenRequest, account, code, details] of refusals) {
  test(`a token request ${name} is refused with ${code}`, async () => {
    await assert.rejects(answer(tokenRequest, account), (error: ApiError) => {
      assert.equal(error.code, code);
      assert.deepEqual(error.details, details);
      return true;
    });
  });
}
const invalids: [name: string, tokenRequest: TokenRequest, field: string][] = [
  ["a lifetime that is too short", request({ expirationSeconds: 60 }), "spec.expirationSeconds"],
  ["a lifetime that is too long", request({ expirationSeconds: 2 ** 32 + 1 }), "spec.expirationSeconds"],
  ["another name", request({}, { name: "x" } as TokenRequest["metadata"]), "metadata.name"],
  ["another namespace", request({}, { namespace: "x" } as TokenRequest["metadata"]), "metadata.namespace"],
];
for (const [name, tokenRequest, field] of invalids) {
  test(`a token request with ${name} is invalid`, async () => {
    await assert.rejects(
      answer(tokenRequest),
      (error: ApiError) =>
        error.code === 422 &&
        error.details?.causes?.[0]?.field === field &&
        error.details.group === "authentication.orch.io",
    );
  });
}

const review = (spec: TokenReview["spec"]): TokenReview =>
  ({
    kind: "TokenReview",
    apiVersion: "authentication.orch.io/v1",
    metadata: {},
    spec,
  }) as unknown as TokenReview;
test("a review reports the user of a token, for the audiences in common", async () => {
  const { method } = world();
  const user = {
    username: "system:serviceaccount:ns:robot",
    uid: "u1",
    groups: ["system:serviceaccounts", "system:serviceaccounts:ns", "system:authenticated"],
  };
  const good = await reviewToken(review({ token: await issue() }), [method], [issuerName]);
  assert.deepEqual(good.status, { authenticated: true, user, audiences: [issuerName] });
  const vault = await reviewToken(
    review({ token: await issue({ audiences: ["vault", "bank"] }), audiences: ["vault", "other"] }),
    [method],
    [issuerName],
  );
  assert.deepEqual(vault.status, { authenticated: true, user, audiences: ["vault"] });
  const both = await reviewToken(
    review({
      token: `${await issue({ audiences: ["vault", "bank", "bank"] })} more`,
      audiences: ["bank", "vault"],
    }),
    [method],
    [issuerName],
  );
  assert.deepEqual(both.status, { authenticated: true, user, audiences: ["bank", "vault"] });
});
test("a review of a bad token has an error in its status, one without a token is refused", async () => {
  assert.deepEqual((await reviewToken(review({ token: "zzz" }), [world().method], [])).status, {
    user: {},
    error: "invalid bearer token",
  });
  await assert.rejects(reviewToken(review({}), [], []), (error: ApiError) => error.code === 400);
});
test("a self review reports all fields of the user", () => {
  assert.deepEqual(
    reviewSelf(
      { kind: "SelfSubjectReview" },
      { name: "zed", uid: "u", groups: ["g"], extra: { scopes: ["a"] } },
      now,
    ),
    {
      kind: "SelfSubjectReview",
      metadata: { creationTimestamp: "2027-01-01T00:00:00Z" },
      status: { userInfo: { username: "zed", uid: "u", groups: ["g"], extra: { scopes: ["a"] } } },
    },
  );
});

test("the discovery documents name the issuer and the public keys", () => {
  const { configuration, keys: set } = openIdDocuments({
    issuer: issuerName,
    externalAddress: "10.0.0.1:6443",
    keys: [rsa, ec],
  });
  assert.deepEqual(JSON.parse(configuration), {
    issuer: issuerName,
    jwks_uri: "https://10.0.0.1:6443/openid/v1/jwks",
    response_types_supported: ["id_token"],
    subject_types_supported: ["public"],
    id_token_signing_alg_values_supported: ["ES256", "RS256"],
  });
  const withJwksUri = openIdDocuments({
    issuer: issuerName,
    jwksUri: "https://keys.example/set",
    externalAddress: "10.0.0.1:6443",
    keys: [rsa],
  });
  assert.equal(
    (JSON.parse(withJwksUri.configuration) as { jwks_uri: string }).jwks_uri,
    "https://keys.example/set",
    "a configured URL of the keys takes precedence",
  );
  const published = (JSON.parse(set) as { keys: Record<string, string>[] }).keys;
  assert.deepEqual(
    published.map(({ use, kty, alg, kid }) => [use, kty, alg, kid]),
    [
      ["sig", "RSA", "RS256", rsa.id],
      ["sig", "EC", "ES256", ec.id],
    ],
  );
  assert.equal(
    published.some((key) => "d" in key),
    false,
  );
});
for (const [issuer, why] of [
  ["http://plain", /https/],
  ["not a url", /https/],
  ["https://a?b", /query/],
  ["https://a#b", /fragment/],
] as const) {
  test(`the issuer ${issuer} has no discovery documents`, () =>
    assert.throws(() => openIdDocuments({ issuer, externalAddress: "a", keys: [ec] }), why));
}
