import assert from "node:assert/strict";
import { test } from "node:test";
import { cpuCheckpointText, deviceCheckpointText, memoryCheckpointText } from "./checkpoints.ts";

// The kubelet writes these texts and checksums for the same state.
test("a CPU state file is identical to the kubelet's", () => {
  const entries = { "b-pod": { z: "3", a: "1-2" }, "a-pod": { c: "8-11,14" } };
  assert.equal(
    cpuCheckpointText({ policyName: "static", defaultCpuSet: "0,4-7", entries }),
    '{"policyName":"static","defaultCpuSet":"0,4-7","entries":{"a-pod":{"c":"8-11,14"},"b-pod":{"a":"1-2","z":"3"}},"checksum":646876248}',
  );
});

test("a memory state file is identical to the kubelet's", () => {
  assert.equal(
    memoryCheckpointText({ policyName: "None", machineState: {}, entries: {} }),
    '{"policyName":"None","machineState":{},"checksum":4236770233}',
  );
});

test("a device checkpoint is identical to the kubelet's", () => {
  assert.equal(
    deviceCheckpointText({ entries: null, registered: { "example.com/dev": ["d1", "d2"] } }),
    '{"Data":{"PodDeviceEntries":null,"RegisteredDevices":{"example.com/dev":["d1","d2"]}},"Checksum":1549481943}',
  );
});
