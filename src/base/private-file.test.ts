import assert from "node:assert/strict";
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { writePrivate } from "./private-file.ts";

const folder = mkdtempSync(join(tmpdir(), "orch-private-"));
after(() => rmSync(folder, { recursive: true }));

test("a private file is created with its parent directories, for its owner only, and replaces one with wider permissions", () => {
  const file = join(folder, "deep", "down", "key");
  writePrivate(file, "one");
  chmodSync(file, 0o644);
  writePrivate(file, "two");
  assert.equal(readFileSync(file, "utf8"), "two");
  // prettier-ignore
  assert.deepEqual([file, join(folder, "deep")].map((path) => statSync(path).mode & 0o777), [0o600, 0o700]);
});

test("a failed write keeps the existing file and leaves no temporary file", () => {
  const taken = join(folder, "taken");
  mkdirSync(taken);
  writeFileSync(join(taken, "inside"), "");
  assert.throws(() => writePrivate(taken, "text"), {
    message: /^\/.*\/taken cannot be written: /,
    code: "EISDIR",
  });
  // prettier-ignore
  assert.deepEqual(readdirSync(folder).filter((name) => name.startsWith("taken")), ["taken"]);
});
