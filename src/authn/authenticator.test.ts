import assert from "node:assert/strict";
import { test } from "node:test";
import {
  type Authenticator,
  BadCredential,
  type Credentials,
  authenticatorOf,
  firstOf,
} from "./authenticator.ts";
import {
  audienceAgnostic,
  bearerToken,
  bearerTokens,
  identifyToken,
  protocolsWithoutToken,
  webSocketToken,
} from "./bearer-token.ts";
import { parseTokenFile } from "./token-file.ts";
import { type Identity, authenticated, isAnonymous, splitServiceAccountName } from "./user.ts";

const credentials = (more: Partial<Credentials> & { sent?: Record<string, string[]> } = {}): Credentials => ({
  headers: (name) => more.sent?.[name] ?? [],
  headerNames: () => Object.keys(more.sent ?? {}),
  ...more,
});
const says = (identity: Identity | undefined): Authenticator => ({ authenticate: async () => identity });
const refuses = (message: string): Authenticator => ({
  authenticate: async () => Promise.reject(new BadCredential(message)),
});
const alice: Identity = { user: { name: "alice", groups: ["dev"] } };

const headers: [name: string, header: string | undefined, token: string | undefined][] = [
  ["a token is taken", "Bearer tok", "tok"],
  ["the scheme may be in lower case", "bearer tok", "tok"],
  ["surrounding space is ignored", "  Bearer tok  ", "tok"],
  ["text after the token is ignored", "Bearer tok more", "tok"],
  ["an empty token is not accepted", "Bearer ", undefined],
  ["a token after two spaces is not accepted", "Bearer  tok", undefined],
  ["basic credentials are not accepted", "Basic YTpi", undefined],
  ["a bare token is not accepted", "tok", undefined],
  ["a missing header has no token", undefined, undefined],
];
for (const [name, header, token] of headers)
  test(`in Authorization, ${name}`, () => assert.equal(bearerToken(header), token));

test("the first identity wins, even after a bad credential", async () => {
  const chain = authenticatorOf(
    [refuses("bad certificate"), says(undefined), says(alice), refuses("never asked")],
    { anonymous: true },
  );
  assert.deepEqual((await chain.authenticate(credentials()))?.user, {
    name: "alice",
    groups: ["dev", "system:authenticated"],
  });
});
test("a bad credential is not anonymous", async () => {
  const chain = authenticatorOf([refuses("one"), refuses("two")], { anonymous: true });
  await assert.rejects(async () => chain.authenticate(credentials()), new BadCredential("[one, two]"));
});
test("no credential is anonymous only when allowed", async () => {
  assert.equal(
    (await authenticatorOf([], { anonymous: true }).authenticate(credentials()))?.user.name,
    "system:anonymous",
  );
  assert.equal(
    await authenticatorOf([says(undefined)], { anonymous: false }).authenticate(credentials()),
    undefined,
  );
});
test("a failing method does not prevent another from authenticating the user", async () => {
  const failing: Authenticator = { authenticate: async () => Promise.reject(new TypeError("away")) };
  assert.equal((await firstOf([failing, says(alice)]).authenticate(credentials()))?.user.name, "alice");
  const failure = await Promise.resolve(
    firstOf([failing, says(undefined)]).authenticate(credentials()),
  ).catch((error: unknown) => error);
  assert.ok(failure instanceof BadCredential);
  assert.deepEqual([failure.message, failure.failures.map(String)], ["away", ["TypeError: away"]]);
});
test("a failing token method does not prevent another from identifying the token", async () => {
  const failing = { identify: () => Promise.reject(new Error("away")) };
  const knowing = { identify: () => alice };
  assert.equal((await identifyToken([failing, knowing], "t", [])).user.name, "alice");
  const failure = await Promise.resolve(identifyToken([failing], "t", [])).catch((error: unknown) => error);
  assert.ok(failure instanceof BadCredential);
  assert.deepEqual([failure.message, failure.failures.length], ["[invalid bearer token, away]", 1]);
});
test("the group of authenticated users is added once and the result cached", () => {
  assert.equal(authenticated(alice), authenticated(alice));
  for (const groups of [["system:authenticated"], ["system:unauthenticated"]]) {
    const identity = { user: { name: "x", groups } };
    assert.equal(authenticated(identity), identity);
  }
  assert.equal(isAnonymous({ name: "x", groups: ["system:unauthenticated"] }), true);
});

const file = parseTokenFile(
  't1,alice,u1,"dev"\nt2,bob,u2\r\n\nt3,"er""in",u3,"ops,dev"\nt1,alice2,u1\n,nobody,u\n',
  "tokens.csv",
);
const fileCases: [token: string, name: string, groups: string[]][] = [
  ["t1", "alice2", []],
  ["t2", "bob", []],
  ["t3", 'er"in', ["ops", "dev"]],
];
for (const [token, name, groups] of fileCases) {
  test(`the token file knows ${token}`, async () => {
    const identity = await file.identify(token, []);
    assert.equal(identity?.user.name, name);
    assert.deepEqual(identity.user.groups, groups);
  });
}
test("unusual lines of a token file are reported with their number", () => {
  assert.deepEqual(
    file.warnings.map((note) => note.slice(0, 13)),
    ["tokens.csv:5:", "tokens.csv:6:"],
  );
});
const broken: [name: string, text: string, where: RegExp][] = [
  ["too few columns", "a,b,c\nt,u\n", /^Error: tokens.csv:2: .*3 columns.*found 2/],
  ["an open quote", 'a,b,c\nt,"u,v\n', /tokens.csv:2: a quote is opened/],
  ["a quote inside", 'a"b,c,d', /tokens.csv:1: a quote stands inside/],
  ["text after a quote", 'a,b,c\n"a"b,c,d', /tokens.csv:2: text follows/],
];
for (const [name, text, where] of broken)
  test(`a token file with ${name} is refused with its line`, () =>
    assert.throws(() => parseTokenFile(text, "tokens.csv"), where));

test("an unknown token is a bad credential, a known one is authenticated", async () => {
  const chain = authenticatorOf([bearerTokens([file], [])], { anonymous: true });
  await assert.rejects(
    async () => chain.authenticate(credentials({ bearerToken: "zzz" })),
    new BadCredential("invalid bearer token"),
  );
  assert.deepEqual((await chain.authenticate(credentials({ bearerToken: "t3" })))?.user, {
    name: 'er"in',
    uid: "u3",
    groups: ["ops", "dev", "system:authenticated"],
  });
});
test("a method without audience support accepts those of the server only", async () => {
  const method = audienceAgnostic(file, ["https://server", "b"]);
  assert.deepEqual((await identifyToken([method], "t2", ["https://server", "c"])).audiences, [
    "https://server",
  ]);
  await assert.rejects(async () => identifyToken([method], "t2", ["vault"]), /invalid bearer token/);
});
test("errors of methods are reported in addition to the unknown token", async () => {
  const picky = { identify: () => Promise.reject(new BadCredential("too old")) };
  await assert.rejects(
    async () => identifyToken([file, picky], "zzz", []),
    new BadCredential("[invalid bearer token, too old]"),
  );
});
test("a synchronous identity is returned without a promise", () => {
  const chain = authenticatorOf([bearerTokens([audienceAgnostic(file, ["a"])], ["a"])], { anonymous: true });
  const [first, second] = ["t3", "t3"].map((bearerToken) => chain.authenticate(credentials({ bearerToken })));
  assert.ok(first && "user" in first);
  assert.equal(first, second);
  assert.ok("user" in (chain.authenticate(credentials()) ?? {}));
});
test("a method that throws synchronously does not prevent another from identifying the token", async () => {
  const throwing = {
    identify: () => {
      throw new Error("away");
    },
  };
  assert.equal((await identifyToken([throwing, { identify: () => alice }], "t", [])).user.name, "alice");
  await assert.rejects(async () => identifyToken([throwing, throwing], "t", []), {
    message: "[invalid bearer token, away, away]",
  });
});

const prefix = "base64url.bearer.example.";
const encoded = Buffer.from("tok").toString("base64url");
const protocols: [name: string, sent: Record<string, string[]>, result: string | undefined | RegExp][] = [
  [
    "next to another one is accepted",
    { upgrade: ["WebSocket"], "sec-websocket-protocol": [`v4.channel, ${prefix}${encoded}`] },
    "tok",
  ],
  [
    "of a request without a WebSocket upgrade is ignored",
    { "sec-websocket-protocol": [`v4.channel, ${prefix}${encoded}`] },
    undefined,
  ],
  [
    "alone is a bad credential",
    { upgrade: ["websocket"], "sec-websocket-protocol": [`${prefix}${encoded}`] },
    /another subprotocol/,
  ],
  [
    "given twice is a bad credential",
    { upgrade: ["websocket"], "sec-websocket-protocol": [`a,${prefix}${encoded}`, `${prefix}${encoded}`] },
    /multiple/,
  ],
  [
    "with an invalid encoding is a bad credential",
    { upgrade: ["websocket"], "sec-websocket-protocol": [`a,${prefix}%%`] },
    /base64url/,
  ],
];
for (const [name, sent, result] of protocols) {
  test(`a token subprotocol ${name}`, () => {
    if (result instanceof RegExp) assert.throws(() => webSocketToken(credentials({ sent }), prefix), result);
    else assert.equal(webSocketToken(credentials({ sent }), prefix), result);
  });
}
test("the handler does not see the token subprotocol", () =>
  assert.deepEqual(protocolsWithoutToken([`v4, ${prefix}x`, "v5"], prefix), ["v4", "v5"]));

const names: [string, { namespace: string; name: string } | undefined][] = [
  ["system:serviceaccount:ns:robot", { namespace: "ns", name: "robot" }],
  ["system:serviceaccount:ns:robot.v1", { namespace: "ns", name: "robot.v1" }],
  ["system:serviceaccount:ns:", undefined],
  ["system:serviceaccount:ns:a:b", undefined],
  ["system:serviceaccount:Ns:robot", undefined],
  ["system:serviceaccount:a.b:robot", undefined],
  ["system:node:robot", undefined],
];
for (const [username, account] of names)
  test(`${username} is ${account ? "" : "not "}the name of a service account`, () =>
    assert.deepEqual(splitServiceAccountName(username), account));
