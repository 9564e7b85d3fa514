import assert from "node:assert/strict";
import { mkdir, readFile, readdir, readlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { silentLog } from "#base";
import { dialects } from "#dialect";
import { GrpcError } from "#http";
import { podWith, setUp } from "../volumes/volumes.fixture.ts";
import { csiAttachments } from "./attachments.ts";
import { csiPlugin } from "./csi-plugin.ts";
import type { CsiDriver, CsiDrivers } from "./drivers.ts";
import { nodeCapability } from "./messages.ts";
import { attachmentName } from "./volume-data.ts";

const dialect = dialects.orch;
const storage = `/apis/storage.${dialect.wire.groupSuffix}/v1`;
const { signal } = new AbortController();
const capacity = (storageSize: string) => ({ storage: storageSize });

/** Sets up pod volumes with a fake driver that records its calls. */
async function begin(
  t: TestContext,
  { can = [nodeCapability.stage] as readonly number[], byController = true } = {},
) {
  const environment = await setUp(t);
  const { folder, api, clock, mounter, events } = environment;
  const calls: { readonly method: string; readonly request: Record<string, unknown> }[] = [];
  const state = {
    error: undefined as string | undefined,
    canExpandInUse: true,
    isRegistered: true,
  };
  const driver: CsiDriver = {
    name: "d.test",
    can: async (capability) => can.includes(capability),
    call: async (method, request) => {
      const name = method.call.path.split("/Node").at(-1)!;
      if (state.error !== undefined) throw new GrpcError("INTERNAL", state.error);
      const given = request as unknown as Record<string, unknown>;
      calls.push({ method: name, request: given });
      if (name === "ExpandVolume" && !state.canExpandInUse)
        throw new GrpcError("FAILED_PRECONDITION", "volume in use");
      const target = given["targetPath"] as string;
      if (name === "PublishVolume" && "block" in (given["volumeCapability"] as object))
        await writeFile(target, "");
      else if (name === "PublishVolume") {
        await mkdir(target, { recursive: true });
        mounter.points.push(target);
      }
      if (name === "UnpublishVolume") mounter.points.splice(mounter.points.indexOf(target), 1);
      return (
        name === "GetVolumeStats" ? { usage: [{ unit: 1, total: 10, available: 7, used: 3 }] } : {}
      ) as never;
    },
  };
  const drivers: CsiDrivers = {
    has: (name) => name === driver.name && state.isRegistered,
    get: (name) => {
      if (name === driver.name && state.isRegistered) return driver;
      throw new Error(`driver name ${name} not found in the list of registered CSI drivers`);
    },
    handler: undefined as never,
    close: () => undefined,
  };
  const aPlugin = () =>
    csiPlugin({
      dialect,
      log: silentLog,
      events: { event: ({ kind }, _, reason, message) => void events.push(`${kind} ${reason}: ${message}`) },
      client: api.client,
      drivers,
      attachments: csiAttachments({ client: api.client, clock, nodeName: "n1", byController }),
      mounter,
      tokens: { request: async () => ({ token: "t", expirationTimestamp: "2024-01-01T01:00:00Z" }) },
      nodeName: "n1",
      podsFolder: join(folder, "pods"),
      pluginFolder: join(folder, "plugins", "csi"),
    });
  const plugin = aPlugin();
  const volumes = environment.anAgent({ plugins: [plugin] });
  const named = (path: string, kind: string, object: object): void =>
    void api.objects.set(path, {
      kind,
      ...object,
      metadata: { ...(object as { metadata?: object }).metadata, name: path.split("/").at(-1), uid: "x" },
    });
  const driverObject = (spec: object): void => named(`${storage}/csidrivers/d.test`, "CSIDriver", { spec });
  /** Adds a bound claim named `c`. */
  const claimed = (spec: object = {}, size = "1Gi", known = "1Gi"): void => {
    const claim = "/api/v1/namespaces/ns/persistentvolumeclaims/c";
    named(claim, "PersistentVolumeClaim", {
      metadata: { namespace: "ns" },
      spec: { volumeName: "pv1" },
      status: { phase: "Bound", capacity: capacity(known) },
    });
    named("/api/v1/persistentvolumes/pv1", "PersistentVolume", {
      spec: {
        csi: { driver: "d.test", volumeHandle: "h1", fsType: "ext4", volumeAttributes: { a: "b" } },
        claimRef: { uid: "x" },
        accessModes: ["ReadWriteOnce"],
        capacity: capacity(size),
        ...spec,
      },
    });
  };
  const called = (): string[] => calls.map(({ method }) => method);
  return { ...environment, volumes, plugin, aPlugin, calls, called, state, driverObject, claimed, driver };
}
const claiming = podWith({ persistentVolumeClaim: { claimName: "c" } });

test("a volume is staged once, published for each pod, and unstaged after the last pod has released it", async (t) => {
  const { volumes, calls, called, driverObject, claimed, folder } = await begin(t);
  driverObject({ attachRequired: false });
  claimed();
  const other = podWith({ persistentVolumeClaim: { claimName: "c" } }, {}, { uid: "u2" });
  const mounted = (await volumes.mount(claiming, signal)).get("v")!;
  assert.match(mounted.hostPath, /\/pods\/u1\/volumes\/orch\.io~csi\/pv1\/mount$/);
  await volumes.mount(other, signal);
  assert.deepEqual(called(), ["StageVolume", "PublishVolume", "PublishVolume"]);
  const { volumeId, stagingTargetPath, volumeContext, volumeCapability } = calls[0]!.request;
  assert.equal(volumeId, "h1");
  assert.match(String(stagingTargetPath), /\/plugins\/csi\/d\.test\/[0-9a-f]{64}\/globalmount$/);
  assert.deepEqual(volumeContext, { a: "b" });
  assert.deepEqual(volumeCapability, { mount: { fsType: "ext4", mountFlags: [] }, accessMode: { mode: 1 } });
  await volumes.release("u1");
  assert.equal(called().at(-1), "UnpublishVolume");
  await volumes.release("u2");
  assert.deepEqual(called().slice(-2), ["UnpublishVolume", "UnstageVolume"]);
  assert.deepEqual(await readdir(join(folder, "plugins", "csi", "d.test")), []);
});

test("a restarted agent tears a volume down from the data recorded next to it", async (t) => {
  const { volumes, called, driverObject, claimed, state, anAgent, plugin } = await begin(t);
  driverObject({ attachRequired: false });
  claimed();
  const { hostPath } = (await volumes.mount(claiming, signal)).get("v")!;
  const data = JSON.parse(await readFile(join(hostPath, "..", "vol_data.json"), "utf8")) as object;
  assert.deepEqual(data, {
    driverName: "d.test",
    volumeHandle: "h1",
    specVolID: "pv1",
    nodeName: "n1",
    attachmentID: "",
    volumeLifecycleMode: "Persistent",
  });
  const later = anAgent({ plugins: [plugin] });
  state.isRegistered = false;
  await assert.rejects(later.release("u1"), /driver name d\.test not found/);
  state.isRegistered = true;
  await later.release("u1");
  assert.deepEqual(called().slice(-2), ["UnpublishVolume", "UnstageVolume"]);
});

test("a volume that must be attached waits for its attachment, whose metadata the driver gets", async (t) => {
  const { volumes, api, clock, calls, claimed, plugin, aPlugin, anAgent } = await begin(t);
  claimed();
  const name = attachmentName("h1", "d.test", "n1");
  const mounting = volumes.mount(claiming, signal);
  while (!api.requests.includes(`GET ${storage}/volumeattachments/${name}`))
    await new Promise((resolve) => setImmediate(resolve));
  api.objects.set(`${storage}/volumeattachments/${name}`, {
    metadata: { name },
    status: { attached: true, attachmentMetadata: { device: "sdx" } },
  });
  await new Promise((resolve) => setImmediate(resolve));
  await clock.advance(1000);
  await mounting;
  assert.deepEqual(calls[0]!.request["publishContext"], { device: "sdx" });
  assert.deepEqual(plugin.inUse(), ["orch.io/csi/d.test^h1"]);
  const later = aPlugin();
  await anAgent({ plugins: [later] }).reconstruct();
  assert.deepEqual(later.inUse(), ["orch.io/csi/d.test^h1"], "it is in use after a restart, too");
  await volumes.release("u1");
  assert.deepEqual(plugin.inUse(), []);
  assert.ok(api.objects.has(`${storage}/volumeattachments/${name}`), "the controller detaches");
});

test("an attachment is waited for two minutes, even if the clock is set back", async (t) => {
  const { api, clock } = await setUp(t);
  const attachments = csiAttachments({ client: api.client, clock, nodeName: "n1", byController: true });
  const volume = { driver: "d.test", handle: "h1", persistentName: "pv1" };
  let problem: Error | undefined;
  const waiting = attachments.await(volume, signal).catch((error: Error) => void (problem = error));
  clock.set(clock.now() - 3_600_000);
  for (let waits = 0; waits < 500 && !problem; waits++) {
    await new Promise((resolve) => setImmediate(resolve));
    await clock.advance(500);
  }
  assert.match(problem?.message ?? "still waiting", /volume h1 does not exist yet/);
  await waiting;
});

test("an agent that attaches volumes creates the attachment and deletes it in the end", async (t) => {
  const { volumes, api, clock, claimed } = await begin(t, { byController: false });
  claimed();
  const path = `${storage}/volumeattachments/${attachmentName("h1", "d.test", "n1")}`;
  const mounting = volumes.mount(claiming, signal);
  while (!api.objects.has(path)) await new Promise((resolve) => setImmediate(resolve));
  const made = api.objects.get(path)!;
  assert.deepEqual(made["spec"], {
    attacher: "d.test",
    nodeName: "n1",
    source: { persistentVolumeName: "pv1" },
  });
  made["status"] = { attached: true };
  await clock.advance(1000);
  await mounting;
  await volumes.release("u1");
  assert.equal(api.objects.has(path), false);
});

test("an inline volume is published with pod information, tokens and a handle of the pod", async (t) => {
  const { volumes, calls, called, driverObject } = await begin(t);
  driverObject({
    podInfoOnMount: true,
    volumeLifecycleModes: ["Ephemeral"],
    tokenRequests: [{ audience: "vault" }],
  });
  await volumes.mount(podWith({ csi: { driver: "d.test", volumeAttributes: { a: "b" } } }), signal);
  assert.deepEqual(called(), ["PublishVolume"]);
  const { volumeId, volumeContext } = calls[0]!.request;
  assert.match(String(volumeId), /^csi-[0-9a-f]{64}$/);
  const prefix = dialect.names.volumes.csiPodInfoPrefix;
  assert.deepEqual(volumeContext, {
    a: "b",
    [`${prefix}pod.name`]: "p",
    [`${prefix}pod.namespace`]: "ns",
    [`${prefix}pod.uid`]: "u1",
    [`${prefix}serviceAccount.name`]: "",
    [`${prefix}ephemeral`]: "true",
    [`${prefix}serviceAccount.tokens`]:
      '{"vault":{"token":"t","expirationTimestamp":"2024-01-01T01:00:00Z"}}',
  });
});

const refused: [name: string, driver: object | undefined, volume: object, message: RegExp][] = [
  [
    "of an unregistered driver",
    undefined,
    { csi: { driver: "x" } },
    /SetUp failed for volume "v" : orch\.io\/csi: mounter\.SetUpAt failed to get CSI client: driver name x not found in the list of registered CSI drivers/,
  ],
  [
    "of a driver without inline volumes",
    { volumeLifecycleModes: ["Persistent"] },
    { csi: { driver: "d.test" } },
    /volume mode "Ephemeral" not supported by driver d\.test/,
  ],
];
for (const [name, object, volume, message] of refused)
  test(`a volume ${name} is refused`, async (t) => {
    const { volumes, driverObject } = await begin(t);
    if (object) driverObject(object);
    await assert.rejects(volumes.mount(podWith(volume), signal), message);
  });

test("a driver's error text is reported", async (t) => {
  const { volumes, driverObject, claimed, state, events } = await begin(t);
  driverObject({ attachRequired: false });
  claimed();
  state.error = "disk is on fire";
  await assert.rejects(
    volumes.mount(claiming, signal),
    /driver d\.test failed to stage the volume: rpc error: code = Internal desc = disk is on fire/,
  );
  assert.match(events[0]!, /^FailedMount: /);
});

test("a grown volume has its file system expanded and its claim updated", async (t) => {
  const { volumes, api, called, calls, driverObject, claimed, events } = await begin(t, {
    can: [nodeCapability.expand],
  });
  driverObject({ attachRequired: false });
  claimed({}, "2Gi", "1Gi");
  await volumes.mount(claiming, signal);
  assert.deepEqual(called(), ["PublishVolume", "ExpandVolume"]);
  assert.deepEqual(calls[1]!.request["capacityRange"], { requiredBytes: 2 * 1024 ** 3 });
  const { status } = api.objects.get("/api/v1/namespaces/ns/persistentvolumeclaims/c") as never as {
    status: { capacity: object };
  };
  assert.deepEqual(status.capacity, capacity("2Gi"));
  claimed({}, "3Gi", "2Gi");
  await volumes.refresh(claiming);
  assert.equal(called().at(-1), "ExpandVolume");
  const text = 'FileSystemResizeSuccessful: MountVolume.NodeExpandVolume succeeded for volume "pv1" n1';
  assert.deepEqual(events.slice(0, 2), [`Pod ${text}`, `PersistentVolumeClaim ${text}`]);
});

test("a volume that cannot be expanded in use is mounted as it is, and not tried again", async (t) => {
  const { volumes, called, driverObject, claimed, state, events } = await begin(t, {
    can: [nodeCapability.expand],
  });
  driverObject({ attachRequired: false });
  claimed({}, "2Gi", "1Gi");
  state.canExpandInUse = false;
  await volumes.mount(claiming, signal);
  await volumes.refresh(claiming);
  assert.deepEqual([called(), events], [["PublishVolume", "ExpandVolume"], []]);
});

test("a driver with requiresRepublish publishes again", async (t) => {
  const { volumes, called, driverObject } = await begin(t);
  driverObject({ volumeLifecycleModes: ["Ephemeral"], requiresRepublish: true });
  const pod = podWith({ csi: { driver: "d.test" } });
  await volumes.mount(pod, signal);
  await volumes.refresh(pod);
  assert.deepEqual(called(), ["PublishVolume", "PublishVolume"]);
});

test("a block volume is published as a file and linked for the pod, and everything is removed again", async (t) => {
  const { volumes, called, calls, driverObject, claimed, folder } = await begin(t);
  driverObject({ attachRequired: false });
  claimed({ volumeMode: "Block" });
  const pod = podWith(
    { persistentVolumeClaim: { claimName: "c" } },
    { containers: [{ name: "c", volumeDevices: [{ name: "v", devicePath: "/dev/x" }] }] },
  );
  const { hostPath, isDevice } = (await volumes.mount(pod, signal)).get("v")!;
  assert.equal(isDevice, true);
  assert.equal(await readlink(hostPath), calls[1]!.request["targetPath"]);
  assert.deepEqual(calls[1]!.request["volumeCapability"], { block: {}, accessMode: { mode: 1 } });
  await volumes.release("u1");
  assert.deepEqual(called(), ["StageVolume", "PublishVolume", "UnpublishVolume", "UnstageVolume"]);
  const left = await readdir(join(folder, "plugins", "csi", "volumeDevices"), { recursive: true });
  assert.deepEqual(left.toSorted(), ["publish", "staging"]);
});

test("a driver reports the usage of its volume", async (t) => {
  const { volumes, driverObject, claimed } = await begin(t, { can: [nodeCapability.stats] });
  driverObject({ attachRequired: false });
  claimed();
  const { stats } = (await volumes.mount(claiming, signal)).get("v")!;
  assert.deepEqual(await stats!(), {
    capacityBytes: 10,
    availableBytes: 7,
    usedBytes: 3,
    inodes: 0,
    inodesFree: 0,
    inodesUsed: 0,
  });
});

test("a partially written record is removed with the volume, with and without a complete record", async (t) => {
  const { volumes, folder, driverObject, claimed, called } = await begin(t);
  driverObject({ attachRequired: false });
  claimed();
  const { hostPath } = (await volumes.mount(claiming, signal)).get("v")!;
  await writeFile(join(hostPath, "..", "vol_data.json.new"), "");
  await volumes.release("u1");
  assert.deepEqual(called().slice(-2), ["UnpublishVolume", "UnstageVolume"]);
  const left = join(folder, "pods", "u2", "volumes", "orch.io~csi", "v");
  await mkdir(left, { recursive: true });
  await writeFile(join(left, "vol_data.json.new"), "");
  await volumes.release("u2");
  assert.deepEqual(
    await Promise.all(["u1", "u2"].map((uid) => readdir(join(folder, "pods", uid, "volumes")))),
    [[], []],
  );
});
