import assert from "node:assert/strict";
import { mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { makeFolder, makeFolderAsync } from "./make-folder.ts";

test("a directory is created with its parents, for its owner only, and may exist already", (t) => {
  const root = mkdtempSync(join(tmpdir(), "orch-folder-"));
  t.after(() => rmSync(root, { recursive: true }));
  const folder = join(root, "a", "b", "c");
  makeFolder(folder);
  makeFolder(folder);
  assert.equal(statSync(folder).isDirectory(), true);
  assert.equal(statSync(join(root, "a")).mode & 0o777, 0o700);
});

const impossible: [name: string, path: string, code: RegExp][] = [
  [
    "a folder where there can be none is refused at once",
    "/proc/orch-none/store",
    /ENOENT|EPERM|EACCES|EROFS/,
  ],
  ["a folder below a file, too", join(import.meta.filename, "x"), /make-folder\.test\.ts is not a directory/],
  ["and one in the place of a file", import.meta.filename, /is not a directory/],
];
for (const [name, path, code] of impossible) {
  test(name, async () => {
    assert.throws(() => makeFolder(path), code);
    await assert.rejects(makeFolderAsync(path, 0o755), code);
  });
}

test("a created directory may be accessible to others", async (t) => {
  const root = mkdtempSync(join(tmpdir(), "orch-folder-"));
  t.after(() => rmSync(root, { recursive: true }));
  const folder = join(root, "a", "b");
  await Promise.all([makeFolderAsync(folder, 0o755), makeFolderAsync(folder, 0o755)]);
  assert.equal(statSync(folder).mode & 0o777, 0o755 & ~process.umask());
});

test("a file in the place of a directory is left unchanged", (t) => {
  const root = mkdtempSync(join(tmpdir(), "orch-folder-"));
  t.after(() => rmSync(root, { recursive: true }));
  writeFileSync(join(root, "f"), "x");
  assert.throws(() => makeFolder(join(root, "f")), /f is not a directory/);
  assert.equal(statSync(join(root, "f")).isFile(), true);
});
