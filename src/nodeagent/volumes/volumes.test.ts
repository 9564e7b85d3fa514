import assert from "node:assert/strict";
import {
  chmod,
  lstat,
  mkdir,
  readFile,
  readdir,
  readlink,
  rm,
  stat,
  symlink,
  writeFile,
} from "node:fs/promises";
import { join } from "node:path";
import type { VolumePlugin } from "../interfaces.ts";
import { test } from "node:test";
import { silentLog } from "#base";
import { dialects } from "#dialect";
import { VolumeError } from "../interfaces.ts";
import { podVolumes } from "./volumes.ts";
import { podWith, setUp } from "./volumes.fixture.ts";

test("a config map is a directory of links into its data", async (t) => {
  const { map, mount, place, seen } = await setUp(t);
  await map("m", { a: "1", b: "2" }, { binaryData: { c: Buffer.from("3").toString("base64") } });
  assert.deepEqual(await mount(podWith({ configMap: { name: "m" } })), {
    hostPath: place("configmap"),
    readOnly: true,
    selinuxRelabel: true,
  });
  assert.deepEqual(await seen(place("configmap")), { a: "644 1", b: "644 2", c: "644 3" });
  assert.equal(await readlink(join(place("configmap"), "a")), "..data/a");
  assert.match(await readlink(join(place("configmap"), "..data")), /^\.\.2024_01_01_00_00_00\.\d+$/);
});

test("mount attempts, the time until a volume is ready, and its unmount are counted", async (t) => {
  const { map, mount, volumes, clock, counted } = await setUp(t);
  const pod = podWith({ configMap: { name: "m" } });
  await assert.rejects(mount(pod), VolumeError);
  await clock.advance(2000);
  await map("m", { a: "1" });
  await mount(pod);
  await volumes.release("u1");
  const plugin = `${dialects.orch.data.labelDomain}/configmap`;
  assert.deepEqual(counted, [
    `volume_mount ${plugin} 0 bad`,
    `volume_mount ${plugin} 0 good`,
    `volume_mount ${plugin} in place after 2000`,
    `volume_unmount ${plugin} 0 good`,
  ]);
});

test("items select keys, paths and modes", async (t) => {
  const { map, mount, place, seen } = await setUp(t);
  await map("m", { a: "1", b: "2" });
  await mount(
    podWith({
      configMap: {
        name: "m",
        defaultMode: 0o400,
        items: [
          { key: "a", path: "deep/x", mode: 0o600 },
          { key: "b", path: "y" },
        ],
      },
    }),
  );
  assert.deepEqual(await seen(place("configmap")), { "deep/x": "600 1", y: "400 2" });
});

const missing: [name: string, volume: object, message: RegExp][] = [
  [
    "a missing config map",
    { configMap: { name: "nope" } },
    /MountVolume\.SetUp failed for volume "v" : configmap "nope" not found/,
  ],
  ["a missing secret", { secret: { secretName: "nope" } }, /secret "nope" not found/],
  [
    "a missing key",
    { configMap: { name: "m", items: [{ key: "nope", path: "x" }] } },
    /configmap references non-existent config key: nope/,
  ],
  [
    "a path outside the volume",
    { configMap: { name: "m", items: [{ key: "a", path: "../x" }] } },
    /must be relative/,
  ],
  ["an unsupported volume type", { iscsi: { targetPortal: "x" } }, /no way to mount a volume of kind iscsi/],
  [
    "a repository that looks like an option",
    { gitRepo: { repository: "-x" } },
    /^MountVolume\.NewMounter initialization failed for volume "v" : "-x" is an invalid value for repository$/,
  ],
  [
    "a flexVolume without an installed driver",
    { flexVolume: { driver: "x/y" } },
    /failed to process volumes=\[v\]: failed to get Plugin from volumeSpec for volume "v" err=no volume plugin matched$/,
  ],
  [
    "a file in place of a directory",
    {
      configMap: {
        name: "m",
        items: [
          { key: "a", path: "x" },
          { key: "a", path: "x/y" },
        ],
      },
    },
    /"v" : mkdir .*\/x: file exists$/,
  ],
  [
    "a missing claim",
    { persistentVolumeClaim: { claimName: "nope" } },
    /^Unable to attach or mount volumes: unmounted volumes=\[v\].*: error processing PVC ns\/nope: failed to fetch/,
  ],
];
for (const [name, volume, message] of missing) {
  test(`${name} is reported as an error and an event`, async (t) => {
    const { map, mount, events } = await setUp(t);
    await map("m", { a: "1" });
    await assert.rejects(
      mount(podWith(volume)),
      (error) => error instanceof VolumeError && message.test(error.message),
    );
    assert.match(events[0]!, /^FailedMount: /);
  });
}

test("a failed mount is retried with backoff until it succeeds", async (t) => {
  const { map, mount, events, clock } = await setUp(t);
  const pod = podWith({ configMap: { name: "m" } });
  await assert.rejects(mount(pod));
  await assert.rejects(mount(pod));
  assert.equal(events.length, 1, "too early for a retry");
  await clock.advance(500);
  await assert.rejects(mount(pod));
  await clock.advance(500);
  await assert.rejects(mount(pod));
  assert.equal(events.length, 2);
  await map("m", { a: "1" });
  await clock.advance(500);
  await mount(pod);
});

test("optional objects may be missing", async (t) => {
  const { map, mount, place } = await setUp(t);
  await mount(podWith({ secret: { secretName: "nope", optional: true } }));
  assert.deepEqual(
    (await readdir(place("secret"))).filter((name) => !name.startsWith("..")),
    [],
  );
  await map("m", { a: "1" });
  await mount(
    podWith(
      { configMap: { name: "m", optional: true, items: [{ key: "nope", path: "x" }] } },
      {},
      { uid: "u2" },
    ),
  );
});

test("secret, downward API and projected volumes are kept in memory", async (t) => {
  const { map, secret, mount, mounter, place, seen } = await setUp(t);
  await map("m", { a: "A", same: "from the map" });
  await secret("s", { s: "S", same: "from the secret" });
  const sources = [
    { configMap: { name: "m" } },
    {
      secret: {
        name: "s",
        items: [
          { key: "s", path: "s", mode: 0o400 },
          { key: "same", path: "same" },
        ],
      },
    },
    {
      downwardAPI: {
        items: [
          { path: "n", fieldRef: { fieldPath: "metadata.name" } },
          { path: "labels", fieldRef: { fieldPath: "metadata.labels" } },
          { path: "cpu", resourceFieldRef: { containerName: "c", resource: "limits.cpu", divisor: "1m" } },
        ],
      },
    },
  ];
  assert.equal((await mount(podWith({ projected: { defaultMode: 0o440, sources } }))).readOnly, true);
  assert.deepEqual(await seen(place("projected")), {
    a: "440 A",
    same: "440 from the secret",
    s: "400 S",
    n: "440 p",
    labels: '440 a="one"',
    cpu: "440 4000",
  });
  assert.deepEqual(mounter.done, [`tmpfs 1777 ${1024 ** 3}`]);
});

test("a projected volume reports everything that is missing", async (t) => {
  const { map, mount } = await setUp(t);
  await map("m", { a: "A" });
  const missing = [{ secret: { name: "s" } }, { configMap: { name: "m" } }, { configMap: { name: "n" } }];
  await assert.rejects(
    mount(podWith({ projected: { sources: missing } })),
    /\[secret "s" not found, configmap "n" not found\]/,
  );
  await assert.rejects(
    mount(podWith({ projected: { sources: missing.slice(0, 2) } }, {}, { uid: "u2" })),
    /: secret "s" not found$/,
  );
});

test("a change reaches the running pod at once and atomically", async (t) => {
  const { api, map, mount, objects, place, seen, volumes, changed } = await setUp(t);
  await map("m", { a: "1", b: "2" });
  const pod = podWith({ configMap: { name: "m" } });
  objects.watch(pod);
  await mount(pod);
  const before = await readlink(join(place("configmap"), "..data"));
  await volumes.refresh(pod);
  assert.equal(
    await readlink(join(place("configmap"), "..data")),
    before,
    "nothing changed, nothing is written",
  );
  await api.client.request("PUT", "/api/v1/namespaces/ns/configmaps/m", {
    metadata: { name: "m", namespace: "ns" },
    data: { a: "new", c: "3" },
  });
  for (let i = 0; i < 20; i++) await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual([...new Set(changed)], ["u1"]);
  await volumes.refresh(pod);
  assert.deepEqual(await seen(place("configmap")), { a: "644 new", c: "644 3" });
  assert.equal(
    (await readdir(place("configmap"))).filter((name) => name.startsWith("..2")).length,
    1,
    "the old data is gone",
  );
});

test("changed labels reach the pod's files", async (t) => {
  const { mount, place, seen, volumes } = await setUp(t);
  const volume = { downwardAPI: { items: [{ path: "l", fieldRef: { fieldPath: "metadata.labels['a']" } }] } };
  await mount(podWith(volume));
  await volumes.refresh(podWith(volume, {}, { labels: { a: "two" } }));
  assert.deepEqual(await seen(place("downward-api")), { l: "644 two" });
});

test("tokens are requested, cached, and refreshed after four fifths of their lifetime", async (t) => {
  const { api, clock, mount, place, seen, volumes } = await setUp(t);
  let count = 0;
  api.answer = ({ path }) =>
    path.endsWith("/token")
      ? {
          status: 201,
          body: {
            status: {
              token: `token-${++count}`,
              expirationTimestamp: new Date(clock.now() + 1_000_000).toISOString(),
            },
          },
        }
      : undefined;
  const pod = podWith(
    {
      projected: {
        sources: [{ serviceAccountToken: { path: "tok", audience: "me", expirationSeconds: 600 } }],
      },
    },
    { serviceAccountName: "robot" },
  );
  await mount(pod);
  assert.deepEqual(await seen(place("projected")), { tok: "644 token-1" });
  assert.equal(api.requests.at(-1), "POST /api/v1/namespaces/ns/serviceaccounts/robot/token");
  assert.deepEqual((api.bodies.at(-1) as { spec: object }).spec, {
    audiences: ["me"],
    expirationSeconds: 600,
    boundObjectRef: { kind: "Pod", apiVersion: "v1", name: "p", uid: "u1" },
  });
  await clock.advance(780_000);
  await volumes.refresh(pod);
  assert.equal(count, 1);
  await clock.advance(20_001);
  await volumes.refresh(pod);
  assert.deepEqual(await seen(place("projected")), { tok: "644 token-2" });
  api.answer = () => ({ status: 500, body: {} });
  await clock.advance(800_001);
  await volumes.refresh(pod);
  assert.deepEqual(
    await seen(place("projected")),
    { tok: "644 token-2" },
    "the old one stays while it is good",
  );
});

test("a volume that no container mounts is not set up", async (t) => {
  const { volumes, folder } = await setUp(t);
  const mounted = await volumes.mount(
    podWith({ emptyDir: {} }, { containers: [{ name: "c" }] }),
    new AbortController().signal,
  );
  assert.equal(mounted.size, 0);
  assert.deepEqual(await readdir(folder), []);
});

test("a path inside a volume is created, and cannot lead out of it", async (t) => {
  const { folder, mount, mounter, volumes } = await setUp(t);
  const pod = podWith({ emptyDir: {} });
  const volume = await mount(pod);
  const bind = (path: string): Promise<string> =>
    volumes.subPath(
      pod,
      volume,
      { container: "c", index: 0, volumeName: "v", path },
      new AbortController().signal,
    );
  assert.equal(await bind("new/deep"), join(folder, "pods/u1/volume-subpaths/v/c/0"));
  assert.ok((await lstat(join(volume.hostPath, "new/deep"))).isDirectory());
  assert.deepEqual(mounter.done, ["bind /proc/open"]);
  await symlink("/etc", join(volume.hostPath, "out"));
  await symlink("new", join(volume.hostPath, "within"));
  await symlink("/nowhere/at/all", join(volume.hostPath, "dangling"));
  await bind("within/deep");
  for (const path of ["out", "out/passwd"])
    await assert.rejects(bind(path), /failed to prepare subPath for volumeMount "v" of container "c"/, path);
  for (const path of ["dangling", "dangling/x", "out/none"]) {
    await assert.rejects(
      bind(path),
      /failed to create subPath directory for volumeMount "v" of container "c"/,
      path,
    );
  }
});

test("a restarted agent takes over the volumes of running pods", async (t) => {
  const { api, anAgent, clock, map, mounter, objects, place, volumes } = await setUp(t);
  const both = podWith(
    { configMap: { name: "m" } },
    {
      volumes: [
        { name: "v", configMap: { name: "m" } },
        { name: "e", emptyDir: {} },
      ],
    },
  );
  both.spec.containers![0]!.volumeMounts!.push({ name: "e", mountPath: "/e" });
  await map("m", { a: "1" });
  await volumes.mount(both, new AbortController().signal);
  // A container changes the mode of its own directory.
  await chmod(place("empty-dir", "e"), 0o700);
  objects.forget("u1");
  await api.client.request("PATCH", "/api/v1/namespaces/ns/configmaps/m", { data: { a: "2" } });
  await clock.advance(120_000);
  const mounts = mounter.done.length;
  const later = anAgent();
  assert.equal(later.places("u1").size, 0);
  await later.refresh(both);
  assert.deepEqual(
    [await readFile(join(place("configmap"), "a"), "utf8"), [...later.places("u1").keys()]],
    ["2", ["v", "e"]],
  );
  assert.deepEqual(
    [((await stat(place("empty-dir", "e"))).mode & 0o777).toString(8), mounter.done.length],
    ["700", mounts],
  );
  await later.refresh(podWith({ emptyDir: {} }, {}, { uid: "u2" }));
  assert.equal(later.places("u2").size, 0, "a pod without a directory is set up when it starts");
});

test("teardown unmounts first, and spares foreign files", async (t) => {
  const { folder, mount, mounter, place, volumes } = await setUp(t);
  const pod = podWith({ emptyDir: { medium: "Memory" } });
  const volume = await mount(pod);
  await volumes.subPath(
    pod,
    volume,
    { container: "c", index: 0, volumeName: "v", path: "x" },
    new AbortController().signal,
  );
  await writeFile(join(volume.hostPath, "left"), "by the pod");
  await symlink("/etc", join(volume.hostPath, "link"));
  await volumes.release("u1");
  assert.deepEqual(mounter.points, []);
  await assert.rejects(lstat(place("empty-dir")));
  assert.ok(await lstat("/etc/passwd"));
  await mkdir(place("nfs", "v2"), { recursive: true });
  await writeFile(join(place("nfs", "v2"), "precious"), "foreign data");
  await assert.rejects(volumes.release("u1"), /ENOTEMPTY/);
  assert.equal(await readFile(join(place("nfs", "v2"), "precious"), "utf8"), "foreign data");
  await rm(join(folder, "pods"), { recursive: true });
  await volumes.release("u1");
});

test("a volume that cannot be unmounted is not removed", async (t) => {
  const { mount, mounter, volumes } = await setUp(t);
  const volume = await mount(podWith({ emptyDir: { medium: "Memory" } }));
  await writeFile(join(volume.hostPath, "f"), "x");
  mounter.unmount = () => Promise.reject(new Error("target is busy"));
  await assert.rejects(volumes.release("u1"), /busy/);
  assert.equal(await readFile(join(volume.hostPath, "f"), "utf8"), "x");
});

test("a restarted agent continues with existing mounts", async (t) => {
  const first = await setUp(t);
  await first.secret("s", { a: "1" });
  const pod = podWith({ secret: { secretName: "s" } });
  await first.mount(pod);
  const { api, clock, mounter, objects, folder } = first;
  const second = podVolumes({
    dialect: dialects.orch,
    client: api.client,
    clock,
    log: silentLog,
    events: { event: () => undefined },
    objects,
    node: { name: "n1", allocatable: () => ({}), labels: () => ({}) },
    mounter,
    podsFolder: join(folder, "pods"),
  });
  await second.mount(pod, new AbortController().signal);
  assert.equal(mounter.done.length, 1);
});

test("volumes of an ended pod are kept if so configured", async (t) => {
  const { anAgent, place } = await setUp(t);
  const volumes = anAgent({ keepTerminated: true });
  await volumes.mount(podWith({ emptyDir: {} }), new AbortController().signal);
  await writeFile(join(place("empty-dir"), "result"), "42");
  await volumes.release("u1");
  assert.equal(await readFile(join(place("empty-dir"), "result"), "utf8"), "42");
});

test("an external plugin mounts its volume type, reports usage, and unmounts volumes of an earlier agent", async (t) => {
  const { anAgent, folder } = await setUp(t);
  const calls: string[] = [];
  const stats = {
    capacityBytes: 9,
    availableBytes: 4,
    usedBytes: 5,
    inodes: 3,
    inodesFree: 1,
    inodesUsed: 2,
  };
  const plugin: VolumePlugin = {
    name: "csi",
    supports: ({ volume }) => volume.csi !== undefined,
    mount: async (_, { volume }, directory) => {
      calls.push(`mount ${volume.name}`);
      await mkdir(directory, { recursive: true });
      return { hostPath: directory };
    },
    unmount: async (uid, name) => void calls.push(`unmount ${name} of ${uid}`),
    stats: async () => stats,
  };
  const pod = podWith({ csi: { driver: "d" } });
  const signal = new AbortController().signal;
  const mounted = (await anAgent({ plugins: [plugin] }).mount(pod, signal)).get("v")!;
  assert.ok(mounted.hostPath.startsWith(folder));
  assert.deepEqual(await mounted.stats?.(), stats);
  await anAgent({ plugins: [plugin] }).release("u1");
  assert.deepEqual(calls, ["mount v", "unmount v of u1"]);
});

test("an aborted caller does not wait for an ongoing volume operation of the pod", async (t) => {
  const { anAgent } = await setUp(t);
  const plugin: VolumePlugin = {
    name: "csi",
    supports: ({ volume }) => volume.csi !== undefined,
    mount: () => new Promise<never>(() => undefined),
  };
  const stop = new AbortController();
  const waiting = anAgent({ plugins: [plugin] }).mount(podWith({ csi: { driver: "d" } }), stop.signal);
  stop.abort(new Error("deleted"));
  await assert.rejects(waiting, /deleted/);
});

test("a path in a volume whose file server does not respond is not accessed", async (t) => {
  const { volumes, mount, mounter } = await setUp(t);
  const pod = podWith({ emptyDir: {} });
  const volume = await mount(pod);
  mounter.silent.add(volume.hostPath);
  const at = { container: "c", index: 0, volumeName: "v", path: "below" };
  await assert.rejects(volumes.subPath(pod, volume, at, new AbortController().signal), {
    message: `the file server behind ${volume.hostPath} does not answer`,
  });
});
