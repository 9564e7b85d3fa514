import assert from "node:assert/strict";
import { test } from "node:test";
import { dialects } from "#dialect";
import { parseAuthenticationConfig } from "./authentication-config.ts";
import { identityOf } from "./claims.ts";

const file = "auth.yaml";
const sub = { username: { claim: "sub", prefix: "" } };
const issuer = { url: "https://one.example", audiences: ["app"] };
type Part = Record<string, unknown>;

/** Returns a file in JSON, which is also YAML. */
function parse(content: Part, { dialect = dialects.orch, version = "v1beta1" } = {}) {
  const apiVersion = `apiserver.config.${dialect.wire.groupSuffix}/${version}`;
  const text = JSON.stringify({ apiVersion, kind: "AuthenticationConfiguration", ...content });
  return parseAuthenticationConfig(text, file, dialect, ["https://accounts.example"]);
}
const one = (more: Part) => parse({ jwt: [{ issuer, claimMappings: sub, ...more }] });
const withIssuer = (more: Part): Part => ({ issuer: { ...issuer, ...more } });
const mapped = (more: Part): Part => ({ claimMappings: { ...sub, ...more } });

const rejected: [name: string, more: Part, message: string | RegExp][] = [
  ["an unknown field", { extra: 1 }, 'strict decoding error: unknown field "jwt[0].extra"'],
  ["no URL", withIssuer({ url: "" }), "jwt[0].issuer.url: Required value"],
  [
    "a plain URL",
    withIssuer({ url: "http://x.example" }),
    'jwt[0].issuer.url: Invalid value: "http://x.example": URL scheme must be https',
  ],
  [
    "a URL with user info, query and fragment",
    withIssuer({ url: "https://a:b@x.example?q=1#f" }),
    '[jwt[0].issuer.url: Invalid value: "https://a:b@x.example?q=1#f": URL must not contain a username or password, ' +
      'jwt[0].issuer.url: Invalid value: "https://a:b@x.example?q=1#f": URL must not contain a query, ' +
      'jwt[0].issuer.url: Invalid value: "https://a:b@x.example?q=1#f": URL must not contain a fragment]',
  ],
  [
    "the issuer of service accounts",
    withIssuer({ url: "https://accounts.example" }),
    'jwt[0].issuer.url: Invalid value: "https://accounts.example": URL must not overlap with disallowed issuers: [https://accounts.example]',
  ],
  [
    "a discovery URL equal to the issuer's",
    withIssuer({ discoveryURL: "https://one.example/" }),
    'jwt[0].issuer.discoveryURL: Invalid value: "https://one.example/": discoveryURL must be different from URL',
  ],
  [
    "no audience",
    withIssuer({ audiences: [] }),
    "jwt[0].issuer.audiences: Required value: at least one jwt[0].issuer.audiences is required",
  ],
  [
    "a duplicate audience",
    withIssuer({ audiences: ["a", "a"], audienceMatchPolicy: "MatchAny" }),
    /audiences\[1\]: Duplicate value: "a"$/,
  ],
  [
    "audiences without a policy",
    withIssuer({ audiences: ["a", "b"] }),
    'jwt[0].issuer.audienceMatchPolicy: Invalid value: "": audienceMatchPolicy must be MatchAny for multiple audiences',
  ],
  [
    "an unknown policy",
    withIssuer({ audienceMatchPolicy: "All" }),
    'jwt[0].issuer.audienceMatchPolicy: Invalid value: "All": audienceMatchPolicy must be empty or MatchAny for single audience',
  ],
  [
    "invalid certificate authorities",
    withIssuer({ certificateAuthority: "x" }),
    /certificateAuthority: Invalid value: "<omitted>": /,
  ],
  [
    "an unknown network",
    withIssuer({ egressSelectorType: "etcd" }),
    'jwt[0].issuer.egressSelectorType: Invalid value: "etcd": egress selector must be either controlplane or cluster',
  ],
  [
    "no user name",
    { claimMappings: {} },
    "jwt[0].claimMappings.username: Required value: claim or expression is required",
  ],
  [
    "a claim without a prefix",
    { claimMappings: { username: { claim: "sub" } } },
    "jwt[0].claimMappings.username.prefix: Required value: prefix is required when claim is set. It can be set to an empty string to disable prefixing",
  ],
  [
    "a claim and an expression",
    mapped({ groups: { claim: "g", prefix: "", expression: "claims.g" } }),
    'jwt[0].claimMappings.groups: Invalid value: "": claim and expression can\'t both be set',
  ],
  [
    "an expression with a prefix",
    { claimMappings: { username: { expression: "claims.sub", prefix: "x" } } },
    'jwt[0].claimMappings.username.prefix: Invalid value: "x": may not be specified when expression is set',
  ],
  [
    "an expression that does not compile",
    mapped({ uid: { expression: "nothing" } }),
    /^jwt\[0\]\.claimMappings\.uid\.expression: Invalid value: "nothing": compilation failed: ERROR: <input>:1:1: undeclared reference to 'nothing'/,
  ],
  [
    "an email address that is not verified",
    { claimMappings: { username: { expression: "claims.email" } } },
    /claims\.email_verified must be used in claimMappings\.username\.expression/,
  ],
  [
    "a key without a domain",
    mapped({ extra: [{ key: "team", valueExpression: "claims.t" }] }),
    'jwt[0].claimMappings.extra[0].key: Invalid value: "team": must be a domain-prefixed path (such as "acme.io/foo")',
  ],
  [
    "a key in upper case",
    mapped({ extra: [{ key: "acme.io/Foo", valueExpression: "claims.t" }] }),
    'jwt[0].claimMappings.extra[0].key: Invalid value: "acme.io/Foo": must be lowercase',
  ],
  [
    "a reserved key",
    mapped({ extra: [{ key: `x.${dialects.orch.data.labelDomain}/t`, valueExpression: "claims.t" }] }),
    /are reserved for Orch use$/,
  ],
  [
    "a duplicate key without a value",
    mapped({
      extra: [
        { key: "a.io/t", valueExpression: "" },
        { key: "a.io/t", valueExpression: "claims.t" },
      ],
    }),
    '[jwt[0].claimMappings.extra[0].valueExpression: Required value, jwt[0].claimMappings.extra[1].key: Duplicate value: "a.io/t"]',
  ],
  [
    "an empty rule",
    { claimValidationRules: [{}] },
    "jwt[0].claimValidationRules[0]: Required value: claim or expression is required",
  ],
  [
    "a rule that is not boolean",
    { claimValidationRules: [{ expression: "claims.sub" }] },
    'jwt[0].claimValidationRules[0].expression: Invalid value: "claims.sub": must evaluate to bool',
  ],
  [
    "a message for a claim",
    { claimValidationRules: [{ claim: "a", message: "m" }] },
    'jwt[0].claimValidationRules[0].message: Invalid value: "m": may not be specified when claim is set',
  ],
  [
    "a value for an expression",
    { claimValidationRules: [{ expression: "true", requiredValue: "v" }] },
    'jwt[0].claimValidationRules[0].requiredValue: Invalid value: "v": may not be specified when expression is set',
  ],
  [
    "a duplicate user rule",
    { userValidationRules: [{ expression: "true" }, { expression: "true" }, { expression: "" }] },
    '[jwt[0].userValidationRules[1].expression: Duplicate value: "true", jwt[0].userValidationRules[2].expression: Required value]',
  ],
  [
    "a user rule over claims",
    { userValidationRules: [{ expression: "claims.x == 1" }] },
    /undeclared reference to 'claims'/,
  ],
];
for (const [name, more, message] of rejected)
  test(`an authentication file with ${name} is refused`, () =>
    assert.throws(
      () => one(more),
      (error: Error) => {
        assert.ok(error.message.startsWith(`${file}: `), error.message);
        const text = error.message.slice(file.length + 2);
        if (typeof message === "string") assert.equal(text, message);
        else assert.match(text, message);
        return true;
      },
    ));

test("issuers and discovery URLs must be unique, and there are at most 64", () => {
  const other = { issuer: { ...issuer, discoveryURL: "https://d.example" }, claimMappings: sub };
  assert.throws(
    () => parse({ jwt: [other, other] }),
    /\[jwt\[1\]\.issuer\.url: Duplicate value: "https:\/\/one\.example", jwt\[1\]\.issuer\.discoveryURL: Duplicate value: "https:\/\/d\.example"\]$/,
  );
  assert.throws(
    () => parse({ jwt: Array(65).fill(other) }),
    /jwt: Too many: 65: must have at most 64 items$/,
  );
});

test("anonymous requests may be limited to paths", () => {
  assert.deepEqual(parse({ jwt: [] }), { issuers: [] });
  const conditions = [{ path: "/livez" }];
  assert.deepEqual(parse({ jwt: [], anonymous: { enabled: true, conditions } }).anonymous, {
    enabled: true,
    paths: new Set(["/livez"]),
  });
  assert.throws(
    () => parse({ jwt: [], anonymous: { enabled: false, conditions } }),
    /anonymous\.conditions: Invalid value: .*: enabled should be set to true when conditions are defined$/,
  );
});

test("every version is accepted, with the dialect's group name", () => {
  for (const dialect of Object.values(dialects))
    for (const version of ["v1alpha1", "v1beta1", "v1"])
      assert.deepEqual(parse({ jwt: [] }, { dialect, version }), { issuers: [] });
  assert.throws(() => parse({ jwt: [] }, { version: "v2" }), /no kind "AuthenticationConfiguration"/);
});

const identities: [name: string, more: Part, claims: Part, user: object | RegExp][] = [
  [
    "prefixes are prepended to claims",
    {
      claimMappings: {
        username: { claim: "sub", prefix: "u:" },
        groups: { claim: "g", prefix: "g:" },
        uid: { claim: "id" },
      },
    },
    { sub: "pat", g: ["a", "b"], id: "7" },
    { name: "u:pat", groups: ["g:a", "g:b"], uid: "7" },
  ],
  [
    "expressions compute names, groups and extra attributes",
    {
      claimMappings: {
        username: { expression: "claims.sub + '@' + claims.org.name" },
        groups: { expression: "claims.roles.split(',')" },
        uid: { expression: "claims.id" },
        extra: [
          { key: "acme.io/one", valueExpression: "claims.sub" },
          { key: "acme.io/many", valueExpression: "claims.list" },
          { key: "acme.io/none", valueExpression: "''" },
        ],
      },
    },
    { sub: "pat", org: { name: "acme" }, roles: "a,,b", id: "7", list: ["x", "y"] },
    {
      name: "pat@acme",
      groups: ["a", "b"],
      uid: "7",
      extra: { "acme.io/one": ["pat"], "acme.io/many": ["x", "y"] },
    },
  ],
  [
    "expressions have the functions of later releases",
    {
      claimMappings: {
        username: { expression: "'%s-%d'.format([claims.sub, claims.?level.orValue(3)])" },
        groups: { expression: "claims.?groups.orValue([])" },
      },
    },
    { sub: "pat" },
    { name: "pat-3", groups: [] },
  ],
  [
    "satisfied rules accept a user",
    {
      claimValidationRules: [{ claim: "org", requiredValue: "acme" }, { expression: "claims.exp < 10.0" }],
      userValidationRules: [{ expression: "!user.username.startsWith('system:')" }],
    },
    { sub: "pat", org: "acme", exp: 9 },
    { name: "pat", groups: [] },
  ],
  [
    "a violated claim rule",
    { claimValidationRules: [{ expression: "claims.exp < 10.0", message: "too long" }] },
    { sub: "pat", exp: 11 },
    /^error evaluating claim validation expression: validation expression 'claims\.exp < 10\.0' failed: too long$/,
  ],
  [
    "a violated user rule",
    { userValidationRules: [{ expression: "!user.username.startsWith('system:')", message: "reserved" }] },
    { sub: "system:admin" },
    /^error evaluating user info validation rule: .* failed: reserved$/,
  ],
  [
    "a required claim with another value",
    { claimValidationRules: [{ claim: "org", requiredValue: "acme" }] },
    { sub: "pat", org: "other" },
    /^required claim org value does not match\. Got = .*, want = .*$/,
  ],
  [
    "an expression over a missing claim",
    { claimMappings: { username: { expression: "claims.nick" } } },
    { sub: "pat" },
    /^error evaluating username claim expression: expression 'claims\.nick' resulted in error: no such key: nick$/,
  ],
  [
    "an empty name",
    { claimMappings: { username: { expression: "claims.sub" } } },
    { sub: "" },
    /^empty username via CEL expression is not allowed$/,
  ],
  [
    "a name that is a number",
    { claimMappings: { username: { expression: "claims.n" } } },
    { n: 1 },
    /username claim expression must return a string$/,
  ],
  [
    "groups that are numbers",
    mapped({ groups: { expression: "claims.g" } }),
    { sub: "pat", g: [1] },
    /^error evaluating group claim expression: expression must return a string or a list of strings$/,
  ],
];
for (const [name, more, claims, expected] of identities)
  test(`claims become a user: ${name}`, () => {
    const { mapping } = one(more).issuers[0]!;
    if (expected instanceof RegExp)
      assert.throws(
        () => identityOf(claims, mapping),
        (error: Error) => (assert.match(error.message, expected), true),
      );
    else assert.deepEqual(identityOf(claims, mapping).user, expected);
  });

test("with a key for it, the user has the identifier of the token as an attribute", () => {
  const mapping = { ...sub, groups: undefined, requiredClaims: {} };
  const user = (claims: Record<string, unknown>, key?: string) => identityOf(claims, mapping, key).user;
  assert.deepEqual(user({ sub: "a", jti: "1" }, "id"), { name: "a", groups: [], extra: { id: ["JTI=1"] } });
  assert.deepEqual(user({ sub: "a", jti: 1 }, "id"), { name: "a", groups: [] });
  assert.deepEqual(user({ sub: "a", jti: "1" }), { name: "a", groups: [] });
});
