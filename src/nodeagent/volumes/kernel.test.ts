// Tests with real mounts and file owners, which need the kernel.
import assert from "node:assert/strict";
import { lstat, mkdir, mkdtemp, readFile, readdir, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { teardownVolumes } from "./teardown.ts";
import { mountPointsBelow, systemMounter } from "./mounter.ts";
import { setGroupRecursively } from "./ownership.ts";
import { bindInside } from "./sub-path.ts";
import { writeAtomically } from "./atomic-writer.ts";

const asRoot = { skip: process.getuid?.() === 0 ? false : "needs root" };

async function scratch(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "mounts-"));
  t.after(async () => {
    const mounter = systemMounter();
    for (const point of (await mounter.below(folder)).toReversed()) await mounter.unmount(point);
    await rm(folder, { recursive: true, force: true });
  });
  return folder;
}

test("mount points are parsed from mountinfo, including escaped blanks", () => {
  const text = "1 0 0:1 / /a rw - x x rw\n2 1 0:2 / /a/b\\040c rw - x x rw\n3 1 0:3 / /ab rw - x x rw\n";
  assert.deepEqual(mountPointsBelow(text, "/a"), ["/a", "/a/b c"]);
  assert.deepEqual(mountPointsBelow(text, "/a/b c"), ["/a/b c"]);
  assert.deepEqual(mountPointsBelow(text, "/b"), []);
});

test("a bound sub path keeps showing what was there when it was bound", asRoot, async (t) => {
  const folder = await scratch(t);
  const mounter = systemMounter();
  const volume = join(folder, "volume");
  await mkdir(join(volume, "sub"), { recursive: true });
  await writeFile(join(volume, "sub", "f"), "inside");
  const target = join(folder, "bound", "0");
  await bindInside(mounter, volume, "sub", target);
  await rm(join(volume, "sub"), { recursive: true });
  await symlink("/etc", join(volume, "sub"));
  assert.deepEqual(await readdir(target), [], "the bound directory, not the current target of its name");
  await assert.rejects(bindInside(mounter, volume, "sub", join(folder, "bound", "1")), /leads out/);
});

test("a file can be bound repeatedly and follows updates of its volume", asRoot, async (t) => {
  const folder = await scratch(t);
  const mounter = systemMounter();
  const volume = join(folder, "volume");
  await mkdir(volume);
  const payload = (text: string) => new Map([["k", { bytes: Buffer.from(text), mode: 0o644 }]]);
  await writeAtomically(volume, payload("one"), 0);
  const target = join(folder, "bound", "0");
  await bindInside(mounter, volume, "k", target);
  await bindInside(mounter, volume, "k", target);
  assert.equal((await mounter.below(target)).length, 1);
  await writeAtomically(volume, payload("two"), 0);
  assert.equal(await readFile(target, "utf8"), "one");
  await bindInside(mounter, volume, "k", target);
  assert.equal(await readFile(target, "utf8"), "two");
});

test("teardown unmounts tmpfs and bind mounts, and leaves bound directories intact", asRoot, async (t) => {
  const folder = await scratch(t);
  const mounter = systemMounter();
  const pod = join(folder, "pod");
  const [memory, local, theirs] = [
    join(pod, "volumes/x~secret/s"),
    join(pod, "volumes/x~local-volume/pv"),
    join(folder, "theirs"),
  ];
  await mounter.tmpfs(memory, { sizeBytes: 65_536, mode: "0777" });
  await writeFile(join(memory, "f"), "secret");
  await mkdir(theirs);
  await writeFile(join(theirs, "precious"), "1");
  await mkdir(local, { recursive: true });
  await mounter.bind(theirs, local);
  await bindInside(mounter, local, "sub", join(pod, "volume-subpaths/pv/c/0"));
  const inside = join(pod, "volumes/x~empty-dir/e/mounted");
  await mkdir(inside, { recursive: true });
  await mounter.bind(theirs, inside);
  await teardownVolumes(mounter, pod);
  assert.deepEqual(await mounter.below(pod), []);
  assert.deepEqual(await readdir(join(pod, "volumes")), []);
  assert.deepEqual((await readdir(theirs)).toSorted(), ["precious", "sub"]);
});

test("a volume in memory is limited in size", asRoot, async (t) => {
  const folder = await scratch(t);
  await systemMounter().tmpfs(join(folder, "m"), { sizeBytes: 65_536, mode: "0777" });
  await assert.rejects(writeFile(join(folder, "m", "f"), Buffer.alloc(100_000)), /ENOSPC/);
  assert.equal((await stat(join(folder, "m"))).mode & 0o7777, 0o777);
});

test("a group gets a whole volume, but nothing through symbolic links", asRoot, async (t) => {
  const folder = await scratch(t);
  await mkdir(join(folder, "v/deep"), { recursive: true, mode: 0o700 });
  await writeFile(join(folder, "v/deep/f"), "", { mode: 0o600 });
  await writeFile(join(folder, "outside"), "", { mode: 0o600 });
  await symlink("../outside", join(folder, "v/link"));
  await setGroupRecursively(join(folder, "v"), 2222);
  const shown = async (path: string): Promise<string> => {
    const { gid, mode } = await lstat(join(folder, path));
    return `${gid} ${(mode & 0o7777).toString(8)}`;
  };
  assert.deepEqual(
    [await shown("v/deep"), await shown("v/deep/f"), await shown("outside"), await shown("v/link")],
    ["2222 2770", "2222 660", "0 600", "2222 777"],
  );
  await writeFile(join(folder, "v/later"), "", { mode: 0o600 });
  await setGroupRecursively(join(folder, "v"), 2222, { onlyOnMismatch: true });
  assert.equal(await shown("v/later"), "2222 600", "the root directory already matched");
});

test("files for a group are readable by the group and by their owner", asRoot, async (t) => {
  const folder = await scratch(t);
  await writeAtomically(
    folder,
    new Map([["d/k", { bytes: Buffer.from("x"), mode: 0o600, user: 1000 }]]),
    0,
    2222,
  );
  const { uid, gid, mode } = await stat(join(folder, "d/k"));
  assert.deepEqual([uid, gid, (mode & 0o7777).toString(8)], [1000, 2222, "640"]);
  assert.equal(((await stat(join(folder, "d"))).mode & 0o7777).toString(8), "2755");
});
