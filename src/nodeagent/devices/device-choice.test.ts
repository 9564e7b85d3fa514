import assert from "node:assert/strict";
import { test } from "node:test";
import {
  type DeviceRequest,
  byNumaNode,
  chooseDevices,
  deviceHints,
  preferenceRequest,
} from "./device-choice.ts";

const numa: Readonly<Record<string, readonly number[]>> = {
  a: [0],
  b: [0],
  c: [1],
  d: [1],
  e: [],
  f: [0, 1],
};
const numaOf = (device: string): readonly number[] => numa[device] ?? [];
const request = (more: Partial<DeviceRequest>): DeviceRequest => ({
  resource: "example.com/dev",
  size: 1,
  healthy: new Set(["a", "b", "c", "d", "e"]),
  inUse: new Set(),
  reusable: new Set(),
  numaOf,
  nodes: undefined,
  ...more,
});

const choices: [name: string, of: DeviceRequest, preferred: readonly string[], chosen: readonly string[]][] =
  [
    ["the first free devices", request({ size: 2, inUse: new Set(["a"]) }), [], ["b", "c"]],
    ["the devices that the plug-in prefers", request({ size: 2 }), ["d", "e"], ["d", "e"]],
    [
      "the devices of init containers first",
      request({ size: 2, reusable: new Set(["d"]), inUse: new Set(["d"]) }),
      [],
      ["d", "a"],
    ],
    ["the devices on the chosen NUMA node", request({ size: 2, nodes: 0b10 }), [], ["c", "d"]],
    ["the preferred devices on the chosen NUMA node", request({ size: 1, nodes: 0b10 }), ["d", "a"], ["d"]],
    [
      "all devices on the chosen NUMA node, then others, those of unknown node last",
      request({ size: 5, nodes: 0b10 }),
      [],
      ["c", "d", "a", "b", "e"],
    ],
  ];
for (const [name, of, preferred, chosen] of choices)
  test(`a container gets ${name}`, () => assert.deepEqual(chooseDevices(of, new Set(preferred)), chosen));

test("the error about too few devices contains their numbers", () => {
  assert.throws(() => chooseDevices(request({ size: 2, inUse: new Set(["a", "b", "c", "d"]) })), {
    message: "requested number of devices unavailable for example.com/dev. Requested: 2, Available: 1",
  });
});

test("a plug-in is asked for its preference only if there is a choice", () => {
  assert.deepEqual(preferenceRequest(request({ size: 1, nodes: 0b10 }))?.available, ["c", "d"]);
  assert.equal(preferenceRequest(request({ size: 2, nodes: 0b10 })), undefined);
  assert.equal(preferenceRequest(request({ reusable: new Set(["a"]) })), undefined);
  assert.deepEqual(preferenceRequest(request({ size: 2, reusable: new Set(["a"]), inUse: new Set(["a"]) })), {
    available: ["b", "c", "d", "e", "a"],
    mustInclude: ["a"],
  });
});

test("hints contain every set of NUMA nodes with enough devices, the smallest preferred", () => {
  const of = { all: ["a", "b", "c", "d"], reusable: new Set<string>(), numaOf, machine: [0, 1] };
  assert.deepEqual(deviceHints({ ...of, size: 2, available: new Set(["a", "c", "d"]) }), [
    { nodes: 0b10, preferred: true },
    { nodes: 0b11, preferred: false },
  ]);
  assert.deepEqual(
    deviceHints({ ...of, size: 1, available: new Set(["a", "c"]), reusable: new Set(["b"]) }),
    [
      { nodes: 0b01, preferred: true },
      { nodes: 0b11, preferred: false },
    ],
  );
});

test("devices are grouped by NUMA node, -1 if unknown", () => {
  assert.deepEqual(byNumaNode(["a", "e", "f"], numaOf), { "0": ["a", "f"], "1": ["f"], "-1": ["e"] });
});
