import assert from "node:assert/strict";
import { test } from "node:test";
import { createLog } from "#base";
import type { Attributes } from "./authorizer.ts";
import { withDenialLog } from "./denial-log.ts";
import type { RbacAuthorizer } from "./rbac.ts";

const user = { name: "alice", groups: ["dev", "ops"] } as Attributes["user"];
const target = { group: "", version: "v1", resource: "pods", subresource: "", namespace: "", name: "" };

const cases: [name: string, action: Omit<Attributes, "user">, loggedText: string][] = [
  [
    "a list in a namespace",
    { verb: "list", resource: { ...target, namespace: "a" } },
    '"list" resource "pods" in namespace "a"',
  ],
  [
    "a subresource of one object of a group",
    {
      verb: "update",
      resource: {
        ...target,
        group: "apps",
        resource: "deployments",
        subresource: "scale",
        namespace: "a",
        name: "web",
      },
    },
    '"update" resource "deployments.apps/scale" named "web" in namespace "a"',
  ],
  [
    "a cluster-scoped resource",
    { verb: "get", resource: { ...target, resource: "nodes", name: "n" } },
    '"get" resource "nodes" named "n" cluster-wide',
  ],
  ["a path", { verb: "get", path: "/metrics" }, '"get" nonResourceURL "/metrics" cluster-wide'],
];

function logged(
  verbosity: number,
  verdict: "allow" | "no opinion",
  action: Omit<Attributes, "user">,
): string {
  let text = "";
  const log = createLog({
    verbosity,
    sink: { write: (line) => void (text += line), flush: () => undefined },
  });
  const rbac = { decide: () => ({ verdict, reason: "" }) } as unknown as RbacAuthorizer;
  assert.equal(withDenialLog(rbac, log).decide({ user, ...action }).verdict, verdict);
  return text;
}

for (const [name, action, loggedText] of cases) {
  test(`a denial of ${name} is logged`, () => {
    const text = `RBAC: no rules authorize user "alice" with groups ["dev" "ops"] to ${loggedText}`;
    assert.ok(
      logged(5, "no opinion", action).includes(JSON.stringify(text)),
      logged(5, "no opinion", action),
    );
  });
}

test("nothing is logged below -v=5, nor for allowed actions", () => {
  const [, action] = cases[0]!;
  assert.deepEqual([logged(4, "no opinion", action), logged(5, "allow", action)], ["", ""]);
});
