import assert from "node:assert/strict";
import {
  closeSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { virtualClock } from "#base";
import { LogFile } from "./log-file.ts";

function opened(
  t: TestContext,
  mostBytes?: number,
): { readonly path: string; readonly log: LogFile; readonly run: number } {
  const folder = mkdtempSync(join(tmpdir(), "orch-log-file-"));
  const path = join(folder, "logs", "part.log");
  const log = new LogFile(path, mostBytes);
  const run = log.open();
  t.after(() => {
    closeSync(run);
    rmSync(folder, { recursive: true });
  });
  return { path, log, run };
}

test("a log that is too large is moved to another file, and the program keeps writing to the same file", (t) => {
  const { path, log, run } = opened(t, 10);
  writeSync(run, "first line\n");
  log.rotateIfLarge();
  writeSync(run, "second\n");
  log.rotateIfLarge();
  assert.deepEqual(
    [readFileSync(path, "utf8"), readFileSync(`${path}.1`, "utf8")],
    ["second\n", "first line\n"],
  );
  writeSync(run, "third\n");
  log.rotateIfLarge();
  assert.deepEqual([readFileSync(path, "utf8"), readFileSync(`${path}.1`, "utf8")], ["", "second\nthird\n"]);
  assert.equal(statSync(`${path}.1`).mode & 0o777, 0o600);
});

test("the last lines are those of the latest run, even after rotation", (t) => {
  const { path, log, run } = opened(t, 20);
  writeSync(run, "an earlier run\n");
  const next = log.open();
  t.after(() => closeSync(next));
  writeSync(next, "one\n");
  assert.deepEqual(log.lastLines(), ["one"]);
  writeSync(next, "two\n".repeat(10));
  log.rotateIfLarge();
  writeSync(next, "three\n");
  assert.deepEqual(log.lastLines(), ["three"]);
  rmSync(path);
  log.rotateIfLarge();
});

test("the number of lines is limited", (t) => {
  const { log, run } = opened(t);
  writeSync(run, Array.from({ length: 100 }, (_, line) => `line ${line}\n`).join(""));
  assert.deepEqual([log.lastLines().length, log.lastLines().at(-1)], [12, "line 99"]);
});

test("the last lines say that the log is incomplete if the disk is full", (t) => {
  const { path, log } = opened(t);
  rmSync(path);
  symlinkSync("/dev/full", path);
  assert.equal(log.lastLines().at(-1), `${path} is incomplete: ENOSPC: no space left on device, write`);
});

test("the size is checked until rotation is stopped", async (t) => {
  const { path, log, run } = opened(t, 3);
  const clock = virtualClock(0);
  const enough = log.startRotation(clock);
  writeSync(run, "a line\n");
  await clock.advance(10_000);
  assert.equal(readFileSync(path, "utf8"), "");
  enough();
  writeSync(run, "a line\n");
  await clock.advance(20_000);
  assert.equal(readFileSync(path, "utf8"), "a line\n");
});

test("a rotation that fails is tried again", async (t) => {
  const { path, log, run } = opened(t, 3);
  const clock = virtualClock(0);
  writeSync(run, "a line\n");
  mkdirSync(`${path}.1`);
  const enough = log.startRotation(clock);
  await clock.advance(10_000);
  rmSync(`${path}.1`, { recursive: true });
  await clock.advance(10_000);
  enough();
  assert.equal(readFileSync(`${path}.1`, "utf8"), "a line\n");
});
