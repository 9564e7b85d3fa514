import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { builtFromIn } from "./built-from.ts";

const commit = "0123456789012345678901234567890123456789";
const nothing = { commit: "unknown", tree: "unknown", date: "1970-01-01T00:00:00Z" };
const cases: [name: string, written: string | undefined, expected: object][] = [
  [
    "the file written by the build",
    `{"commit":"${commit}","tree":"clean","date":"2030-01-02T03:04:05Z"}`,
    { commit, tree: "clean", date: "2030-01-02T03:04:05Z" },
  ],
  ["a build without a repository", "{}", nothing],
  ["a missing file", undefined, nothing],
  ["a truncated file", `{"commit":"`, nothing],
];
for (const [name, written, expected] of cases) {
  test(`built from: ${name}`, () => {
    const folder = mkdtempSync(join(tmpdir(), "built-from-"));
    try {
      const file = join(folder, "build.json");
      if (written !== undefined) writeFileSync(file, written);
      assert.deepEqual(builtFromIn(pathToFileURL(file)), expected);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
}
