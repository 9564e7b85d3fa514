import assert from "node:assert/strict";
import { test } from "node:test";
import type { JournalRecord } from "./journal-record.ts";
import { RecordList } from "./record-list.ts";

const record = (sequence: number): JournalRecord => ({
  sequence,
  type: "Created",
  time: sequence,
  revision: sequence,
  group: "",
  kind: "A",
  resource: "as",
  namespace: "n",
  name: `name-${sequence}`,
  uid: "u",
});
const numbers = (records: Iterable<JournalRecord>): number[] =>
  Array.from(records, ({ sequence }) => sequence);

test("records are listed in order after the oldest were removed", () => {
  const list = new RecordList();
  for (let at = 0; at < 5; at++) list.add(record(at));
  list.removeOldest();
  list.removeOldest();
  assert.equal(list.oldest?.sequence, 2);
  assert.deepEqual(numbers(list.all()), [2, 3, 4]);
  assert.deepEqual(numbers(list.all(1)), [3, 4]);
});

test("records are read as they were added, and cannot be changed through what is read", () => {
  const list = new RecordList();
  const added = { ...record(1), fields: [{ path: "spec.a", op: "changed", from: "1", to: "é" }] } as const;
  list.add(added);
  assert.deepEqual([...list.all()], [added]);
  assert.notEqual([...list.all()][0], added);
});

test("an empty list has no memory and nothing to remove", () => {
  const list = new RecordList();
  list.add(record(1));
  list.removeOldest();
  list.removeOldest();
  assert.equal(list.bytes, 0);
  assert.equal(list.oldest, undefined);
  assert.deepEqual(numbers(list.all()), []);
});

test("a list keeps its last records while thousands pass through it", () => {
  const list = new RecordList();
  for (let at = 0; at < 10_000; at++) {
    list.add(record(at));
    if (at >= 100) list.removeOldest();
  }
  assert.equal(list.oldest?.sequence, 9900);
  assert.deepEqual(numbers(list.all(98)), [9998, 9999]);
});
