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

test("a private file is made with its folders, for its owner only, and takes the place of an open one", () => {
  const file = join(folder, "deep", "down", "key");
  writePrivate(file, "one");
  chmodSync(file, 0o644);
  writePrivate(file, "two");
  assert.equal(readFileSync(file, "utf8"), "two");
  // prettier-ignore
  assert.deepEqual([file, join(folder, "deep")].map((path) => statSync(path).mode & 0o777), [0o600, 0o700]);
});

test("a write that fails leaves what was there, and no draft", () => {
  const taken = join(folder, "taken");
  mkdirSync(taken);
  writeFileSync(join(taken, "inside"), "");
  assert.throws(() => writePrivate(taken, "text"));
  // prettier-ignore
  assert.deepEqual(readdirSync(folder).filter((name) => name.startsWith("taken")), ["taken"]);
});
