import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import {
  closeSync,
  constants,
  mkdtempSync,
  openSync,
  readFileSync,
  readSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, test } from "node:test";
import { gunzipSync } from "node:zlib";
import { virtualClock } from "#base";
import { type RotatingFileOptions, rotatingFile } from "./rotating-file.ts";

const start = Date.UTC(2024, 4, 6, 7, 8, 9, 123);
let folder = "";
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function open(given: Partial<RotatingFileOptions> = {}, files: Readonly<Record<string, string>> = {}) {
  folder = mkdtempSync(join(tmpdir(), "audit-"));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  return rotatingFile({
    path: join(folder, "audit.log"),
    maxBytes: 10,
    maxBackups: 0,
    maxAgeDays: 0,
    compress: false,
    clock: virtualClock(start),
    onError: (error) => assert.fail(error),
    ...given,
  });
}
const names = (): string[] => readdirSync(folder).toSorted();
const contentOf = (name: string): string => readFileSync(join(folder, name), "utf8");

test("a file that would grow too large is rotated under its time", async () => {
  const file = open();
  file.write("12345\n");
  file.write("67890\n");
  await file.close();
  assert.deepEqual(names(), ["audit-2024-05-06T07-08-09.123.log", "audit.log"]);
  assert.equal(contentOf("audit-2024-05-06T07-08-09.123.log"), "12345\n");
  assert.equal(contentOf("audit.log"), "67890\n");
  assert.equal(statSync(join(folder, "audit.log")).mode & 0o777, 0o600);
});

test("an existing file is appended to", async () => {
  const file = open({}, { "audit.log": "old\n" });
  file.write("new\n");
  await file.close();
  assert.equal(contentOf("audit.log"), "old\nnew\n");
});

test("files rotated in the same millisecond get distinct names", async () => {
  const file = open();
  for (let i = 0; i < 3; i++) file.write("1234567\n");
  await file.close();
  assert.equal(names().length, 3);
});

test("old files are removed by number and age, others are kept", async () => {
  const file = open(
    { maxBackups: 2, maxAgeDays: 1 },
    {
      "audit-2024-05-06T07-00-00.000.log": "1",
      "audit-2024-05-06T06-00-00.000.log.gz": "2",
      "audit-2024-05-06T05-00-00.000.log": "too many",
      "audit-2024-05-04T05-00-00.000.log": "too old",
      "audit-other.log": "somebody else's",
    },
  );
  await file.close();
  assert.deepEqual(names(), [
    "audit-2024-05-06T06-00-00.000.log.gz",
    "audit-2024-05-06T07-00-00.000.log",
    "audit-other.log",
    "audit.log",
  ]);
});

test("rotated files are compressed", async () => {
  const file = open({ compress: true });
  file.write("12345\n");
  file.write("67890\n");
  await file.close();
  const [packed] = names();
  assert.equal(packed, "audit-2024-05-06T07-08-09.123.log.gz");
  assert.equal(gunzipSync(readFileSync(join(folder, packed))).toString(), "12345\n");
});

test("a pipe without a reader is refused at once", () => {
  folder = mkdtempSync(join(tmpdir(), "audit-"));
  execFileSync("mkfifo", [join(folder, "pipe")]);
  const rest = { maxBytes: 10, maxBackups: 0, maxAgeDays: 0, compress: false, clock: virtualClock(start) };
  assert.throws(() => rotatingFile({ path: join(folder, "pipe"), ...rest, onError: () => undefined }), {
    code: "ENXIO",
  });
});

test("a pipe is not rotated, a full one is not waited for, and lines stay separate", async () => {
  const written = open({}, { "audit.log": "" });
  await written.close();
  rmSync(join(folder, "audit.log"));
  const pipe = join(folder, "audit.log");
  execFileSync("mkfifo", [pipe]);
  const reader = openSync(pipe, constants.O_RDONLY | constants.O_NONBLOCK);
  const bytes = Buffer.alloc(1 << 20);
  const read = (): string => bytes.toString("latin1", 0, readSync(reader, bytes));
  const rest = { maxBackups: 0, maxAgeDays: 0, compress: false, clock: virtualClock(start) };
  const file = rotatingFile({
    path: pipe,
    ...rest,
    maxBytes: 2 << 20,
    onError: (error) => assert.fail(error),
  });
  const long = "x".repeat(1 << 20);
  assert.throws(() => file.write(`${long}\n`), { code: "EAGAIN" });
  assert.match(read(), /^x+$/);
  file.write("1\n");
  file.write("2\n");
  assert.equal(read(), "\n1\n2\n");
  assert.throws(() => file.write(`${long}\n`), { code: "EAGAIN" });
  read();
  assert.throws(() => file.write(`${long}\n`), { code: "EAGAIN" });
  assert.deepEqual(names(), ["audit.log"]);
  await file.close();
  closeSync(reader);
});

test("a pipe named like a rotated file is left alone", async () => {
  const file = open({ compress: true, maxBackups: 1 });
  const pipe = "audit-2024-05-06T07-00-00.000.log";
  execFileSync("mkfifo", [join(folder, pipe)]);
  for (let i = 0; i < 3; i++) file.write("1234567\n");
  await file.close();
  assert.equal(names().length, 3);
  assert.ok(names().includes(pipe));
});

test("text above the maximum file size is refused", () => {
  assert.throws(() => open().write("x".repeat(11)), /more than a file may have/);
});
