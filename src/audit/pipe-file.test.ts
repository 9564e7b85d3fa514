import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import {
  closeSync,
  constants,
  mkdtempSync,
  openSync,
  readSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { virtualClock } from "#base";
import { isPipe, maxKeptBytes, pipeFile } from "./pipe-file.ts";

function newPipe(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), "audit-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const path = join(folder, "pipe");
  execFileSync("mkfifo", [path]);
  return path;
}

function open(t: TestContext) {
  const path = newPipe(t);
  const errors: string[] = [];
  const clock = virtualClock();
  const openReader = (): number => openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  let reader = openReader();
  const file = pipeFile({ path, clock, onError: ({ message }) => errors.push(message) });
  const bytes = Buffer.alloc(1 << 20);
  const read = (): string => bytes.toString("latin1", 0, readSync(reader, bytes));
  const replaceReader = (): void => {
    closeSync(reader);
    file.write("unread\n");
    reader = openReader();
  };
  t.after(() => closeSync(reader));
  return { file, clock, errors, read, replaceReader };
}

test("a pipe without a reader is refused at once", (t) => {
  const path = newPipe(t);
  assert.throws(() => pipeFile({ path, clock: virtualClock(), onError: assert.fail }), { code: "ENXIO" });
});

test("lines for which a pipe has no room are written once its reader has made room", async (t) => {
  const { file, clock, errors, read } = open(t);
  const lines = Array.from({ length: 30 }, (_, index) => `${String(index).repeat(10_000)}\n`);
  for (const line of lines) file.write(line);
  let found = read();
  assert.ok(found.length < lines.join("").length);
  while (found.length < lines.join("").length) {
    await clock.advance(10);
    found += read();
  }
  assert.ok(found === lines.join(""));
  await file.close();
  assert.deepEqual(errors, []);
});

test("lines written while a pipe has no reader reach the next one", async (t) => {
  const { file, clock, read, replaceReader } = open(t);
  replaceReader();
  await clock.advance(10);
  assert.equal(read(), "unread\n");
  await file.close();
});

test("lines beyond the limit are refused, and those that were never written are reported", async (t) => {
  const { file, errors } = open(t);
  const line = `${"x".repeat(1 << 20)}\n`;
  const fill = (): void => {
    for (let bytes = 0; bytes <= 2 * maxKeptBytes; bytes += line.length) file.write(line);
  };
  assert.throws(fill, { code: "EAGAIN" });
  await file.close();
  assert.match(errors.join(), /pipe: 1[56]\d{6} bytes were not written$/);
});

test("a device that fails otherwise fails the write", async () => {
  const errors: Error[] = [];
  const file = pipeFile({ path: "/dev/full", clock: virtualClock(), onError: (error) => errors.push(error) });
  for (let times = 0; times < 2; times++) assert.throws(() => file.write("1\n"), { code: "ENOSPC" });
  await file.close();
  assert.deepEqual(errors, []);
});

test("pipes, devices and descriptors are not rotated", (t) => {
  const path = newPipe(t);
  const [file, link] = [`${path}-file`, `${path}-link`];
  writeFileSync(file, "");
  symlinkSync(path, link);
  const found = [path, link, "/dev/null", "/dev/stdout", "/proc/self/fd/1", file, `${path}-new`].map(isPipe);
  assert.deepEqual(found, [true, true, true, true, true, false, false]);
});
