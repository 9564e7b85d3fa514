import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { downCommand } from "./down.ts";
import { type Running, writeRunning } from "./running.ts";

test("a purge removes no files of a file system that it cannot unmount", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "orch-down-"));
  const [root, other] = [join(folder, "cluster"), join(folder, "other")];
  mkdirSync(join(root, "agent", "plugins"), { recursive: true });
  mkdirSync(other);
  writeFileSync(join(other, "data"), "");
  // Its name is not valid UTF-8, and cannot be passed to umount.
  const point = Buffer.concat([Buffer.from(join(root, "agent", "plugins", "v")), Buffer.of(0xff)]);
  mkdirSync(point);
  const sh = (command: string): boolean =>
    spawnSync("sh", ["-c", command], { cwd: join(root, "agent", "plugins") }).status === 0;
  const isMounted = sh(`mount --bind '${other}' v*`);
  t.after(() => {
    if (!isMounted || sh("umount v*")) rmSync(folder, { recursive: true });
  });
  if (!isMounted) return t.skip("mounting requires root");
  writeRunning(join(root, "running.json"), notRunning);
  assert.match(await purgeProblem(root), /no files were removed: there are mounts below/);
  assert.ok(existsSync(join(other, "data")));
});

test("a purge of files that cannot be removed names the reason", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "orch-down-"));
  const mount = (...args: string[]): boolean => spawnSync("mount", [...args, folder]).status === 0;
  const isMounted = mount("-t", "tmpfs", "none");
  t.after(() => {
    if (!isMounted || spawnSync("umount", [folder]).status === 0) rmSync(folder, { recursive: true });
  });
  if (!isMounted) return t.skip("mounting requires root");
  writeRunning(join(folder, "running.json"), notRunning);
  mkdirSync(join(folder, "store"));
  assert.ok(mount("-o", "remount,ro"));
  assert.match(await purgeProblem(folder), /^error: EROFS: read-only file system, rmdir '.*\/store'\n$/);
});

const notRunning: Running = { pid: 0, port: 1, dialect: "orch", runtimeEndpoint: "", up: false };

async function purgeProblem(root: string): Promise<string> {
  let problem = "";
  const err = (text: string): void => void (problem += text);
  assert.equal(await downCommand(["--purge", `--data-dir=${root}`], { out: () => undefined, err }), 1);
  return problem;
}
