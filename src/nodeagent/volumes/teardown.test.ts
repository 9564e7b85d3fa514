import assert from "node:assert/strict";
import { mkdir, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { diskUsage } from "../resources/disk-usage.ts";
import { fakeMounter } from "./fake-mounter.fixture.ts";
import { deepTree, oddFileBytes, unreadableName } from "./odd-trees.fixture.ts";
import { teardownVolumes } from "./teardown.ts";

test("a pod without mounts needs one mount table read; sub paths are unmounted before volumes", async (t) => {
  const folder = await mkdtemp(join(tmpdir(), "teardown-"));
  t.after(() => rm(folder, { recursive: true, force: true }));
  const plain = fakeMounter();
  const order: string[] = [];
  const mounter = {
    ...plain,
    below: (path: string) => {
      order.push("look");
      return plain.below(path);
    },
    unmount: (path: string) => {
      order.push(path.slice(folder.length));
      return plain.unmount(path);
    },
  };
  const undo = async (): Promise<void> => void order.push("plug-in");
  await mkdir(join(folder, "a/volumes/x~empty-dir/e"), { recursive: true });
  await teardownVolumes(mounter, join(folder, "a"), undo);
  assert.deepEqual(order.splice(0), ["look", "plug-in"]);
  assert.deepEqual(await readdir(join(folder, "a/volumes")), []);
  await plain.tmpfs(join(folder, "b/volumes/x~secret/s"), { mode: "0777" });
  await plain.bind("/", join(folder, "b/volume-subpaths/s/c/0"));
  await teardownVolumes(mounter, join(folder, "b"), undo);
  assert.deepEqual(
    order.filter((each) => each !== "look"),
    ["/b/volume-subpaths/s/c/0", "plug-in", "/b/volumes/x~secret/s"],
  );
  assert.deepEqual(plain.points, []);
});

for (const [name, make] of [
  ["names that are no text", unreadableName],
  ["paths that are too long", deepTree],
] as const)
  test(`a volume with ${name} is measured and removed`, async (t) => {
    const folder = await mkdtemp(join(tmpdir(), "teardown-"));
    t.after(() => rm(folder, { recursive: true, force: true }));
    const volume = join(folder, "volumes/x~empty-dir/e");
    await make(volume);
    const { bytes } = await diskUsage(volume);
    assert.ok(bytes >= oddFileBytes, `${bytes} bytes`);
    await teardownVolumes(fakeMounter(), folder);
    assert.deepEqual(await readdir(join(folder, "volumes")), []);
  });
