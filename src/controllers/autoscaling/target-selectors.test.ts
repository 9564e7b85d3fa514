import assert from "node:assert/strict";
import { test } from "node:test";
import type { SeenPod } from "../pods.ts";
import { TargetSelectors } from "./target-selectors.ts";

const pod = (name: string, labels: Record<string, string>): SeenPod =>
  ({ metadata: { name, namespace: "default", labels } }) as unknown as SeenPod;
const pods = [pod("a", { app: "web", tier: "front" }), pod("b", { app: "web" }), pod("c", { app: "db" })];

/** Returns the reason why an autoscaler cannot act, or the pods it acts on. */
function outcome(targets: TargetSelectors, key: string, text: string): string {
  const found = targets.podsOf(key, text, pods);
  return "problem" in found
    ? `${found.problem.event} ${found.problem.reason}`
    : found.pods.map(({ metadata }) => metadata.name).join();
}

const cases: [name: string, others: Record<string, string>, text: string, expected: string][] = [
  ["an autoscaler acts on the pods of its target", {}, "app=web", "a,b"],
  ["a target without a selector is reported", {}, "", "SelectorRequired InvalidSelector"],
  ["an invalid selector is reported", {}, "app in (", "InvalidSelector InvalidSelector"],
  [
    "pods of another autoscaler are left alone",
    { "default/z": "app=web" },
    "app=web",
    "AmbiguousSelector AmbiguousSelector",
  ],
  [
    "a single shared pod is ambiguous",
    { "default/z": "tier=front" },
    "app=web",
    "AmbiguousSelector AmbiguousSelector",
  ],
  ["autoscalers of other pods do not matter", { "default/z": "app=db" }, "app=web", "a,b"],
  ["autoscalers of other namespaces do not matter", { "other/z": "app=web" }, "app=web", "a,b"],
];
for (const [name, others, text, expected] of cases)
  test(name, () => {
    const targets = new TargetSelectors();
    for (const [key, by] of Object.entries(others)) targets.podsOf(key, by, []);
    assert.equal(outcome(targets, "default/a", text), expected);
  });

test("a deleted autoscaler no longer counts", () => {
  const targets = new TargetSelectors();
  targets.podsOf("default/z", "app=web", pods);
  targets.forget("default/z");
  assert.equal(outcome(targets, "default/a", "app=web"), "a,b");
});
