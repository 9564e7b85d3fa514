// Programs and library on a Node without the methods of ECMAScript 2026 (24 and 25): the pinned one, from which
// they are removed.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";

const root = join(import.meta.dirname, "..", "..");
const folder = mkdtempSync(join(tmpdir(), "orch-older-node-"));
after(() => rmSync(folder, { recursive: true }));
const removal = join(folder, "remove.cjs");
writeFileSync(
  removal,
  `for (const { prototype } of [Map, WeakMap]) for (const name of ["getOrInsert", "getOrInsertComputed"]) delete prototype[name];`,
);
const run = (...args: readonly string[]): { status: number | null; stderr: string } =>
  spawnSync(process.execPath, ["--require", removal, ...args], {
    cwd: root,
    encoding: "utf8",
    timeout: 60_000,
  });

const commands: readonly (readonly string[])[] = [
  ["scripts/warm-library.mjs"],
  ["bin/orch-apiserver", "--version"],
  ["bin/orch-scheduler", "--version"],
  ["bin/nodeagent", "--version"],
];
for (const [file, ...args] of commands)
  test(`${file} runs on an older Node`, () => {
    const { status, stderr } = run(join(root, file!), ...args);
    assert.equal(status, 0, stderr);
  });
