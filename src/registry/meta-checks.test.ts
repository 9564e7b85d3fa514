import assert from "node:assert/strict";
import { test } from "node:test";
import { type Sent, causesOf, harness } from "./registry.fixture.ts";
import { configMap } from "./strategies/config-map.ts";
import { podDisruptionBudget } from "./strategies/disruption-budget.ts";
import { endpointSlice } from "./strategies/endpoint-slice.ts";
import { lease } from "./strategies/lease.ts";
import { limitRange } from "./strategies/limit-range.ts";
import { resourceQuota } from "./strategies/resource-quota.ts";
import { role } from "./strategies/role.ts";
import { volumeAttachment } from "./strategies/volume-attachment.ts";
import type { Strategy } from "./strategy.ts";

const times = (count: number, cause: string): string[] => Array.from({ length: count }, () => cause);
const slice = { addressType: "IPv4", endpoints: [] };

const labelled: [name: string, kind: Strategy, rest: object, findings: number][] = [
  ["a kind that validates changes only", resourceQuota, {}, 3],
  ["a kind that also validates the whole object", configMap, {}, 4],
  ["a kind that validates the whole object twice", role, {}, 5],
  ["a kind that validates the whole object only", limitRange, {}, 3],
  ["a kind without metadata validation in its strategy", podDisruptionBudget, {}, 2],
];
for (const [name, kind, rest, findings] of labelled) {
  test(`an invalid label of an updated object: ${name}`, async (t) => {
    const { create, edit } = await harness(t, kind);
    await create({ metadata: { name: "a" }, ...rest });
    const bad = edit("a", (object) => void (object.metadata.labels = { "a b": "" }));
    assert.deepEqual(await causesOf(bad), times(findings, "Invalid metadata.labels"));
  });
}

const attached = {
  spec: { attacher: "a.example.com", nodeName: "n", source: { persistentVolumeName: "v" } },
};
const byStatus: [name: string, kind: Strategy, rest: object, causes: string[]][] = [
  [
    "a kind that validates changes",
    resourceQuota,
    {},
    [...times(3, "Invalid metadata.labels"), "Invalid metadata.finalizers[0]"],
  ],
  [
    "a kind without metadata validation in its strategy",
    podDisruptionBudget,
    {},
    times(2, "Invalid metadata.labels"),
  ],
  ["a kind whose status writes keep metadata", volumeAttachment, attached, []],
];
for (const [name, kind, rest, causes] of byStatus) {
  test(`invalid metadata in a status update: ${name}`, async (t) => {
    const { create, edit } = await harness(t, kind);
    await create({ metadata: { name: "a" }, ...rest });
    const bad = edit(
      "a",
      ({ metadata }) => void Object.assign(metadata, { labels: { "a b": "" }, finalizers: ["plain"] }),
      { subresource: "status" },
    );
    assert.deepEqual(await causesOf(bad), causes);
  });
}

test("a status update of a kind that is validated twice reports errors twice", async (t) => {
  const { create, edit } = await harness(t, volumeAttachment);
  await create({ metadata: { name: "a" }, ...attached });
  const bad = edit(
    "a",
    (object) =>
      void Object.assign(object, { status: { attached: false, attachError: { message: "é".repeat(513) } } }),
    { subresource: "status" },
  );
  assert.deepEqual(await causesOf(bad), times(2, "TooLong status.attachError.message"));
});

const named: [name: string, kind: Strategy, rest: object, causes: string[]][] = [
  ["a kind that validates the whole object", endpointSlice, slice, ["Invalid metadata.name"]],
  ["a kind that accepts any name", podDisruptionBudget, {}, []],
];
for (const [name, kind, rest, causes] of named) {
  test(`an uppercase name: ${name}`, async (t) => {
    const { create } = await harness(t, kind);
    assert.deepEqual(await causesOf(create({ metadata: { name: "Bad" }, ...rest })), causes);
  });
}

const plain: Sent = { metadata: { name: "a", finalizers: ["plain"] } };
test("kinds may accept unqualified finalizers", async (t) => {
  const leases = await harness(t, lease);
  assert.deepEqual(await causesOf(leases.create(plain)), []);
  const maps = await harness(t, configMap);
  assert.deepEqual(await causesOf(maps.create(plain)), ["Invalid metadata.finalizers[0]"]);
});
