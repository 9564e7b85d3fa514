import assert from "node:assert/strict";
import { test } from "node:test";
import { node } from "./node.ts";
import { cellsOf, tryCreate, tryPart, tryUpdate } from "./strategy.fixture.ts";

const metadata = { name: "n" };

const refused: [name: string, sent: object, causes: string[]][] = [
  ["a minimal node is valid", {}, []],
  [
    "taints with the same key and effect are duplicates",
    { spec: { taints: [1, 2].map(() => ({ key: "a", effect: "NoSchedule" })) } },
    ["Duplicate metadata.taints[1]"],
  ],
  [
    "a malformed taint is refused",
    { spec: { taints: [{ key: "a" }, { key: "b c", effect: "Odd" }] } },
    [
      "Invalid metadata.taints[1].key",
      "NotSupported metadata.taints[1].effect",
      "Required metadata.taints[0].effect",
    ],
  ],
  ["a malformed CIDR is refused", { spec: { podCIDR: "10.0.0.0" } }, ["Invalid spec.podCIDRs[0]"]],
  [
    "at most one CIDR per family is allowed",
    { spec: { podCIDRs: ["10.0.0.0/24", "10.0.1.0/24"] } },
    ["Invalid spec.podCIDRs"],
  ],
  ["a dual-stack node has two CIDRs", { spec: { podCIDRs: ["10.0.0.0/24", "fd00::/64"] } }, []],
  [
    "quantities must not be negative",
    { status: { capacity: { cpu: "-1" } } },
    ["Invalid status.allocatable.cpu", "Invalid status.capacity.cpu"],
  ],
];
for (const [name, sent, causes] of refused)
  test(name, () => assert.deepEqual(tryCreate(node, { metadata, ...sent }).causes, causes));

const changed: [name: string, before: object, after: object, causes: string[]][] = [
  ["CIDRs may be assigned later", {}, { spec: { podCIDR: "10.0.0.0/24" } }, []],
  [
    "CIDRs are immutable",
    { spec: { podCIDR: "10.0.0.0/24" } },
    { spec: { podCIDR: "10.0.1.0/24" } },
    ["Forbidden spec.podCIDRs"],
  ],
  [
    "the provider ID is immutable",
    { spec: { providerID: "a" } },
    { spec: { providerID: "b" } },
    ["Forbidden spec.providerID"],
  ],
  ["a node may be cordoned", {}, { spec: { unschedulable: true } }, []],
];
for (const [name, before, after, causes] of changed) {
  test(name, () =>
    assert.deepEqual(
      tryUpdate(node, { metadata, ...before }, { metadata, ...after }).causes.filter(
        (cause) => !cause.includes("metadata."),
      ),
      causes,
    ),
  );
}

test("allocatable defaults to the capacity", () => {
  assert.deepEqual(tryCreate(node, { metadata, status: { capacity: { cpu: "4" } } }).object["status"], {
    capacity: { cpu: "4" },
    allocatable: { cpu: "4" },
    ...(tryCreate(node, { metadata }).object["status"] as object),
  });
});

test("addresses must be unique", () => {
  const address = { type: "Hostname", address: "a" };
  assert.deepEqual(
    tryPart(node, "status", { metadata }, { status: { addresses: [address, address] } }).causes,
    ["Duplicate status.addresses[1]"],
  );
});

const shown: [name: string, sent: object, cells: string[]][] = [
  ["the status of a new node is unknown", {}, ["Unknown", "<none>"]],
  [
    "a ready node with a role",
    {
      metadata: { ...metadata, labels: { "node-role.orch.io/worker": "", "orch.io/role": "db" } },
      status: { conditions: [{ type: "Ready", status: "True" }] },
    },
    ["Ready", "db,worker"],
  ],
  [
    "a cordoned node that is not ready",
    { spec: { unschedulable: true }, status: { conditions: [{ type: "Ready", status: "Unknown" }] } },
    ["NotReady,SchedulingDisabled", "<none>"],
  ],
];
for (const [name, sent, cells] of shown) {
  const status = { nodeInfo: {}, ...(sent as { status?: object }).status };
  test(name, () => assert.deepEqual(cellsOf(node, { metadata, ...sent, status }).slice(1, 3), cells));
}

test("an address without text is shown as it is", () => {
  const status = { nodeInfo: {}, addresses: [{ type: "ExternalIP", address: "" }] };
  assert.deepEqual(cellsOf(node, { metadata, status }).slice(5, 7), ["<none>", ""]);
});
