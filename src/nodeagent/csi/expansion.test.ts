import assert from "node:assert/strict";
import { test } from "node:test";
import { podWith } from "../volumes/volumes.fixture.ts";
import { begin, capacity } from "./csi-plugin.fixture.ts";
import { nodeCapability } from "./messages.ts";

const { signal } = new AbortController();
const claiming = podWith({ persistentVolumeClaim: { claimName: "c" } });
const withDevice = podWith(
  { persistentVolumeClaim: { claimName: "c" } },
  { containers: [{ name: "c", volumeDevices: [{ name: "v", devicePath: "/dev/x" }] }] },
);
const can = [nodeCapability.expand];
type Begun = Awaited<ReturnType<typeof begin>>;

const statusOf = ({ api }: Begun) =>
  (
    api.objects.get("/api/v1/namespaces/ns/persistentvolumeclaims/c") as never as {
      status: Record<string, unknown>;
    }
  ).status;

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

test("a volume expanded on another node is expanded here, too, and its claim is left alone", async (t) => {
  const begun = await begin(t, { can });
  const { volumes, called, driverObject, claimed, api } = begun;
  driverObject({ attachRequired: false });
  claimed();
  await volumes.mount(claiming, signal);
  await volumes.refresh(claiming);
  claimed({}, "2Gi", "2Gi");
  api.requests.splice(0);
  await volumes.refresh(claiming);
  await volumes.refresh(claiming);
  assert.deepEqual(called(), ["PublishVolume", "ExpandVolume"]);
  assert.deepEqual(
    api.requests.filter((request) => request.startsWith("PATCH")),
    [],
  );
});

test("a block volume is expanded when it is mapped, and in use", async (t) => {
  const begun = await begin(t, { can });
  const { volumes, calls, called, driverObject, claimed } = begun;
  driverObject({ attachRequired: false });
  claimed({ volumeMode: "Block" }, "2Gi", "1Gi");
  await volumes.mount(withDevice, signal);
  assert.deepEqual(called(), ["PublishVolume", "ExpandVolume"]);
  assert.equal(calls[1]!.request["volumePath"], calls[0]!.request["targetPath"]);
  assert.deepEqual(calls[1]!.request["volumeCapability"], { block: {}, accessMode: { mode: 1 } });
  assert.deepEqual(statusOf(begun)["capacity"], capacity("2Gi"));
  await volumes.refresh(withDevice);
  claimed({ volumeMode: "Block" }, "3Gi", "2Gi");
  await volumes.refresh(withDevice);
  assert.deepEqual(called().slice(2), ["ExpandVolume"]);
});

test("a read-only volume is not expanded, which is reported for pod and claim", async (t) => {
  const { volumes, called, driverObject, claimed, events } = await begin(t, { can });
  driverObject({ attachRequired: false });
  claimed({}, "2Gi", "1Gi");
  await volumes.mount(podWith({ persistentVolumeClaim: { claimName: "c", readOnly: true } }), signal);
  const text =
    'FileSystemResizeFailed: MountVolume.NodeExpandVolume failed for volume "pv1" requested read-only file system';
  assert.deepEqual([called(), events], [["PublishVolume"], [`Pod ${text}`, `PersistentVolumeClaim ${text}`]]);
});

const failing = (begun: Begun): void => {
  begun.driverObject({ attachRequired: false });
  begun.state.expandError = "no space";
};
const why = "Expander.NodeExpand failed to expand the volume : rpc error: code = Internal desc = no space";

test("a failed expansion keeps a volume from being mounted, and is reported for one in use", async (t) => {
  const begun = await begin(t, { can });
  const { volumes, claimed, events, state } = begun;
  failing(begun);
  claimed({}, "2Gi", "1Gi");
  await assert.rejects(volumes.mount(claiming, signal), /no space/);
  state.expandError = undefined;
  await begun.clock.advance(1000);
  await volumes.mount(claiming, signal);
  await volumes.refresh(claiming);
  claimed({}, "3Gi", "2Gi");
  state.expandError = "no space";
  await volumes.refresh(claiming);
  const warnings = events.filter((text) => !text.includes("Successful"));
  assert.deepEqual(warnings, [
    `FailedMount: MountVolume.Setup failed while expanding volume for volume "pv1" : ${why}`,
    `VolumeResizeFailed: NodeExpandVolume.NodeExpandVolume failed for volume "pv1" : ${why}`,
  ]);
});

test("a driver that does not expand volumes on nodes fails the expansion of a block volume", async (t) => {
  const { volumes, driverObject, claimed, events } = await begin(t, { can: [] });
  driverObject({ attachRequired: false });
  claimed({ volumeMode: "Block" }, "2Gi", "1Gi");
  await assert.rejects(volumes.mount(withDevice, signal));
  assert.deepEqual(events, [
    'FailedMapVolume: MapVolume.MarkVolumeAsMounted failed while expanding volume for volume "pv1" : ' +
      "Expander.NodeExpand found CSI plugin orch.io/csi/d.test to not support node expansion",
  ]);
});

const pending = { resizeStatus: "NodeExpansionPending", allocatedResources: capacity("2Gi") };

test("with recovery, the claim shows that the expansion is finished", async (t) => {
  const begun = await begin(t, { can, recovers: true });
  begun.driverObject({ attachRequired: false });
  begun.claimed({}, "2Gi", "1Gi", pending);
  await begun.volumes.mount(claiming, signal);
  assert.deepEqual([statusOf(begun)["capacity"], statusOf(begun)["resizeStatus"]], [capacity("2Gi"), ""]);
});

test("with recovery, a failed expansion is recorded in the claim and not tried again", async (t) => {
  const begun = await begin(t, { can, recovers: true });
  const { volumes, claimed, called, state, clock } = begun;
  failing(begun);
  claimed({}, "2Gi", "1Gi", pending);
  await assert.rejects(volumes.mount(claiming, signal), /no space/);
  assert.deepEqual(
    [statusOf(begun)["capacity"], statusOf(begun)["resizeStatus"]],
    [capacity("1Gi"), "NodeExpansionFailed"],
  );
  state.expandError = undefined;
  await clock.advance(1000);
  await volumes.mount(claiming, signal);
  assert.deepEqual(called(), ["PublishVolume"], "mounted as it is");
  await volumes.refresh(claiming);
  assert.match(begun.events.at(-1)!, /VolumeResizeFailed: .*volume resizing failed for unknown reason$/);
});

test("with recovery, a claim of an older resize controller is expanded as without", async (t) => {
  const begun = await begin(t, { can, recovers: true });
  begun.driverObject({ attachRequired: false });
  begun.claimed({}, "2Gi", "1Gi");
  await begun.volumes.mount(claiming, signal);
  assert.deepEqual(begun.called(), ["PublishVolume", "ExpandVolume"]);
});
