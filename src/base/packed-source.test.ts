import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { sourceAt } from "./packed-source.ts";

test("a line of a packed program is mapped to its module", () => {
  const folder = mkdtempSync(join(tmpdir(), "orch-packed-"));
  try {
    mkdirSync(join(folder, "pack"));
    const file = join(folder, "pack", "chunk.js");
    writeFileSync(`${file}.marks`, '[[2,"log.js"],[6,"pods.js"]]');
    assert.deepEqual(
      [1, 3, 5, 7].map((line) => sourceAt(`file://${file}`, line, 1)),
      ["chunk.js:1", "log.js:1", "log.js:3", "pods.js:1"],
    );
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test("a module without white space names the lines of its calls of a log", () => {
  const folder = mkdtempSync(join(tmpdir(), "orch-packed-"));
  try {
    mkdirSync(join(folder, "pack"));
    const file = join(folder, "pack", "program.cjs");
    writeFileSync(`${file}.marks`, '[[2,"log.js"],[3,"pods.js",{"1:21":50,"2:8":90}]]');
    assert.deepEqual(
      [sourceAt(file, 4, 21), sourceAt(file, 5, 8), sourceAt(file, 4, 8)],
      ["pods.js:50", "pods.js:90", "pods.js:1"],
    );
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test("other files keep their names, as do files without readable marks", () => {
  assert.equal(sourceAt("file:///somewhere/server.ts", 12, 1), "server.ts:12");
  assert.equal(sourceAt("file:///nowhere/pack/chunk.js", 12, 1), "chunk.js:12");
});
