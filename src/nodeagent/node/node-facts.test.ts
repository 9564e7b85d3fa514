import assert from "node:assert/strict";
import { test } from "node:test";
import type { NodeCondition } from "#api";
import { dialects } from "#dialect";
import { nodeAddresses } from "./addresses.ts";
import { allocatableOf, allocatablePids, capacityOf, reservationProblem, reservations } from "./capacity.ts";
import { nextConditions } from "./conditions.ts";
import { imagesOf } from "./images.ts";
import { freshNode, statusPatch } from "./node-object.ts";

const machine = {
  cpus: 4,
  memoryBytes: 8 * 1024 ** 3,
  swapBytes: 0,
  hugepages: [{ size: "2MB", pageBytes: 2 * 1024 ** 2, count: 512 }],
  machineId: "m",
  systemUuid: "s",
  bootId: "b",
  kernelVersion: "6.1",
  osImage: "An OS",
  architecture: "arm64",
  maxPids: 32768,
  cores: 1,
  sockets: 1,
  appArmor: false,
  selinux: false,
};

test("capacity is computed from the machine", () => {
  assert.deepEqual(
    capacityOf(machine, { maxPods: 110, podsPerCore: 0, localStorageBytes: 100 * 1024 ** 3 }),
    {
      cpu: "4",
      memory: "8Gi",
      pods: "110",
      "ephemeral-storage": "100Gi",
      "hugepages-2Mi": "1Gi",
    },
  );
  assert.equal(capacityOf(machine, { maxPods: 110, podsPerCore: 5 })["pods"], "20");
  assert.equal(capacityOf(machine, { maxPods: 10, podsPerCore: 5 })["pods"], "10");
});

test("allocatable is capacity minus reservations, thresholds and huge pages", () => {
  const capacity = {
    cpu: "4",
    memory: "8Gi",
    pods: "110",
    "ephemeral-storage": "100Gi",
    "hugepages-2Mi": "1Gi",
  };
  const hard = { "memory.available": "100Mi", "nodefs.available": "10%", "imagefs.available": "15%" };
  assert.deepEqual(allocatableOf(capacity, [{ cpu: "500m", memory: "512Mi" }, { cpu: "100m" }], hard), {
    cpu: "3400m",
    memory: "6556Mi",
    pods: "110",
    "ephemeral-storage": "96636764000",
    "hugepages-2Mi": "1Gi",
  });
  assert.equal(allocatableOf(capacity, [{ memory: "20Gi" }], {})["memory"], "0");
  assert.equal(allocatableOf(capacity, [], { "nodefs.available": "0%" })["ephemeral-storage"], "100Gi");
  assert.equal(reservationProblem(capacity, [{ cpu: "4" }], hard), undefined);
  assert.match(
    reservationProblem(capacity, [{ memory: "7Gi" }], { "memory.available": "2Gi" }) ?? "",
    /^invalid Node Allocatable configuration: 9Gi of "memory" are reserved, the node has \d+/,
  );
});

test("reserved CPUs replace reserved CPU amounts", () => {
  assert.deepEqual(reservations([{ cpu: "500m", memory: "1Gi" }, { cpu: "1" }], 2), [
    { memory: "1Gi" },
    {},
    { cpu: "2" },
  ]);
  assert.deepEqual(reservations([{ cpu: "500m" }], 0), [{ cpu: "500m" }]);
});

test("allocatable process IDs are the kernel's maximum minus reservations", () => {
  assert.deepEqual(allocatablePids(1000, [{ pid: "100" }, { cpu: "1" }, { pid: "50" }]), { pid: "850" });
  assert.deepEqual(allocatablePids(1000, [{ pid: "2k" }]), { pid: "1" });
});

test("thresholds of 0% and 100% reserve nothing", () => {
  assert.equal(allocatableOf({ memory: "8Gi" }, [], { "memory.available": "100%" })["memory"], "8Gi");
});

const well = { memoryPressure: false, diskPressure: false, pidPressure: false, problems: [] };
const readiness: [
  rule: string,
  before: readonly string[],
  problems: readonly string[],
  event: string | undefined,
][] = [
  ["no event says that a new node becomes ready", [], [], undefined],
  ["conditions of other components do not make a node known", ["NetworkUnavailable=False"], [], undefined],
  ["a node that becomes ready has an event", ["Ready=False"], [], "NodeReady"],
  ["a node that becomes not ready has an event", ["Ready=True"], ["a"], "NodeNotReady"],
  ["a node that stays ready has no event", ["Ready=True"], [], undefined],
];
for (const [rule, before, problems, event] of readiness) {
  test(rule, () => {
    const old = before.map((text) => ({
      type: text.split("=")[0]!,
      status: text.split("=")[1]!,
      lastHeartbeatTime: null,
      lastTransitionTime: null,
    }));
    const { events } = nextConditions(old, { ...well, problems }, 0, dialects.orch);
    assert.equal(
      events.find((each) => each.endsWith("Ready")),
      event,
    );
  });
}

test("conditions have reasons and messages, and their changes are events", () => {
  const first = nextConditions([], well, 0, dialects.orch);
  assert.deepEqual(
    first.conditions.map(({ type, status, reason, message }) => [type, status, reason, message]),
    [
      [
        "MemoryPressure",
        "False",
        "NodeAgentHasSufficientMemory",
        "nodeagent has sufficient memory available",
      ],
      ["DiskPressure", "False", "NodeAgentHasNoDiskPressure", "nodeagent has no disk pressure"],
      ["PIDPressure", "False", "NodeAgentHasSufficientPID", "nodeagent has sufficient PID available"],
      ["Ready", "True", "NodeAgentReady", "nodeagent is posting ready status"],
    ],
  );
  assert.deepEqual(first.events, [
    "NodeHasSufficientMemory",
    "NodeHasNoDiskPressure",
    "NodeHasSufficientPID",
  ]);
  const second = nextConditions(
    first.conditions,
    { ...well, diskPressure: true, problems: ["a", "b"] },
    60_000,
    dialects.orch,
  );
  assert.deepEqual(second.events, ["NodeHasDiskPressure", "NodeNotReady"]);
  assert.deepEqual(second.conditions.at(-1), {
    type: "Ready",
    status: "False",
    reason: "NodeAgentNotReady",
    message: "[a, b]",
    lastHeartbeatTime: "1970-01-01T00:01:00Z",
    lastTransitionTime: "1970-01-01T00:01:00Z",
  });
  assert.equal(second.conditions[0]!.lastTransitionTime, "1970-01-01T00:00:00Z");
  assert.equal(
    nextConditions(
      second.conditions,
      { ...well, notes: ["AppArmor enabled"] },
      70_000,
      dialects.orch,
    ).conditions.at(-1)!.message,
    "nodeagent is posting ready status. AppArmor enabled",
  );
});

test("conditions of other components are kept", () => {
  const other = { type: "NetworkUnavailable", status: "False" } as NodeCondition;
  assert.deepEqual(nextConditions([other], well, 0, dialects.orch).conditions[0], other);
});

test("images are sorted by size, largest first, with five names each, up to the limit, or all for -1", () => {
  const image = (size: number, names: number) => ({
    size,
    repoDigests: ["d@sha256:1"],
    repoTags: Array.from({ length: names }, (_, i) => `t:${i}`),
  });
  assert.deepEqual(imagesOf([image(1, 1), image(3, 9), image(2, 0)], 2), [
    { names: ["d@sha256:1", "t:0", "t:1", "t:2", "t:3"], sizeBytes: 3 },
    { names: ["d@sha256:1"], sizeBytes: 2 },
  ]);
  assert.equal(imagesOf([image(1, 1), image(3, 9)], -1).length, 2);
  assert.equal(imagesOf([image(1, 1)], 0).length, 0);
});

test("only changes are patched; a new heartbeat time alone is not a change", () => {
  const condition = {
    type: "Ready",
    status: "True",
    lastHeartbeatTime: "2024-01-01T00:00:00Z",
  } as NodeCondition;
  const standing = {
    capacity: { cpu: "4", "example.com/x": "1" },
    addresses: [{ type: "Hostname", address: "a" }],
    conditions: [condition],
  };
  assert.equal(
    statusPatch(standing, {
      ...standing,
      capacity: { cpu: "4" },
      conditions: [{ ...condition, lastHeartbeatTime: "2025-01-01T00:00:00Z" }],
    }),
    undefined,
  );
  assert.deepEqual(
    statusPatch(standing, { capacity: { cpu: "5" }, addresses: [{ type: "Hostname", address: "b" }] }),
    {
      capacity: { cpu: "5" },
      addresses: [{ type: "Hostname", address: "b" }, { $patch: "replace" }],
    },
  );
  assert.deepEqual(statusPatch({ capacity: { "hugepages-2Mi": "0" } }, { capacity: { cpu: "1" } }), {
    capacity: { cpu: "1", "hugepages-2Mi": null },
  });
});

const interfaces = () => ({
  lo: [{ address: "127.0.0.1", internal: true }],
  eth0: [
    { address: "10.1.0.5", internal: false },
    { address: "fd00::5", internal: false },
  ],
  eth1: [{ address: "10.2.0.5", internal: false }],
  eth2: [
    { address: "fd00::6", internal: false },
    { address: "10.3.0.5", internal: false },
  ],
  eth3: [{ address: "fd00::7", internal: false }],
});
const addressCases: [
  name: string,
  given: string[],
  hostname: string,
  named: string[],
  way: string | undefined,
  expected: string[],
][] = [
  [
    "configured addresses take precedence",
    ["10.9.9.9", "fd00::9"],
    "h",
    ["10.1.0.5"],
    "eth0",
    ["10.9.9.9", "fd00::9"],
  ],
  ["a host name that is an IP address", [], "10.7.7.7", [], "eth0", ["10.7.7.7"]],
  [
    "an address of the host name, if the machine has it",
    [],
    "h",
    ["192.0.2.1", "10.2.0.5"],
    "eth0",
    ["10.2.0.5"],
  ],
  ["the interface of the default route otherwise", [], "h", ["127.0.1.1"], "eth0", ["10.1.0.5"]],
  ["IPv6 is preferred if configured", ["::"], "h", [], "eth0", ["fd00::5"]],
  ["IPv4 goes before IPv6", [], "h", [], "eth2", ["10.3.0.5"]],
  ["IPv6 if there is no IPv4", [], "h", [], "eth3", ["fd00::7"]],
  ["any address without a default route", [], "h", [], undefined, ["10.1.0.5"]],
];
for (const [name, given, hostname, named, way, expected] of addressCases) {
  test(`the node's address: ${name}`, async () => {
    assert.deepEqual(
      await nodeAddresses({
        given,
        hostname,
        interfaces,
        lookUp: () => Promise.resolve(named),
        defaultInterface: () => Promise.resolve(way),
      }),
      expected,
    );
  });
}

const clouds: [
  name: string,
  externalCloud: boolean,
  nodeIps: string[],
  annotation: string | undefined,
  isReported: boolean,
][] = [
  ["a node without external cloud reports its addresses", false, ["10.0.0.1"], undefined, true],
  [
    "a node with external cloud is annotated with the configured address",
    true,
    ["10.0.0.1"],
    "10.0.0.1",
    true,
  ],
  ["without a configured address the cloud controller sets the addresses", true, [], undefined, false],
  ["an unspecified address is not a configured address", true, ["0.0.0.0"], undefined, false],
];
for (const [name, externalCloud, nodeIps, annotation, isReported] of clouds)
  test(name, () => {
    const identity = {
      dialect: dialects.orch,
      name: "n1",
      labels: {},
      taints: [],
      schedulable: true,
      providerId: "",
      controllerAttaches: false,
      port: 10250,
      externalCloud,
      nodeIps,
    };
    const facts = { machine: {}, capacity: {}, allocatable: {}, addresses: ["10.0.0.1"], hostname: "n1" };
    const { metadata, status } = freshNode(identity, facts as never);
    assert.equal(metadata.annotations?.[dialects.orch.names.annotations.providedNodeIp], annotation);
    assert.equal(status.addresses !== undefined, isReported);
  });
