import assert from "node:assert/strict";
import { test } from "node:test";
import { allocationCheckpointText, parseAllocationCheckpoint } from "./allocation-checkpoint.ts";

const amounts = ["0", "1", "100m", "128Mi", "1536Mi", "1500m", "1e3", "2k"];
const state = {
  allocations: {
    "uid-1": { c1: Object.fromEntries(amounts.map((amount) => [`r${amount}`, amount])), c2: null },
  },
  statuses: { "uid-1": "InProgress" },
};

// The checksums were produced by the kubelet for the same state.
test("the state file is identical to the kubelet's", () => {
  const text = allocationCheckpointText(state);
  assert.deepEqual(JSON.parse(text), {
    allocationEntries: state.allocations,
    resizeStatusEntries: state.statuses,
    checksum: 295342286,
  });
  assert.equal(allocationCheckpointText({ allocations: {}, statuses: {} }), '{"checksum":670531192}');
});

test("a written checkpoint is read back, a manually changed one is rejected", () => {
  const text = allocationCheckpointText(state);
  assert.deepEqual(parseAllocationCheckpoint(text), state);
  assert.throws(() => parseAllocationCheckpoint(text.replace("100m", "200m")), /corrupted/);
});

test("amounts beyond 64 bits are rewritten so that their checksum can be verified", () => {
  const long = { allocations: { u: { c: { cpu: "0.0000000000001" } } }, statuses: {} };
  assert.doesNotThrow(() => parseAllocationCheckpoint(allocationCheckpointText(long)));
});
