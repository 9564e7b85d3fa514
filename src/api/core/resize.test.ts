import assert from "node:assert/strict";
import { test } from "node:test";
import type { Container } from "./container.ts";
import type { Pod } from "./pod.ts";
import { effectiveRequests, equalResources } from "./resize.ts";

const container = { name: "c", resources: { requests: { cpu: "1", memory: "1Gi" } } } as unknown as Container;
const status = (allocatedResources?: object, resize?: string): Pod["status"] =>
  ({ containerStatuses: [{ name: "c", allocatedResources }], resize }) as unknown as Pod["status"];

const counted: [name: string, status: Pod["status"], requests: object][] = [
  ["without an allocation the spec counts", status(), { cpu: "1", memory: "1Gi" }],
  ["without a status the spec counts", {}, { cpu: "1", memory: "1Gi" }],
  [
    "the larger of spec and allocation counts, by resource",
    status({ cpu: "2000m", memory: "512Mi" }, "InProgress"),
    { cpu: "2000m", memory: "1Gi" },
  ],
  [
    "what the node can never give does not count",
    status({ cpu: "500m", memory: "512Mi" }, "Infeasible"),
    { cpu: "500m", memory: "512Mi" },
  ],
];
for (const [name, given, requests] of counted)
  test(name, () => assert.deepEqual(effectiveRequests({ status: given }, container), requests));

const compared: [one: Record<string, string> | undefined, other: Record<string, string>, same: boolean][] = [
  [{ cpu: "1" }, { cpu: "1000m" }, true],
  [{ cpu: "1" }, { cpu: "1001m" }, false],
  [{ cpu: "1" }, { memory: "1" }, false],
  [undefined, {}, true],
  [{ cpu: "1", memory: "1" }, { cpu: "1" }, false],
];
for (const [one, other, same] of compared)
  test(`${JSON.stringify(one)} and ${JSON.stringify(other)} are ${same ? "" : "not "}the same amounts`, () =>
    assert.equal(equalResources(one, other), same));
