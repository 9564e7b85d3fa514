import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";

const run = promisify(execFile);
const folder = join(import.meta.dirname, "..", "..", "examples");

const printed: Readonly<Record<string, string[]>> = {
  "test-kit.ts": [
    "marked in spite of 3 faults: a b c",
    "here 3, in the fork 0",
    "after rewinding: 0",
    "events an hour later: 0",
  ],
};

for (const file of readdirSync(folder)) {
  test(`examples/${file} prints the documented output, on the built package`, async () => {
    const { stdout } = await run(process.execPath, [join(folder, file)], { timeout: 240_000 });
    assert.deepEqual(stdout.trim().split("\n"), printed[file]);
  });
}
