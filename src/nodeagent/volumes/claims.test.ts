import assert from "node:assert/strict";
import { mkdir, statfs } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { VolumeError } from "../interfaces.ts";
import { podWith, setUp } from "./volumes.fixture.ts";

test("an NFS volume is mounted with its options", async (t) => {
  const { mount, mounter, place } = await setUp(t);
  assert.deepEqual(await mount(podWith({ nfs: { server: "fd00::1", path: "/x", readOnly: true } })), {
    hostPath: place("nfs"),
    readOnly: true,
  });
  assert.deepEqual(mounter.done, ["nfs [fd00::1]:/x ro"]);
});

const claimed: [name: string, claim: object, volume: object, expected: RegExp | "host" | "local" | "nfs"][] =
  [
    ["a host path", {}, { hostPath: "here" }, "host"],
    ["a local directory", {}, { local: "here" }, "local"],
    ["an NFS export", {}, { nfs: { server: "s", path: "/e" }, mountOptions: ["hard"] }, "nfs"],
    [
      "an unbound claim is refused",
      { status: { phase: "Pending" } },
      { hostPath: "here" },
      /PVC is not bound/,
    ],
    [
      "a claim being deleted is refused",
      { metadata: { deletionTimestamp: "2024-01-01T00:00:00Z" } },
      { hostPath: "here" },
      /PVC is being deleted/,
    ],
    [
      "a volume bound to another claim is refused",
      {},
      { hostPath: "here", claimRef: { uid: "other" } },
      /found PV object pv1 but its pv\.Spec\.ClaimRef\.UID other does not point to claim\.UID claim$/,
    ],
    [
      "a volume of another node is refused",
      {},
      {
        local: "here",
        nodeAffinity: {
          required: {
            nodeSelectorTerms: [{ matchExpressions: [{ key: "zone", operator: "In", values: ["b"] }] }],
          },
        },
      },
      /MountVolume\.NodeAffinity check failed for volume "pv1" : no matching NodeSelectorTerms$/,
    ],
    [
      "a block device listed in volumeMounts is refused",
      {},
      { local: "here", volumeMode: "Block" },
      /failed to process volumes=\[v\]: volume v has volumeMode Block, but is specified in volumeMounts$/,
    ],
  ];
for (const [name, claim, volume, expected] of claimed) {
  test(`claims: ${name}`, async (t) => {
    const { api, folder, mount, mounter, place } = await setUp(t);
    const path = join(folder, "here");
    await mkdir(path);
    const whole = JSON.parse(JSON.stringify(volume).replaceAll('"here"', JSON.stringify({ path }))) as object;
    const { metadata, ...rest } = claim as { metadata?: object };
    api.objects.set("/api/v1/namespaces/ns/persistentvolumeclaims/c1", {
      metadata: { name: "c1", uid: "claim", ...metadata },
      spec: { volumeName: "pv1" },
      status: { phase: "Bound" },
      ...rest,
    });
    api.objects.set("/api/v1/persistentvolumes/pv1", {
      metadata: { name: "pv1" },
      spec: { claimRef: { uid: "claim" }, ...whole },
    });
    const mounting = mount(podWith({ persistentVolumeClaim: { claimName: "c1", readOnly: true } }));
    if (expected instanceof RegExp) await assert.rejects(mounting, expected);
    else if (expected === "host")
      assert.deepEqual(await mounting, { hostPath: path, isForeign: true, readOnly: true });
    else {
      assert.equal((await mounting).hostPath, place(expected === "nfs" ? "nfs" : "local-volume", "pv1"));
      assert.deepEqual(mounter.done, [expected === "nfs" ? "nfs s:/e hard,ro" : `bind ${path}`]);
    }
  });
}

const devices: [name: string, volume: object, expected: RegExp][] = [
  [
    "that is a directory",
    { local: "here", volumeMode: "Block" },
    /^FailedMapVolume: MapVolume\.MapBlockVolume failed for volume "pv1" : .*here is a directory, and no block device$/,
  ],
  [
    "that does not exist",
    { local: { path: "/dev/nothing" }, volumeMode: "Block" },
    /^FailedMapVolume: .*EvalHostSymlinks failed for volume "pv1" : lstat \/dev\/nothing: no such file or directory$/,
  ],
  [
    "of a volume type without block mode",
    { hostPath: "here", volumeMode: "Block" },
    /^FailedMapVolume: .*"pv1" : volumes of this kind cannot/,
  ],
  [
    "listed in volumeMounts",
    { local: "here" },
    /volume v has volumeMode Filesystem, but is specified in volumeDevices$/,
  ],
];
for (const [name, volume, message] of devices) {
  test(`a claim on a device ${name} is refused`, async (t) => {
    const { api, folder, mount, events } = await setUp(t);
    await mkdir(join(folder, "here"));
    const whole = JSON.parse(
      JSON.stringify(volume).replaceAll('"here"', JSON.stringify({ path: join(folder, "here") })),
    ) as object;
    api.objects.set("/api/v1/namespaces/ns/persistentvolumeclaims/c1", {
      metadata: { name: "c1", uid: "claim" },
      spec: { volumeName: "pv1" },
      status: { phase: "Bound" },
    });
    api.objects.set("/api/v1/persistentvolumes/pv1", {
      metadata: { name: "pv1" },
      spec: { claimRef: { uid: "claim" }, ...whole },
    });
    const pod = podWith(
      { persistentVolumeClaim: { claimName: "c1" } },
      { containers: [{ name: "c", volumeDevices: [{ name: "v", devicePath: "/dev/x" }] }] },
    );
    await assert.rejects(mount(pod), VolumeError);
    assert.match(events.at(-1)!, message);
  });
}

test("a failure of a claimed volume names the persistent volume", async (t) => {
  const { api, mount, folder, events } = await setUp(t);
  api.objects.set("/api/v1/namespaces/ns/persistentvolumeclaims/c1", {
    metadata: { name: "c1", uid: "claim" },
    spec: { volumeName: "pv1" },
    status: { phase: "Bound" },
  });
  api.objects.set("/api/v1/persistentvolumes/pv1", {
    metadata: { name: "pv1" },
    spec: { claimRef: { uid: "claim" }, local: { path: join(folder, "missing") } },
  });
  await assert.rejects(mount(podWith({ persistentVolumeClaim: { claimName: "c1" } })));
  assert.deepEqual(events, [
    `FailedMount: MountVolume.NewMounter initialization failed for volume "pv1" : path "${join(folder, "missing")}" does not exist`,
  ]);
});

test("the usage of a local volume is that of its file system", async (t) => {
  const { api, mount, folder } = await setUp(t);
  const path = join(folder, "here");
  await mkdir(path);
  api.objects.set("/api/v1/namespaces/ns/persistentvolumeclaims/c1", {
    metadata: { name: "c1", uid: "claim" },
    spec: { volumeName: "pv1" },
    status: { phase: "Bound" },
  });
  api.objects.set("/api/v1/persistentvolumes/pv1", {
    metadata: { name: "pv1" },
    spec: { claimRef: { uid: "claim" }, local: { path } },
  });
  const { stats } = await mount(podWith({ persistentVolumeClaim: { claimName: "c1" } }));
  const { bsize, blocks } = await statfs(folder);
  assert.equal((await stats!()).capacityBytes, blocks * bsize);
});

test("only the first pod gives a shared local volume to its group; others are warned", async (t) => {
  const { api, anAgent, folder, events } = await setUp(t);
  const path = join(folder, "here");
  await mkdir(path);
  api.objects.set("/api/v1/namespaces/ns/persistentvolumeclaims/c1", {
    metadata: { name: "c1", uid: "claim" },
    spec: { volumeName: "pv1" },
    status: { phase: "Bound" },
  });
  api.objects.set("/api/v1/persistentvolumes/pv1", {
    metadata: { name: "pv1" },
    spec: { claimRef: { uid: "claim" }, local: { path } },
  });
  const volumes = anAgent();
  const podOf = (uid: string, fsGroup: number) =>
    podWith({ persistentVolumeClaim: { claimName: "c1" } }, { securityContext: { fsGroup } }, { uid });
  const { signal } = new AbortController();
  const own = process.getgid!();
  await volumes.mount(podOf("u1", own), signal);
  await volumes.mount(podOf("u2", own), signal);
  assert.deepEqual(events, []);
  await volumes.mount(podOf("u3", own + 1), signal);
  assert.deepEqual(events, [
    `AlreadyMountedVolume: The requested fsGroup is ${own + 1}, but the volume pv1 has GID ${own}. The volume may not be shareable.`,
  ]);
});

test("a persistent volume names a group of the containers in an annotation", async (t) => {
  const { api, mount, folder } = await setUp(t);
  const path = join(folder, "here");
  await mkdir(path);
  api.objects.set("/api/v1/namespaces/ns/persistentvolumeclaims/c1", {
    metadata: { name: "c1", uid: "claim" },
    spec: { volumeName: "pv1" },
    status: { phase: "Bound" },
  });
  api.objects.set("/api/v1/persistentvolumes/pv1", {
    metadata: { name: "pv1", annotations: { "pv.beta.orch.io/gid": "1234" } },
    spec: { claimRef: { uid: "claim" }, hostPath: { path } },
  });
  const { group } = await mount(podWith({ persistentVolumeClaim: { claimName: "c1" } }));
  assert.equal(group, "1234");
});
