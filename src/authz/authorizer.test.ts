import assert from "node:assert/strict";
import { test } from "node:test";
import type { User } from "#authn";
import {
  type Authorizer,
  alwaysAllow,
  alwaysAllowPaths,
  alwaysDeny,
  authorizerOf,
  describe,
  forbiddenError,
} from "./authorizer.ts";
import { asks, inNs, on, user } from "./rbac.fixture.ts";

const later = (authorizer: Authorizer): Authorizer => ({
  ...authorizer,
  decide: async (attributes) => authorizer.decide(attributes),
});
const denies: Authorizer = { ...alwaysDeny, decide: () => ({ verdict: "deny", reason: "no" }) };
const unions: [name: string, modes: Authorizer[], who: User, verdict: string, reason: string][] = [
  [
    "the privileged group is allowed before other authorizers",
    [denies],
    user("root", "system:masters"),
    "allow",
    "",
  ],
  [
    "other users are not allowed by AlwaysDeny",
    [alwaysDeny],
    user("bob"),
    "no opinion",
    "Everything is forbidden.",
  ],
  ["the first decision wins", [alwaysDeny, denies, alwaysAllow], user("bob"), "deny", "no"],
  ["without an opinion the next authorizer decides", [alwaysDeny, alwaysAllow], user("bob"), "allow", ""],
  [
    "asynchronous decisions keep the order",
    [alwaysDeny, later(alwaysDeny), later(denies), alwaysAllow],
    user("bob"),
    "deny",
    "no",
  ],
  [
    "reasons of authorizers without an opinion are joined",
    [alwaysDeny, later(alwaysDeny)],
    user("bob"),
    "no opinion",
    "Everything is forbidden.\nEverything is forbidden.",
  ],
  ["without modes nothing is allowed", [], user("bob"), "no opinion", ""],
];
for (const [name, modes, who, verdict, reason] of unions) {
  test(`among authorizers, ${name}`, async () =>
    assert.deepEqual(await authorizerOf(modes).decide(asks("get", on("pods"), who)), { verdict, reason }));
}
test("always-allowed paths are open, resources under them are not", async () => {
  const open = authorizerOf([alwaysAllowPaths(["/healthz", "livez/*"])]);
  for (const [path, verdict] of [
    ["/healthz", "allow"],
    ["/livez/x", "allow"],
    ["/readyz", "no opinion"],
  ] as const) {
    assert.equal((await open.decide(asks("get", path))).verdict, verdict);
  }
  assert.equal((await open.decide(asks("get", on("healthz")))).verdict, "no opinion");
  assert.throws(() => alwaysAllowPaths(["/a*b"]), /only trailing \*/);
});
test("a forbidden action is described in a sentence", () => {
  assert.equal(describe(asks("get", "/metrics")), 'User "bob" cannot get path "/metrics"');
  assert.equal(
    describe(asks("list", on("pods/log", { ...inNs, group: "x" }))),
    'User "bob" cannot list resource "pods/log" in API group "x" in the namespace "ns"',
  );
  const error = forbiddenError(asks("list", on("pods")), "because");
  assert.deepEqual(
    [error.code, error.message],
    [
      403,
      'pods is forbidden: User "bob" cannot list resource "pods" in API group "" at the cluster scope: because',
    ],
  );
  assert.deepEqual(
    forbiddenError(asks("get", "/<x>"), "").message,
    'forbidden: User "bob" cannot get path "/&lt;x&gt;"',
  );
});
