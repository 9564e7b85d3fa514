import assert from "node:assert/strict";
import { test } from "node:test";
import { inOrder, schemaMatcher } from "./classifier.ts";
import { digest, schemaFor } from "./digest.fixture.ts";
import type { SchemaSpec } from "./flow-control.ts";
import type { RequestDigest } from "./request-digest.ts";

const everybody = [{ kind: "User", user: { name: "*" } }];
const spec = (
  subjects: unknown[],
  resourceRules: unknown[] = [],
  nonResourceRules: unknown[] = [],
): SchemaSpec =>
  ({ ...schemaFor("a", 1), rules: [{ subjects, resourceRules, nonResourceRules }] }) as SchemaSpec;
const anything = { verbs: ["*"], apiGroups: ["*"], resources: ["*"], namespaces: ["*"], clusterScope: true };
const who = (...subjects: unknown[]): SchemaSpec => spec(subjects, [anything]);
const what = (rule: object): SchemaSpec => spec(everybody, [{ ...anything, ...rule }]);
const where = (...nonResourceURLs: string[]): SchemaSpec =>
  spec(everybody, [], [{ verbs: ["get"], nonResourceURLs }]);
const account = (namespace: string, name: string) => ({
  kind: "ServiceAccount",
  serviceAccount: { namespace, name },
});
const path = (requested: string): RequestDigest => digest({ isResource: false, path: requested });

const cases: [name: string, spec: SchemaSpec, request: RequestDigest, matches: boolean][] = [
  ["a user by name", who({ kind: "User", user: { name: "alice" } }), digest(), true],
  ["another user", who({ kind: "User", user: { name: "bob" } }), digest(), false],
  [
    "one of several subjects",
    who({ kind: "User", user: { name: "bob" } }, { kind: "Group", group: { name: "system:authenticated" } }),
    digest(),
    true,
  ],
  ["any group", who({ kind: "Group", group: { name: "*" } }), digest({ groups: [] }), true],
  ["a group that the user is not in", who({ kind: "Group", group: { name: "ops" } }), digest(), false],
  ["a service account", who(account("a", "b")), digest({ userName: "system:serviceaccount:a:b" }), true],
  [
    "a service account of a namespace that begins alike",
    who(account("a", "*")),
    digest({ userName: "system:serviceaccount:ab:b" }),
    false,
  ],
  [
    "any service account of a namespace",
    who(account("a", "*")),
    digest({ userName: "system:serviceaccount:a:x" }),
    true,
  ],
  ["a subject without its part", who({ kind: "User" }), digest(), false],
  ["a verb", what({ verbs: ["list", "get"] }), digest(), true],
  ["another verb", what({ verbs: ["list"] }), digest(), false],
  ["the core group", what({ apiGroups: [""] }), digest(), true],
  ["another group", what({ apiGroups: ["apps"] }), digest(), false],
  ["a resource", what({ resources: ["pods"] }), digest(), true],
  [
    "a resource does not stand for its subresources",
    what({ resources: ["pods"] }),
    digest({ subresource: "status" }),
    false,
  ],
  ["a subresource", what({ resources: ["pods/status"] }), digest({ subresource: "status" }), true],
  ["a namespace", what({ namespaces: ["default"] }), digest(), true],
  ["another namespace", what({ namespaces: ["other"] }), digest(), false],
  ["all namespaces do not stand for none", what({ clusterScope: false }), digest({ namespace: "" }), false],
  ["no namespace", what({ clusterScope: true, namespaces: null }), digest({ namespace: "" }), true],
  ["a path", where("/healthz"), path("/healthz"), true],
  ["a path below", where("/healthz"), path("/healthz/ping"), true],
  ["a path that begins alike", where("/healthz"), path("/healthzz"), false],
  ["a path below a star", where("/debug/*"), path("/debug/pprof/heap"), true],
  ["any path", where("*"), path("/x"), true],
  ["a resource rule and a path", what({}), path("/x"), false],
  ["a path rule and a resource", where("*"), digest(), false],
];
for (const [name, schema, request, matches] of cases)
  test(`${name}: ${matches ? "matches" : "does not match"}`, () =>
    assert.equal(schemaMatcher(schema)(request), matches));

test("schemas are tried by precedence, then by name", () => {
  const named = (name: string, precedence: number) => ({ name, spec: schemaFor("l", precedence) });
  const ordered = inOrder([named("c", 5), named("b", 10), named("a", 10), named("z", 1)]);
  assert.deepEqual(
    ordered.map(({ name }) => name),
    ["z", "c", "a", "b"],
  );
});
