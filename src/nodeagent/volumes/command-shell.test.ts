import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { virtualClock } from "#base";
import { eventually } from "#kit";
import { commandShell, longestRunMilliseconds } from "./command-shell.ts";

test("programs run one after the other with their arguments unchanged", async () => {
  const folder = mkdtempSync(join(tmpdir(), "orch-shell-"));
  const shell = commandShell(virtualClock());
  try {
    const odd = join(folder, "it's $HOME `odd`\n#done 1 0");
    await Promise.all([
      shell.run("touch", [odd]),
      shell.run("sh", ["-c", `echo one >> '${folder}/log'`]),
      shell.run("sh", ["-c", `echo two >> '${folder}/log'`]),
    ]);
    assert.equal(readFileSync(odd, "utf8"), "");
    assert.equal(readFileSync(join(folder, "log"), "utf8"), "one\ntwo\n");
  } finally {
    shell.close();
    rmSync(folder, { recursive: true });
  }
});

const failures: [name: string, command: string, args: string[], message: RegExp][] = [
  [
    "a failed program is reported with its output",
    "sh",
    ["-c", "echo out; echo wrong >&2; exit 3"],
    /^out\nwrong$/,
  ],
  ["a program that fails silently is reported with its exit code", "sh", ["-c", "exit 7"], /exit code 7/],
  ["a missing program is reported", "/no/such/program", [], /not found/],
];
for (const [name, command, args, message] of failures) {
  test(name, async () => {
    const shell = commandShell(virtualClock());
    try {
      await assert.rejects(shell.run(command, args), (error: Error) => message.test(error.message));
      await shell.run("true", []);
    } finally {
      shell.close();
    }
  });
}

test("a hanging program is killed, and the next one runs", async () => {
  const clock = virtualClock();
  const shell = commandShell(clock);
  const folder = mkdtempSync(join(tmpdir(), "orch-shell-"));
  const pidFile = join(folder, "pid");
  try {
    const hangs = `echo $$ > ${pidFile}.new; mv ${pidFile}.new ${pidFile}; exec sleep 600`;
    const failed = assert.rejects(shell.run("sh", ["-c", hangs]), /timed out/);
    await eventually(async () => existsSync(pidFile));
    await clock.advance(longestRunMilliseconds);
    await failed;
    await shell.run("true", []);
    const pid = Number(readFileSync(pidFile, "utf8"));
    await eventually(async () => !isRunning(pid));
  } finally {
    shell.close();
    rmSync(folder, { recursive: true });
  }
});

/** Reports whether a process runs. A killed one may remain as a zombie, or disappear between two checks. */
function isRunning(pid: number): boolean {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return false;
  }
}
