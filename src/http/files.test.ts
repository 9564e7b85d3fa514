import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileReply, rangeOf } from "./files.ts";

const ranges: [requested: string | undefined, expected: ReturnType<typeof rangeOf>][] = [
  [undefined, undefined],
  ["bytes=0-9", { from: 0, length: 10 }],
  ["bytes=90-", { from: 90, length: 10 }],
  ["bytes=-5", { from: 95, length: 5 }],
  ["bytes=-500", { from: 0, length: 100 }],
  ["bytes=50-500", { from: 50, length: 50 }],
  ["bytes=100-", "none"],
  ["bytes=9-2", "none"],
  ["bytes=-0", "none"],
  ["bytes=-", undefined],
  ["bytes=0-1,5-6", undefined],
  ["lines=0-1", undefined],
];
for (const [requested, expected] of ranges)
  test(`of 100 bytes, the range ${requested} is ${JSON.stringify(expected) ?? "the whole file"}`, () =>
    assert.deepEqual(rangeOf(requested, 100), expected));

const types: [rule: string, name: string, content: string, type: string][] = [
  [
    "a name that tells the type is believed, whatever the file begins with",
    "broken.json",
    "\0\x01",
    "application/json",
  ],
  ["a packed file is told by its name", "old.log.gz", "no archive at all", "application/gzip"],
  ["a log is text even when it holds other bytes", "machine.log", "\0", "text/x-log; charset=utf-8"],
  [
    "a file without a telling name that begins with text is text",
    "messages",
    "a line\n\tand another\n",
    "text/plain; charset=utf-8",
  ],
  [
    "a file without a telling name that begins with other bytes is bytes",
    "core",
    "\x7fELF\x02",
    "application/octet-stream",
  ],
];
for (const [rule, name, content, type] of types) {
  test(rule, async () => {
    const folder = await mkdtemp(join(tmpdir(), "orch-files-"));
    try {
      const file = join(folder, name);
      await writeFile(file, content);
      const { status, headers } = await fileReply(file, { path: `/${name}`, headers: {} });
      assert.deepEqual([status, headers?.["content-type"]], [200, type]);
    } finally {
      await rm(folder, { recursive: true });
    }
  });
}
