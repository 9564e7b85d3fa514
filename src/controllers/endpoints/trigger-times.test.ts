import assert from "node:assert/strict";
import { test } from "node:test";
import type { SeenPod } from "../pods.ts";
import type { SeenService } from "./service-pods.ts";
import { TriggerTimes } from "./trigger-times.ts";

const at = (second: number): string => `2030-01-01T00:00:${String(second).padStart(2, "0")}Z`;
const service = (second: number): SeenService =>
  ({ metadata: { name: "s", creationTimestamp: at(second) }, spec: {} }) as unknown as SeenService;
const pod = (name: string, second: number): SeenPod =>
  ({
    metadata: { name },
    status: { conditions: [{ type: "Ready", status: "True", lastTransitionTime: at(second) }] },
  }) as unknown as SeenPod;

test("the earliest change since the last call is returned, or undefined without a change", () => {
  const triggers = new TriggerTimes();
  const next = (made: number, ...pods: SeenPod[]): string | undefined =>
    triggers.next("k", service(made), pods);
  assert.equal(next(5, pod("a", 3)), at(5), "a new service counts from its creation");
  assert.equal(next(5, pod("a", 3)), undefined);
  assert.equal(next(5, pod("a", 8), pod("b", 7)), at(7));
  assert.equal(next(9, pod("a", 8), pod("b", 7)), at(9), "made again");
  assert.equal(next(9), undefined, "a pod that goes has no time");
  triggers.forget("k");
  assert.equal(next(9), at(9));
});
