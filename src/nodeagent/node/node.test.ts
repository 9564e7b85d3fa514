import assert from "node:assert/strict";
import { test } from "node:test";
import { silentLog, virtualClock } from "#base";
import { dialects } from "#dialect";
import { fakeApi } from "../fake-api.fixture.ts";
import { csiNode } from "./csi-node.ts";
import { nodeLease } from "./lease.ts";
import type { NodeHealth } from "./conditions.ts";
import type { NodeIdentity, NodeStatusFacts } from "./node-object.ts";
import { nodeLifecycle } from "./node.ts";

const machine = {
  cpus: 2,
  memoryBytes: 1,
  swapBytes: 0,
  hugepages: [],
  machineId: "m",
  systemUuid: "s",
  bootId: "b",
  kernelVersion: "6",
  osImage: "An OS",
  architecture: "arm64",
  maxPids: 9,
  cores: 1,
  sockets: 1,
  appArmor: false,
  selinux: false,
};
const facts: NodeStatusFacts = {
  machine,
  capacity: { cpu: "2" },
  allocatable: { cpu: "1" },
  addresses: ["10.0.0.1"],
  hostname: "n1",
  runtimeVersion: "rt://1",
  agentVersion: "v1",
  images: [],
};
const health: NodeHealth = { memoryPressure: false, diskPressure: false, pidPressure: false, problems: [] };

function setUp(
  dialect = dialects.orch,
  changes: Partial<NodeIdentity> = {},
  { register = true, online = true, isNew = false } = {},
) {
  const clock = virtualClock(Date.UTC(2024, 0, 1));
  const api = fakeApi(dialect);
  const seen = { facts, health };
  const events: string[] = [];
  const identity: NodeIdentity = {
    dialect,
    name: "n1",
    labels: { mine: "yes" },
    taints: [],
    schedulable: true,
    providerId: "",
    controllerAttaches: true,
    port: 10250,
    externalCloud: false,
    ...changes,
  };
  const life = nodeLifecycle({
    ...(online && { client: api.client }),
    clock,
    log: silentLog,
    events: { event: (_, __, reason) => void events.push(reason) },
    identity,
    register,
    updateMilliseconds: 10_000,
    reportMilliseconds: 300_000,
    isNew: async () => isNew,
    observe: () => Promise.resolve({ ...seen }),
  });
  const settle = async (): Promise<void> => {
    for (let i = 0; i < 60; i++) await new Promise((resolve) => setImmediate(resolve));
  };
  const node = () =>
    api.objects.get("/api/v1/nodes/n1") as never as
      | { metadata: Record<string, never>; spec: object; status: Record<string, never> }
      | undefined;
  const patches = (): number =>
    api.requests.filter((line) => line.startsWith("PATCH") && line.includes("/status")).length;
  return { clock, api, seen, events, life, settle, node, patches };
}

test("a node registers with labels, annotations and its whole status", async (t) => {
  const { life, settle, node, events } = setUp();
  t.after(() => life.stop());
  await life.start();
  await settle();
  const { labels, annotations } = node()!.metadata as never as { labels: object; annotations: object };
  const { orch } = dialects;
  assert.deepEqual(labels, {
    [orch.names.labels.betaArch]: "arm64",
    [orch.names.labels.betaOs]: "linux",
    [orch.names.labels.arch]: "arm64",
    [orch.names.labels.hostname]: "n1",
    [orch.names.labels.os]: "linux",
    mine: "yes",
  });
  assert.deepEqual(annotations, { [orch.names.annotations.controllerManagedAttach]: "true" });
  const status = node()!.status as never as {
    addresses: object;
    daemonEndpoints: object;
    conditions: { type: string }[];
  };
  assert.deepEqual(status.addresses, [
    { type: "InternalIP", address: "10.0.0.1" },
    { type: "Hostname", address: "n1" },
  ]);
  assert.deepEqual(status.daemonEndpoints, { nodeagentEndpoint: { Port: 10250 } });
  assert.equal(status.conditions.length, 4);
  assert.deepEqual(events, [
    "Starting",
    "NodeHasSufficientMemory",
    "NodeHasNoDiskPressure",
    "NodeHasSufficientPID",
  ]);
  assert.deepEqual(
    [life.hostIps(), life.allocatable(), life.labels()["mine"]],
    [["10.0.0.1"], { cpu: "1" }, "yes"],
  );
});

test("fields of the other dialect use that dialect's names", async (t) => {
  const { life, settle, node } = setUp(dialects.kubernetes);
  t.after(() => life.stop());
  await life.start();
  await settle();
  const { daemonEndpoints, nodeInfo } = node()!.status as never as {
    daemonEndpoints: object;
    nodeInfo: object;
  };
  const field = dialects.kubernetes.spelling.field;
  assert.deepEqual(Object.keys(daemonEndpoints), [field("nodeagentEndpoint")]);
  assert.ok(field("nodeagentVersion") in nodeInfo && field("orchProxyVersion") in nodeInfo);
});

test("taints and unschedulable are registered", async (t) => {
  const taint = { key: "a", value: "b", effect: "NoExecute" };
  const { life, settle, node } = setUp(dialects.orch, {
    taints: [taint],
    schedulable: false,
    providerId: "x://1",
  });
  t.after(() => life.stop());
  await life.start();
  await settle();
  assert.deepEqual(node()!.spec, {
    providerID: "x://1",
    unschedulable: true,
    taints: [taint, { key: dialects.orch.names.taints.unschedulable, effect: "NoSchedule" }],
  });
});

test("a node that must not register is not created, regardless of its taints and schedulability", async (t) => {
  const { life, settle, node, api } = setUp(
    dialects.orch,
    { taints: [{ key: "a", effect: "NoExecute" }], schedulable: false },
    { register: false },
  );
  t.after(() => life.stop());
  await life.start();
  await settle();
  assert.equal(node(), undefined);
  assert.deepEqual(
    api.requests.filter((line) => line.startsWith("POST")),
    [],
  );
});

test("a node created by another client is updated, but neither tainted nor cordoned by an agent that must not register", async (t) => {
  const { life, settle, node, api } = setUp(
    dialects.orch,
    { taints: [{ key: "a", effect: "NoExecute" }], schedulable: false },
    { register: false },
  );
  api.objects.set("/api/v1/nodes/n1", { metadata: { name: "n1", uid: "u" }, spec: {}, status: {} });
  t.after(() => life.stop());
  await life.start();
  await settle();
  assert.deepEqual(node()!.spec, {});
  assert.equal((node()!.status as never as { conditions: object[] }).conditions.length, 4);
});

test("without an API server the node is not registered, but its facts are available", async (t) => {
  const { life, settle, api } = setUp(dialects.orch, {}, { online: false });
  t.after(() => life.stop());
  await life.start();
  await settle();
  assert.deepEqual(api.requests, []);
  assert.deepEqual([life.hostIps(), life.allocatable()], [["10.0.0.1"], { cpu: "1" }]);
});

test("an unchanged status is reported at the report frequency, a changed one at the update frequency", async (t) => {
  const { life, settle, clock, patches, seen, events, node } = setUp();
  t.after(() => life.stop());
  await life.start();
  await settle();
  const step = async (seconds: number): Promise<void> => {
    for (let i = 0; i < seconds; i += 10) {
      await clock.advance(10_500);
      await settle();
    }
  };
  const first = patches();
  await step(250);
  assert.equal(patches(), first);
  await step(60);
  assert.equal(patches(), first + 1, "reported although nothing has changed");
  seen.health = { ...health, problems: ["container runtime is down"] };
  await step(20);
  assert.equal(patches(), first + 2);
  assert.equal(events.at(-1), "NodeNotReady");
  seen.health = health;
  life.triggerStatusUpdate();
  await settle();
  assert.equal(events.at(-1), "NodeReady");
  assert.equal(
    (node()!.status as never as { conditions: { status: string }[] }).conditions.at(-1)!.status,
    "True",
  );
});

test("a deleted node is registered again", async (t) => {
  const { life, settle, clock, api, node } = setUp();
  t.after(() => life.stop());
  await life.start();
  await settle();
  await api.client.request("DELETE", "/api/v1/nodes/n1");
  assert.equal(node(), undefined);
  await clock.advance(10_500);
  await settle();
  assert.ok(node(), "the node exists again");
});

test("changed labels of operating system and architecture are restored, others are not", async (t) => {
  const { life, settle, clock, api, node } = setUp();
  t.after(() => life.stop());
  await life.start();
  await settle();
  const { arch, os } = dialects.orch.names.labels;
  await api.client.request("PUT", "/api/v1/nodes/n1", {
    ...node(),
    metadata: { ...node()!.metadata, labels: { [arch]: "wrong", mine: "no" } },
  });
  await settle();
  await clock.advance(10_500);
  await settle();
  const labels = node()!.metadata["labels"] as unknown as Record<string, string>;
  assert.deepEqual([labels[arch], labels[os], labels["mine"]], ["arm64", "linux", "no"]);
});

test("an existing node keeps all labels except those that describe its machine", async (t) => {
  const { arch, zone, hostname, instanceType, region } = dialects.orch.names.labels;
  const labels = { mine: "yes", other: "new", [zone]: "z1", [instanceType]: "", [region]: "" };
  const { life, settle, api, node } = setUp(undefined, { labels });
  t.after(() => life.stop());
  await api.client.request("POST", "/api/v1/nodes", {
    metadata: {
      name: "n1",
      labels: { theirs: "1", mine: "no", [arch]: "wrong", [zone]: "z2", [instanceType]: "small" },
    },
  });
  await life.start();
  await settle();
  const found = node()!.metadata["labels"] as unknown as Record<string, string>;
  assert.deepEqual(
    ["theirs", "mine", "other", arch, zone, hostname, instanceType, region].map((name) => found[name]),
    ["1", "no", undefined, "arm64", "z1", "n1", undefined, undefined],
  );
});

for (const [isNew, amount] of [
  [true, "0"],
  [false, "4"],
] as const)
  test(`extended resources of an existing node are ${amount} after the start of ${isNew ? "a new" : "an"} agent`, async (t) => {
    const { life, settle, api, node } = setUp(undefined, {}, { isNew });
    t.after(() => life.stop());
    const amounts = { cpu: "8", "example.com/device": "4" };
    await api.client.request("POST", "/api/v1/nodes", {
      metadata: { name: "n1" },
      status: { capacity: amounts, allocatable: amounts },
    });
    await life.start();
    await settle();
    const { capacity, allocatable } = node()!.status as never as Record<string, Record<string, string>>;
    assert.deepEqual(
      [capacity?.["example.com/device"], allocatable?.["example.com/device"], capacity?.["cpu"]],
      [amount, amount, "2"],
    );
  });

test("a restarted agent records events for the current conditions", async (t) => {
  const { life, settle, api, events } = setUp();
  t.after(() => life.stop());
  const conditions = [
    ["MemoryPressure", "False"],
    ["DiskPressure", "False"],
    ["PIDPressure", "False"],
    ["Ready", "True"],
  ].map(([type, status]) => ({ type, status }));
  await api.client.request("POST", "/api/v1/nodes", {
    metadata: { name: "n1" },
    status: { conditions, nodeInfo: { bootID: "b" } },
  });
  await life.start();
  await settle();
  assert.deepEqual(events, [
    "Starting",
    "NodeHasSufficientMemory",
    "NodeHasNoDiskPressure",
    "NodeHasSufficientPID",
  ]);
});

test("extended resources set by other components become allocatable", async (t) => {
  const { life, settle, api, node } = setUp();
  t.after(() => life.stop());
  const status = { capacity: { "example.com/dongle": "3", "hugepages-1Gi": "1" }, allocatable: {} };
  await api.client.request("POST", "/api/v1/nodes", { metadata: { name: "n1" }, status });
  await life.start();
  await settle();
  const { capacity, allocatable } = node()!.status as never as Record<string, Record<string, string>>;
  assert.deepEqual(
    [capacity!["example.com/dongle"], allocatable!["example.com/dongle"], allocatable!["hugepages-1Gi"]],
    ["3", "3", undefined],
  );
});

test("the allocatable resources written by an earlier agent are remembered", async (t) => {
  const { life, settle, api, node } = setUp();
  t.after(() => life.stop());
  assert.deepEqual(life.recordedAllocatable(), {});
  const status = { allocatable: { cpu: "2" } };
  await api.client.request("POST", "/api/v1/nodes", { metadata: { name: "n1" }, status });
  await life.start();
  await settle();
  const { allocatable } = node()!.status as never as { allocatable: object };
  assert.deepEqual([life.recordedAllocatable(), allocatable], [{ cpu: "2" }, { cpu: "1" }]);
});

test("a reboot is an event", async (t) => {
  const { life, settle, api, events } = setUp();
  t.after(() => life.stop());
  await api.client.request("POST", "/api/v1/nodes", {
    metadata: { name: "n1" },
    status: { nodeInfo: { bootID: "older" } },
  });
  await life.start();
  await settle();
  assert.ok(events.includes("Rebooted"));
});

test("cordoning and uncordoning a node are events", async (t) => {
  const { life, settle, api, events } = setUp();
  t.after(() => life.stop());
  await life.start();
  await settle();
  events.length = 0;
  for (const unschedulable of [true, true, false]) {
    await api.client.request("PUT", "/api/v1/nodes/n1", {
      ...api.objects.get("/api/v1/nodes/n1"),
      spec: { unschedulable },
    });
    await settle();
  }
  assert.deepEqual(events, ["NodeNotSchedulable", "NodeSchedulable"]);
});

test("the lease is created, owned by the node and renewed after every quarter of its duration", async (t) => {
  const clock = virtualClock(Date.UTC(2024, 0, 1));
  const api = fakeApi();
  const lease = nodeLease({
    client: api.client,
    clock,
    log: silentLog,
    nodeName: "n1",
    seconds: 40,
    nodeUid: () => "u1",
  });
  t.after(() => lease.stop());
  const path = `/apis/coordination.${dialects.orch.wire.groupSuffix}/v1/namespaces/${dialects.orch.data.nodeLeaseNamespace}/leases/n1`;
  const settle = async (): Promise<void> => {
    for (let i = 0; i < 30; i++) await new Promise((resolve) => setImmediate(resolve));
  };
  await settle();
  const held = () =>
    api.objects.get(path) as never as { metadata: { ownerReferences: object }; spec: object };
  assert.deepEqual(held().metadata.ownerReferences, [
    { apiVersion: "v1", kind: "Node", name: "n1", uid: "u1" },
  ]);
  assert.deepEqual(held().spec, {
    holderIdentity: "n1",
    leaseDurationSeconds: 40,
    renewTime: "2024-01-01T00:00:00.000000Z",
  });
  await clock.advance(10_000);
  await settle();
  assert.equal((held().spec as { renewTime: string }).renewTime, "2024-01-01T00:00:10.000000Z");
  api.objects.delete(path);
  await clock.advance(20_000);
  await settle();
  assert.ok(held(), "created again");
});

test("the CSINode object is created, and gets the owner reference of a recreated node", async () => {
  const clock = virtualClock();
  const api = fakeApi();
  const path = `/apis/storage.${dialects.orch.wire.groupSuffix}/v1/csinodes/n1`;
  const make = (nodeUid: string): Promise<void> =>
    csiNode({ client: api.client, clock, log: silentLog, nodeName: "n1", nodeUid: () => nodeUid }).ensure(
      new AbortController().signal,
    );
  await make("u1");
  const held = () =>
    api.objects.get(path) as never as {
      metadata: { annotations: Record<string, string>; ownerReferences: { uid: string }[] };
      spec: object;
    };
  assert.deepEqual(held().spec, { drivers: [] });
  assert.match(Object.values(held().metadata.annotations)[0]!, /\/aws-ebs,.*\/vsphere-volume$/);
  await make("u2");
  assert.equal(held().metadata.ownerReferences[0]!.uid, "u2");
  const before = api.requests.length;
  await make("u2");
  assert.deepEqual(api.requests.slice(before), [`GET ${path}`]);
});

test("drivers of the node are published in its CSINode object, its annotation and its labels", async () => {
  const api = fakeApi();
  const path = `/apis/storage.${dialects.orch.wire.groupSuffix}/v1/csinodes/n1`;
  const node = "/api/v1/nodes/n1";
  api.objects.set(node, { metadata: { name: "n1", annotations: { other: "stays" } } });
  const storage = csiNode({
    client: api.client,
    clock: virtualClock(),
    log: silentLog,
    nodeName: "n1",
    nodeUid: () => "u1",
  });
  const published = () => [
    (api.objects.get(path) as never as { spec: { drivers: object[] } }).spec.drivers,
    (api.objects.get(node) as never as { metadata: object }).metadata,
  ];
  const segments = { "example.com/zone": "z1" };
  await storage.install("a.test", { nodeId: "n-1", maxVolumesPerNode: 7, accessibleTopology: { segments } });
  await storage.install("b.test", { nodeId: "n-2" });
  await storage.install("b.test", { nodeId: "n-3" });
  const [drivers, metadata] = published();
  assert.deepEqual(drivers, [
    { name: "a.test", nodeID: "n-1", topologyKeys: ["example.com/zone"], allocatable: { count: 7 } },
    { name: "b.test", nodeID: "n-3", topologyKeys: null },
  ]);
  const { annotations, labels } = metadata as { annotations: Record<string, string>; labels: object };
  assert.deepEqual(annotations, {
    other: "stays",
    "csi.volume.orch.io/nodeid": '{"a.test":"n-1","b.test":"n-3"}',
  });
  assert.deepEqual(labels, segments);
  // An unchanged registration changes nothing, not even the order.
  await storage.install("a.test", { nodeId: "n-1", maxVolumesPerNode: 7, accessibleTopology: { segments } });
  assert.deepEqual(published(), [drivers, metadata]);
  const moved = { segments: { "example.com/zone": "z2" } };
  await assert.rejects(storage.install("c.test", { nodeId: "n-4", accessibleTopology: moved }), {
    message:
      "error updating Node object with CSI driver node info: error updating node: timed out waiting for the condition; caused by: " +
      'detected topology value collision: driver reported "example.com/zone":"z2" but existing label is "example.com/zone":"z1"',
  });
  await assert.rejects(storage.install("c.test", { nodeId: "" }), {
    message: "error adding CSI driver node info: driverNodeID must not be empty",
  });
  await storage.remove("a.test");
  await storage.remove("b.test");
  const [left, after] = published() as [object[], { annotations: object; labels: object }];
  assert.deepEqual([left, after.annotations, after.labels], [[], { other: "stays" }, segments]);
});
