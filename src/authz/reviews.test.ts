import assert from "node:assert/strict";
import { test } from "node:test";
import type {
  LocalSubjectAccessReview,
  SelfSubjectAccessReview,
  SelfSubjectRulesReview,
  SubjectAccessReview,
} from "#api";
import type { User } from "#authn";
import type { ApiError } from "#base";
import { dialects } from "#dialect";
import { parseAbac } from "./abac.ts";
import { type Attributes, type Authorizer, type Decision, alwaysAllow, authorizerOf } from "./authorizer.ts";
import { UserMissing, impersonation } from "./impersonation.ts";
import { reviewAccess, reviewLocalAccess, reviewOwnAccess, reviewOwnRules } from "./reviews.ts";

const dialect = dialects.orch;
const zed: User = { name: "zed", groups: ["g"] };
function recording(decision: Decision): Authorizer & { requested: Attributes[] } {
  const requested: Attributes[] = [];
  return { ...alwaysAllow, requested, decide: (attributes) => (requested.push(attributes), decision) };
}
const onPods = { verb: "get", resource: "pods", namespace: "ns" };
const target = { group: "", version: "", resource: "pods", subresource: "", namespace: "ns", name: "" };
const review = <T>(spec: object, metadata: object = {}): T =>
  ({ kind: "Review", metadata: { creationTimestamp: null, ...metadata }, spec }) as T;

const verdicts: [decision: Decision, status: object][] = [
  [
    { verdict: "allow", reason: "because" },
    { allowed: true, reason: "because" },
  ],
  [
    { verdict: "deny", reason: "" },
    { allowed: false, denied: true },
  ],
  [
    { verdict: "no opinion", reason: "", error: "broken" },
    { allowed: false, evaluationError: "broken" },
  ],
];
for (const [decision, status] of verdicts) {
  test(`a review reports the verdict "${decision.verdict}"`, async () => {
    const authorizer = recording(decision);
    const answer = await reviewAccess(
      review({ user: "bob", groups: ["x"], uid: "1", extra: { k: ["v"] }, resourceAttributes: onPods }),
      authorizer,
      dialect,
    );
    assert.deepEqual(answer.status, status);
    assert.deepEqual(authorizer.requested, [
      { user: { name: "bob", groups: ["x"], uid: "1", extra: { k: ["v"] } }, verb: "get", resource: target },
    ]);
  });
}
test("a self review is decided for the requester, on resources and paths", async () => {
  const authorizer = recording({ verdict: "allow", reason: "" });
  await reviewOwnAccess(review({ resourceAttributes: onPods }), zed, authorizer, dialect);
  await reviewOwnAccess(
    review({ nonResourceAttributes: { path: "/healthz", verb: "get" } }),
    zed,
    authorizer,
    dialect,
  );
  assert.deepEqual(authorizer.requested, [
    { user: zed, verb: "get", resource: target },
    { user: zed, verb: "get", path: "/healthz" },
  ]);
});
test("a rules review requires a namespace", () => {
  const answer = reviewOwnRules(
    review<SelfSubjectRulesReview>({ namespace: "ns" }),
    zed,
    authorizerOf([alwaysAllow]),
  );
  assert.deepEqual(answer.status, {
    resourceRules: [{ verbs: ["*"], apiGroups: ["*"], resources: ["*"] }],
    nonResourceRules: [{ verbs: ["*"], nonResourceURLs: ["*"] }],
    incomplete: false,
  });
  assert.throws(
    () => reviewOwnRules(review({}), zed, alwaysAllow),
    (error: ApiError) => error.code === 400,
  );
});

const both = { resourceAttributes: onPods, nonResourceAttributes: { path: "/x", verb: "get" } };
const own = (spec: object, metadata?: object) => () =>
  reviewOwnAccess(review<SelfSubjectAccessReview>(spec, metadata), zed, alwaysAllow, dialect);
const anyones = (spec: object, metadata?: object) => () =>
  reviewAccess(review<SubjectAccessReview>(spec, metadata), alwaysAllow, dialect);
const local = (spec: object, metadata?: object) => () =>
  reviewLocalAccess(review<LocalSubjectAccessReview>(spec, metadata), "ns", alwaysAllow, dialect);
const invalids: [name: string, run: () => Promise<unknown>, fields: string[]][] = [
  ["of two actions", own(both), ["spec.nonResourceAttributes"]],
  ["without an action", own({}), ["spec.resourceAttributes"]],
  ["without a user", anyones({ resourceAttributes: onPods }), ["spec.user"]],
  ["without a user and an action", anyones({}), ["spec.resourceAttributes", "spec.user"]],
  ["with a name", own({ resourceAttributes: onPods }, { name: "x" }), ["metadata"]],
  [
    "of another namespace",
    local({ user: "bob", resourceAttributes: { ...onPods, namespace: "default" } }, { namespace: "ns" }),
    ["spec.resourceAttributes.namespace"],
  ],
  [
    "of a path in a namespace",
    local({ user: "bob", nonResourceAttributes: { path: "/x", verb: "get" } }, { namespace: "ns" }),
    ["spec.nonResourceAttributes"],
  ],
];
for (const [name, run, fields] of invalids) {
  test(`a review ${name} is invalid`, async () => {
    await assert.rejects(run(), (error: ApiError) => {
      assert.equal(error.code, 422);
      assert.deepEqual(
        error.details?.causes?.map(({ field }) => field),
        fields,
      );
      assert.deepEqual(
        [error.details?.group, error.details?.kind, error.details?.name],
        ["authorization.orch.io", undefined, undefined],
      );
      return true;
    });
  });
}
test("a local review takes its namespace from the request and must agree with it", async () => {
  const spec = { user: "bob", resourceAttributes: onPods };
  assert.deepEqual((await reviewLocalAccess(review(spec), "ns", alwaysAllow, dialect)).status, {
    allowed: true,
  });
  const elsewhere = review<LocalSubjectAccessReview>(
    { user: "bob", resourceAttributes: { ...onPods, namespace: "other" } },
    { namespace: "other" },
  );
  await assert.rejects(
    reviewLocalAccess(elsewhere, "ns", alwaysAllow, dialect),
    (error: ApiError) => error.code === 400,
  );
});
test("metadata with only managed fields is accepted as empty", async () => {
  await own({ resourceAttributes: onPods }, { managedFields: [{ manager: "kit" }], labels: {} })();
});

const headers = (sent: Record<string, string[]>) => ({
  headers: (name: string) => sent[name] ?? [],
  headerNames: () => Object.keys(sent),
});
const becomes: [name: string, sent: Record<string, string[]>, user: User, checks: string[]][] = [
  [
    "a user",
    { "impersonate-user": ["zed"] },
    { name: "zed", groups: ["system:authenticated"] },
    ["users zed"],
  ],
  [
    "a user with groups",
    { "impersonate-user": ["zed"], "impersonate-group": ["a", "b"] },
    { name: "zed", groups: ["a", "b", "system:authenticated"] },
    ["users zed", "groups a", "groups b"],
  ],
  [
    "an unauthenticated user",
    { "impersonate-user": ["zed"], "impersonate-group": ["system:unauthenticated"] },
    { name: "zed", groups: ["system:unauthenticated"] },
    ["users zed", "groups system:unauthenticated"],
  ],
  [
    "the anonymous user",
    { "impersonate-user": ["system:anonymous"] },
    { name: "system:anonymous", groups: ["system:unauthenticated"] },
    ["users system:anonymous"],
  ],
  [
    "a service account",
    { "impersonate-user": ["system:serviceaccount:ns:robot"] },
    {
      name: "system:serviceaccount:ns:robot",
      groups: ["system:serviceaccounts", "system:serviceaccounts:ns", "system:authenticated"],
    },
    ["serviceaccounts ns/robot"],
  ],
  [
    "a service account with given groups",
    { "impersonate-user": ["system:serviceaccount:ns:robot"], "impersonate-group": ["g"] },
    { name: "system:serviceaccount:ns:robot", groups: ["g", "system:authenticated"] },
    ["serviceaccounts ns/robot", "groups g"],
  ],
  [
    "a user with uid and extra",
    {
      "impersonate-user": ["zed"],
      "impersonate-uid": ["u"],
      "impersonate-extra-example.com%2fscopes": ["a", "b"],
    },
    { name: "zed", uid: "u", groups: ["system:authenticated"], extra: { "example.com/scopes": ["a", "b"] } },
    [
      "users zed",
      "authentication.orch.io userextras/example.com/scopes a",
      "authentication.orch.io userextras/example.com/scopes b",
      "authentication.orch.io uids u",
    ],
  ],
];
for (const [name, sent, user, checks] of becomes) {
  test(`headers can request to impersonate ${name}`, () => {
    const requested = impersonation(headers(sent), dialect)!;
    assert.deepEqual(requested.user, user);
    const shown = requested.checks.map(
      ({ resource: { group, resource, subresource, namespace, name: object } }) =>
        `${group && `${group} `}${resource}${subresource && `/${subresource}`} ${namespace && `${namespace}/`}${object}`,
    );
    assert.deepEqual(shown, checks);
  });
}
for (const [header, wanted] of [
  ["impersonate-group", "{Group  x    }"],
  ["impersonate-uid", "{UID  x  authentication.orch.io/v1  }"],
  ["impersonate-extra-scopes", "{UserExtra  x  authentication.orch.io/v1  scopes}"],
] as const) {
  test(`${header} without a user is an error that names the header`, () =>
    assert.throws(
      () => impersonation(headers({ [header]: ["x"] }), dialect),
      (error) =>
        error instanceof UserMissing &&
        error.message === `requested [${wanted}] without impersonating a user`,
    ));
}
test("other headers and an empty user request no impersonation", () => {
  assert.equal(impersonation(headers({ accept: ["*/*"] }), dialect), undefined);
  assert.equal(impersonation(headers({ "impersonate-user": [""] }), dialect), undefined);
});

const versioned = (spec: object): string =>
  JSON.stringify({ apiVersion: "abac.authorization.orch.io/v1beta1", kind: "Policy", spec });
const abac = parseAbac(
  [
    "# who may do what",
    "",
    versioned({ user: "alice", namespace: "*", resource: "*", apiGroup: "*" }),
    versioned({ group: "dev", readonly: true, namespace: "ns", resource: "pods" }),
    versioned({ user: "*", nonResourcePath: "/healthz/*" }),
    '{"user":"old","readonly":true}',
    '{"user":"older","resource":"pods"}',
  ].join("\n"),
  "policy.jsonl",
  dialect,
);
const who = (name: string, ...groups: string[]): User => ({
  name,
  groups: [...groups, "system:authenticated"],
});
const abacCases: [name: string, action: Attributes, verdict: string][] = [
  [
    "all actions of a user",
    { user: who("alice"), verb: "delete", resource: { ...target, group: "apps" } },
    "allow",
  ],
  ["a group's read access", { user: who("bob", "dev"), verb: "list", resource: target }, "allow"],
  ["a group's write access", { user: who("bob", "dev"), verb: "create", resource: target }, "no opinion"],
  [
    "a group's read access in another namespace",
    { user: who("bob", "dev"), verb: "list", resource: { ...target, namespace: "x" } },
    "no opinion",
  ],
  ["anyone's path", { user: who("eve"), verb: "get", path: "/healthz/x" }, "allow"],
  [
    "a path for an unknown user",
    {
      user: { name: "system:anonymous", groups: ["system:unauthenticated"] },
      verb: "get",
      path: "/healthz/x",
    },
    "no opinion",
  ],
  [
    "read access to anything with an unversioned policy",
    { user: who("old"), verb: "get", resource: { ...target, group: "apps" } },
    "allow",
  ],
  ["an old policy's paths", { user: who("old"), verb: "get", path: "/x" }, "allow"],
  [
    "a path with an unversioned policy that names a resource",
    { user: who("older"), verb: "get", path: "/x" },
    "no opinion",
  ],
];
for (const [name, requested, verdict] of abacCases)
  test(`a policy file says "${verdict}" to ${name}`, async () =>
    assert.equal((await abac.decide(requested)).verdict, verdict));
test("a policy file resolves rules, and reports lines without a version", () => {
  assert.deepEqual(abac.rulesFor(who("bob", "dev"), "ns").resourceRules, [
    { verbs: ["get", "list", "watch"], apiGroups: [""], resources: ["pods"] },
  ]);
  assert.deepEqual(
    abac.warnings.map((note) => note.split(": ")[0]),
    ["policy.jsonl:6", "policy.jsonl:7"],
  );
});
const brokenPolicies: [name: string, text: string, why: RegExp][] = [
  ["is not JSON", "\n{", /^Error: p:2: the policy is not JSON/],
  ["is not an object", "[]", /p:1: a policy must be a JSON object/],
  ["has another version", '{"apiVersion":"v1","kind":"Policy"}', /p:1: expected apiVersion abac/],
  ["has an unknown field", versioned({ usr: "x" }), /p:1: unknown field "spec.usr"/],
  ["has a wrong type", versioned({ user: 1 }), /p:1: spec.user must be text/],
];
for (const [name, text, why] of brokenPolicies)
  test(`a policy that ${name} is refused with its line`, () =>
    assert.throws(() => parseAbac(text, "p", dialect), why));
