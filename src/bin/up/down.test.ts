import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { downCommand } from "./down.ts";
import { writeRunning } from "./running.ts";

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
  writeRunning(join(root, "running.json"), {
    pid: 0,
    port: 1,
    dialect: "orch",
    runtimeEndpoint: "",
    up: false,
  });
  let problem = "";
  const err = (text: string): void => void (problem += text);
  assert.equal(await downCommand(["--purge", `--data-dir=${root}`], { out: () => undefined, err }), 1);
  assert.match(problem, /no files were removed: there are mounts below/);
  assert.ok(existsSync(join(other, "data")));
});
