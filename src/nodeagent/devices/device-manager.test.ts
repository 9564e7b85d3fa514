import assert from "node:assert/strict";
import { test } from "node:test";
import { type Log, silentLog, virtualClock } from "#base";
import { GrpcError } from "#http";
import type { CheckpointStore } from "../interfaces.ts";
import { podOf } from "../managers/managers.fixture.ts";
import { type DeviceManagerOptions, deviceManager } from "./device-manager.ts";
import type { ContainerAllocateResponse, PluginDevice } from "./messages.ts";
import type { DevicePluginConnection } from "./plugin-connection.ts";

const resource = "example.com/dev";
const nowhere = { nodes: undefined, preferred: false };
const response: ContainerAllocateResponse = {
  envs: { DEV: "1" },
  mounts: [{ containerPath: "/m", hostPath: "/h", readOnly: true }],
  devices: [{ containerPath: "/dev/x", hostPath: "/dev/null", permissions: "rw" }],
  annotations: { note: "x" },
  cdiDevices: [],
};
const { signal } = new AbortController();
const podRequesting = (uid: string, count: number) => {
  const pod = podOf(uid, [{ name: "c" }]);
  pod.spec.containers![0]!.resources = { limits: { [resource]: String(count) } };
  return pod;
};

/** Returns a fake plug-in that reports its devices on demand. */
function fakePlugin(ids: readonly string[], options: DevicePluginConnection["options"] = {}) {
  const calls: string[] = [];
  let report: (devices: readonly PluginDevice[]) => void = () => undefined;
  let disconnect: () => void = () => undefined;
  const state = { refusal: undefined as string | undefined, prefers: [] as readonly string[] };
  const healthy = (of: readonly string[]): readonly PluginDevice[] =>
    of.map((ID) => ({ ID, health: "Healthy" }));
  const plugin: DevicePluginConnection = {
    options,
    devices: async function* () {
      let devices: readonly PluginDevice[] | undefined = healthy(ids);
      while (devices) {
        yield devices;
        devices = await new Promise<readonly PluginDevice[] | undefined>((resolve) => {
          report = resolve;
          disconnect = () => resolve(undefined);
        });
      }
    },
    allocate: async (devices) => {
      calls.push(`allocate ${devices.join(",")}`);
      if (state.refusal !== undefined) throw new GrpcError("UNKNOWN", state.refusal);
      return response;
    },
    preferred: async ({ available }, size) => {
      calls.push(`preferred ${available.join(",")} ${size}`);
      return state.prefers;
    },
    preStart: async (devices) => {
      calls.push(`start ${devices.join(",")}`);
      if (state.refusal !== undefined) throw new GrpcError("UNKNOWN", state.refusal);
    },
    close: () => undefined,
  };
  return {
    plugin,
    calls,
    state,
    report: (devices: readonly PluginDevice[]) => report(devices),
    leave: () => disconnect(),
  };
}

async function begin(options: Partial<DeviceManagerOptions> = {}, files = new Map<string, string>()) {
  const clock = virtualClock();
  const store: CheckpointStore = {
    read: async (name) => files.get(name),
    write: async (name, text) => void files.set(name, text),
    remove: async (name) => void files.delete(name),
    names: async () => [...files.keys()],
  };
  const manager = await deviceManager({
    clock,
    log: silentLog,
    store,
    checkpoint: "devices",
    numaNodes: [0],
    isRunning: () => false,
    onChange: () => undefined,
    ...options,
  });
  const admit = async (pod: ReturnType<typeof podRequesting>) => {
    for (const container of [...(pod.spec.initContainers ?? []), ...(pod.spec.containers ?? [])])
      manager.reserve(pod, container, nowhere);
    return await manager.confirm(pod, signal);
  };
  return { clock, files, manager, admit };
}
/** Lets pending promises settle. */
const settle = async (): Promise<void> => {
  for (let turn = 0; turn < 20; turn++) await Promise.resolve();
};

test("a plug-in's devices are node capacity, healthy ones are allocatable, and a lost plug-in has none", async () => {
  const { manager, clock } = await begin();
  const { plugin, report, leave } = fakePlugin(["d1", "d2"]);
  const followed = manager.follow(resource, plugin, signal);
  await settle();
  const amounts = (): string[] => {
    const { capacity, allocatable } = manager.amounts();
    return [capacity[resource]!, allocatable[resource]!];
  };
  assert.deepEqual(amounts(), ["2", "2"]);
  report([
    { ID: "d1", health: "Unhealthy" },
    { ID: "d2", health: "Healthy" },
  ]);
  await settle();
  assert.deepEqual(amounts(), ["2", "1"]);
  leave();
  await followed;
  clock.set(clock.now() + 3_600_000);
  assert.deepEqual(amounts(), ["2", "0"]);
  await clock.advance(300_000);
  assert.deepEqual(amounts(), ["0", "0"]);
});

test("a resource is forgotten five minutes after its plug-in was lost, until it registers again", async () => {
  const { manager, clock, admit, files } = await begin();
  const { plugin, leave } = fakePlugin(["d1"]);
  const followed = manager.follow(resource, plugin, signal);
  await settle();
  leave();
  await followed;
  const pod = podRequesting("a", 1);
  await assert.rejects(admit(pod), { message: /^no healthy devices present; cannot allocate/ });
  await clock.advance(300_000);
  assert.deepEqual(manager.amounts().allocatable, { [resource]: "0" });
  await settle();
  // The check of the node's resources rejects the pod instead.
  assert.deepEqual([await admit(pod), manager.allocated(resource)], [{ ok: true }, undefined]);
  assert.doesNotMatch(files.get("devices")!, new RegExp(resource));
  void manager.follow(resource, fakePlugin(["d1"]).plugin, signal);
  await settle();
  assert.deepEqual(manager.amounts().allocatable, { [resource]: "1" });
});

test("a pod gets its devices from the plug-in, and containers get the response's contents", async () => {
  const { manager, admit } = await begin();
  const { plugin, calls } = fakePlugin(["d1", "d2", "d3"]);
  void manager.follow(resource, plugin, signal);
  await settle();
  const pod = podRequesting("a", 2);
  assert.deepEqual(await admit(pod), { ok: true });
  assert.deepEqual(calls, ["allocate d1,d2"]);
  const given = await manager.contribute(pod, pod.spec.containers![0]!, signal);
  assert.deepEqual(given, {
    environment: { DEV: "1" },
    annotations: { note: "x" },
    mounts: [{ containerPath: "/m", hostPath: "/h", readonly: true }],
    devices: [{ containerPath: "/dev/x", hostPath: "/dev/null", permissions: "rw" }],
    cdiDevices: [],
  });
  assert.deepEqual(
    manager.containerDevices("a", "c").map(({ id }) => id),
    ["d1", "d2"],
  );
  assert.throws(
    () => manager.reserve(podRequesting("b", 2), podRequesting("b", 2).spec.containers![0]!, nowhere),
    {
      message: `requested number of devices unavailable for ${resource}. Requested: 2, Available: 1`,
    },
  );
  manager.free("a");
  assert.deepEqual(await admit(podRequesting("b", 2)), { ok: true });
});

test("a pod is rejected if the plug-in fails to allocate, and its devices are freed", async () => {
  const { manager, admit } = await begin();
  const { plugin, state } = fakePlugin(["d1"]);
  void manager.follow(resource, plugin, signal);
  await settle();
  state.refusal = "no luck";
  assert.deepEqual(await admit(podRequesting("a", 1)), {
    ok: false,
    reason: "UnexpectedAdmissionError",
    message: "Allocate failed due to rpc error: code = Unknown desc = no luck, which is unexpected",
  });
  assert.equal(manager.allocated(resource), 0);
});

test("preferences are applied, devices of init containers are reused, and PreStartContainer is called", async () => {
  const { manager, admit } = await begin();
  const { plugin, state, calls } = fakePlugin(["d1", "d2", "d3"], {
    preferredAvailable: true,
    preStartRequired: true,
  });
  void manager.follow(resource, plugin, signal);
  await settle();
  state.prefers = ["d3"];
  const pod = podRequesting("a", 1);
  pod.spec.initContainers = [{ ...pod.spec.containers![0]!, name: "i" }];
  assert.deepEqual(await admit(pod), { ok: true });
  assert.deepEqual(calls, ["preferred d1,d2,d3 1", "allocate d3", "allocate d3"]);
  await manager.contribute(pod, pod.spec.containers![0]!, signal);
  assert.equal(calls.at(-1), "start d3");
  state.refusal = "not now";
  await assert.rejects(manager.contribute(pod, pod.spec.containers![0]!, signal), {
    message: "device plugin PreStartContainer rpc failed with err: rpc error: code = Unknown desc = not now",
  });
});

test("a restarted agent keeps devices of running containers and has no capacity until the plug-in registers", async () => {
  const before = await begin();
  const { plugin } = fakePlugin(["d1", "d2"]);
  void before.manager.follow(resource, plugin, signal);
  await settle();
  await before.admit(podRequesting("a", 1));
  await settle();
  const running = await begin({ isRunning: () => true }, before.files);
  assert.deepEqual(running.manager.amounts(), {
    capacity: { [resource]: "0" },
    allocatable: { [resource]: "0" },
  });
  assert.deepEqual(await running.admit(podRequesting("a", 1)), { ok: true });
  assert.deepEqual(running.manager.containerDevices("a", "c"), [{ resource, id: "d1", nodes: [] }]);
  const stopped = await begin({}, before.files);
  assert.throws(
    () => stopped.manager.reserve(podRequesting("a", 1), podRequesting("a", 1).spec.containers![0]!, nowhere),
    {
      message: `no healthy devices present; cannot allocate unhealthy devices ${resource}`,
    },
  );
});

test("a running container is not rejected even if the checkpoint lacks its devices", async () => {
  const before = await begin();
  void before.manager.follow(resource, fakePlugin(["d1", "d2"]).plugin, signal);
  await settle();
  await before.admit(podRequesting("a", 1));
  await settle();
  const after = await begin({ isRunning: (uid) => uid === "b" }, before.files);
  assert.deepEqual(await after.admit(podRequesting("b", 1)), { ok: true });
  await assert.rejects(async () => after.admit(podRequesting("c", 1)), /no healthy devices present/);
});

test("a corrupted checkpoint is logged and not used", async () => {
  const warnings: string[] = [];
  const log: Log = { ...silentLog, warn: (message) => void warnings.push(message) };
  const files = new Map([
    ["devices", '{"Data":{"PodDeviceEntries":null,"RegisteredDevices":{"x/y":[]}},"Checksum":1}'],
  ]);
  const { manager } = await begin({ log }, files);
  assert.deepEqual(manager.amounts().capacity, {});
  assert.deepEqual(warnings, ["device checkpoint is unusable; allocations may be out of date"]);
});
