// The journal on disk: written records are read again, and old segments are deleted.
import assert from "node:assert/strict";
import { appendFileSync, mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { journalFiles } from "./journal-files.ts";
import type { JournalRecord } from "./journal-record.ts";
import { type EncodedRecord, RecordList } from "./record-list.ts";

const folder = mkdtempSync(join(tmpdir(), "journal-"));
after(() => rmSync(folder, { recursive: true, force: true }));

const record = (sequence: number): EncodedRecord =>
  new RecordList().add({
    sequence,
    type: "Changed",
    time: sequence,
    revision: sequence,
    group: "",
    kind: "Pod",
    resource: "pods",
    namespace: "n",
    name: "p",
    uid: "u",
  });
const sequences = (records: readonly JournalRecord[]): number[] => records.map(({ sequence }) => sequence);

test("records are read in order across restarts, without incomplete ones", async () => {
  const place = join(folder, "several");
  const first = journalFiles(place, 1_000_000);
  await first.append([record(1), record(2)]);
  await first.close();
  appendFileSync(join(place, readdirSync(place)[0]!), '{"sequence":3,"ti');
  const second = journalFiles(place, 1_000_000);
  assert.deepEqual(sequences(await second.read()), [1, 2]);
  await second.append([record(3)]);
  await second.close();
  const third = journalFiles(place, 1_000_000);
  assert.deepEqual(sequences(await third.read()), [1, 2, 3]);
  for (const name of readdirSync(place)) assert.equal(statSync(join(place, name)).mode & 0o777, 0o600);
});

test("a full segment is followed by another, and deleted once its records have expired", async () => {
  const place = join(folder, "segments");
  const files = journalFiles(place, 100);
  for (const sequence of [1, 2, 3]) await files.append([record(sequence)]);
  assert.equal(readdirSync(place).length, 3);
  await files.forgetBefore(3);
  await files.close();
  assert.deepEqual(sequences(await journalFiles(place, 100).read()), [3]);
});

test("the start of a journal survives a restart, even without records", async () => {
  const place = join(folder, "began");
  assert.equal(await journalFiles(place, 1000).beginning(), undefined);
  await journalFiles(place, 1000).begin({ time: 5, revision: 7 });
  const again = journalFiles(place, 1000);
  assert.deepEqual([await again.beginning(), await again.read()], [{ time: 5, revision: 7 }, []]);
});
