import assert from "node:assert/strict";
import { mkdir, readFile, readdir, readlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { dialects } from "#dialect";
import { podWith, setUp } from "../volumes/volumes.fixture.ts";
import { csiAttachments } from "./attachments.ts";
import { begin } from "./csi-plugin.fixture.ts";
import { nodeCapability } from "./messages.ts";
import { attachmentName } from "./volume-data.ts";

const dialect = dialects.orch;
const storage = `/apis/storage.${dialect.wire.groupSuffix}/v1`;
const { signal } = new AbortController();
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
  await assert.rejects(volumes.mount(claiming, signal), /disk is on fire/);
  assert.deepEqual(events, [
    'FailedMount: MountVolume.MountDevice failed for volume "pv1" : rpc error: code = Internal desc = disk is on fire',
  ]);
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
