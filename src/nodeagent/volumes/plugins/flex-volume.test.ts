import assert from "node:assert/strict";
import { chmod, mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { dialects } from "#dialect";
import { fakeMounter } from "../fake-mounter.fixture.ts";
import { podWith } from "../volumes.fixture.ts";
import { flexVolumePlugin } from "./flex-volume.ts";

const { signal } = new AbortController();
async function begin(t: TestContext, answer: object = { status: "Success" }) {
  const folder = await mkdtemp(join(tmpdir(), "flex-"));
  t.after(() => rm(folder, { recursive: true, force: true }));
  const programs = join(folder, "programs");
  await mkdir(join(programs, "acme~disk"), { recursive: true });
  await writeFile(join(programs, "acme~disk", "disk"), "#!/bin/sh\n");
  await chmod(join(programs, "acme~disk", "disk"), 0o755);
  const mounter = fakeMounter();
  const calls: (readonly string[])[] = [];
  const plugin = flexVolumePlugin({
    dialect: dialects.orch,
    mounter,
    directory: programs,
    secret: async (namespace, name) => ({ key: `${namespace}/${name}` }),
    run: async (program, args) => {
      calls.push([program.slice(programs.length), ...args]);
      if (args[0] === "mount") mounter.points.push(args[1]!);
      if (args[0] === "unmount") mounter.points.length = 0;
      return { output: JSON.stringify(answer) };
    },
  });
  return { directory: join(folder, "volume"), plugin, calls };
}
const volume = {
  flexVolume: { driver: "acme/disk", fsType: "ext4", options: { size: "1" }, secretRef: { name: "s" } },
};
const pod = podWith(volume);
const spec = { volume: pod.spec.volumes![0]!, readOnly: false };

test("a program mounts once with its options, and unmounts by the record", async (t) => {
  const { directory, plugin, calls } = await begin(t);
  const { hostPath } = await plugin.mount(pod, spec, directory, signal);
  await plugin.mount(pod, spec, directory, signal);
  assert.equal(calls.length, 1);
  const [program, command, target, options] = calls[0]!;
  assert.deepEqual([program, command, target], ["/acme~disk/disk", "mount", hostPath]);
  assert.deepEqual(JSON.parse(options!), {
    size: "1",
    "orch.io/fsType": "ext4",
    "orch.io/readwrite": "rw",
    "orch.io/pvOrVolumeName": "v",
    "orch.io/pod.name": "p",
    "orch.io/pod.namespace": "ns",
    "orch.io/pod.uid": "u1",
    "orch.io/serviceAccount.name": "",
    "orch.io/secret/key": "ns/s",
  });
  await plugin.unmount!("u1", "v", directory);
  assert.deepEqual(calls[1], ["/acme~disk/disk", "unmount", hostPath]);
  assert.deepEqual(await readdir(directory), []);
});

test("a truncated record of a volume that was never mounted does not block its removal", async (t) => {
  const { directory, plugin, calls } = await begin(t);
  await mkdir(join(directory, "mount"), { recursive: true });
  await writeFile(join(directory, "flex_volume.json"), "");
  await plugin.unmount!("u1", "v", directory);
  assert.deepEqual([calls, await readdir(directory)], [[], []]);
});

const failures: [name: string, driver: string, answer: object, message: RegExp][] = [
  ["that does not exist", "acme/none", {}, /no volume program for driver acme\/none/],
  ["with an invalid name", "../../bin/sh", {}, /cannot name a volume driver/],
  [
    "that fails",
    "acme/disk",
    { status: "Failure", message: "no disk" },
    /mount command failed, status: Failure, reason: no disk/,
  ],
];
for (const [name, driver, answer, message] of failures)
  test(`a program ${name} is reported`, async (t) => {
    const { directory, plugin } = await begin(t, answer);
    const other = { ...spec, volume: { ...spec.volume, flexVolume: { driver } } };
    await assert.rejects(plugin.mount(pod, other, directory, signal), message);
  });
