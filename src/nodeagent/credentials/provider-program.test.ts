import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { runProvider } from "./provider-program.ts";

const never = new AbortController().signal;
const sh = (script: string, environment: { name: string; value: string }[] = []) => ({
  path: "/bin/sh",
  args: ["-c", script],
  environment,
});

test("a program receives its input and its output is returned", async () => {
  assert.equal(await runProvider(sh("cat"), "hello\n", never), "hello\n");
});

test("variables are added to those of the agent, and the later of two with the same name wins", async () => {
  const environment = [
    { name: "A", value: "1" },
    { name: "A", value: "2" },
  ];
  assert.equal(await runProvider(sh('echo "$A ${PATH:+path}"', environment), "", never), "2 path\n");
});

test("a program that fails, is missing, is stopped or writes too much is an error", async () => {
  await assert.rejects(runProvider(sh("echo secret; exit 3"), "", never), (error: Error) => {
    assert.match(error.message, /exit status 3/);
    assert.doesNotMatch(error.message, /secret/);
    return true;
  });
  await assert.rejects(runProvider({ ...sh(""), path: "/nonexistent" }, "", never));
  await assert.rejects(runProvider(sh("sleep 60"), "", AbortSignal.abort()));
  await assert.rejects(runProvider(sh("head -c 2000000 /dev/zero; sleep 60"), "", never), /larger than/);
});

test("a stopped program is killed together with its child processes", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "orch-provider-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const pidFile = join(folder, "pid");
  const stop = new AbortController();
  const running = runProvider(
    sh(`sleep 60 & echo $! > ${pidFile}.new; mv ${pidFile}.new ${pidFile}; wait`),
    "",
    stop.signal,
  );
  const failed = assert.rejects(running, { name: "AbortError" });
  while (!existsSync(pidFile)) await sleep(5);
  stop.abort();
  await failed;
  while (isRunning(Number(readFileSync(pidFile, "utf8")))) await sleep(5);
});

/** Reports whether a process is running; a zombie is not. */
function isRunning(pid: number): boolean {
  try {
    return !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch {
    return false;
  }
}
