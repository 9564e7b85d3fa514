import assert from "node:assert/strict";
import { mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { readRecord, removeDraft, removeRecord, writeRecord } from "./record-file.ts";

test("a record is written atomically, and a draft left by a killed agent is removed with it", async (t) => {
  const folder = await mkdtemp(join(tmpdir(), "orch-record-"));
  t.after(() => rm(folder, { recursive: true }));
  const path = join(folder, "record");
  await writeRecord(path, { driver: "a" });
  assert.deepEqual([await readRecord(path), await readdir(folder)], [{ driver: "a" }, ["record"]]);
  await writeFile(`${path}.new`, "");
  await removeDraft(path);
  assert.deepEqual(await readdir(folder), ["record"]);
  await writeFile(`${path}.new`, "");
  await removeRecord(path);
  assert.deepEqual(await readdir(folder), []);
  // A directory in its place keeps the record from being written.
  await mkdir(join(path, "in-the-way"), { recursive: true });
  await assert.rejects(writeRecord(path, { driver: "b" }));
  assert.deepEqual([await readdir(folder), await readRecord(path)], [["record"], undefined]);
});
