import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
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

test("a line that was written in part is ended before the next one", () => {
  folder = mkdtempSync(join(tmpdir(), "audit-"));
  const path = join(folder, "audit.log");
  const program = `
    import { truncateSync } from "node:fs";
    import { virtualClock } from "#base";
    import { rotatingFile } from ${JSON.stringify(new URL("rotating-file.ts", import.meta.url).href)};
    const file = rotatingFile({ path: ${JSON.stringify(path)}, maxBytes: 10_000, clock: virtualClock() });
    try { file.write("x".repeat(5000) + "\\n"); } catch (error) { console.log(error.code); }
    truncateSync(${JSON.stringify(path)}, 3);
    file.write("1\\n");`;
  const node = [process.execPath, "--conditions=orch-source", "--input-type=module", "--eval", program];
  const limited = ["-c", 'trap "" XFSZ; ulimit -S -f 1; exec "$0" "$@"', ...node];
  assert.equal(execFileSync("/bin/sh", limited, { encoding: "utf8" }), "EFBIG\n");
  assert.equal(contentOf("audit.log"), "xxx\n1\n");
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

test("a log that was moved away is continued in a new file", async () => {
  const file = open();
  file.write("12345\n");
  rmSync(join(folder, "audit.log"));
  file.write("67890\n");
  await file.close();
  assert.deepEqual(names(), ["audit.log"]);
  assert.equal(contentOf("audit.log"), "67890\n");
});

test("text above the maximum file size is refused", () => {
  assert.throws(() => open().write("x".repeat(11)), /more than a file may have/);
});
