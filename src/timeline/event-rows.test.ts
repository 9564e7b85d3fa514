// Rows of events survive encoding and decoding.
import assert from "node:assert/strict";
import { test } from "node:test";
import { EventRows, decodeRows, encodeRows, spanOf } from "./event-rows.ts";

const reading = (name: string, uid: string, reason: string, first: number, last = first) => ({
  object: { group: "apps", kind: "Deployment", namespace: "n", name, uid },
  facet: {
    type: "Normal",
    reason,
    controller: "c",
    group: "apps",
    kind: "Deployment",
    namespace: "n",
    node: 'ä"',
    resource: "",
  },
  first,
  last,
});

const readings = [
  reading("a", "u1", "Scaled", 1_800_000_000_000_001),
  reading("b", "", "Scaled", 2, 9),
  reading("a", "u1", "Failed", 3),
];
const rows = new EventRows();
for (const [at, each] of readings.entries()) rows.append(10 + at * 5, each);

test("each object and each facet is stored once", () => {
  assert.deepEqual([rows.objects.length, rows.facets.length, rows.length], [2, 2, 3]);
});

test("saved rows are restored", () => {
  const read = decodeRows(encodeRows(rows))!;
  assert.deepEqual(
    readings.map((_, row) => read.reading(row)),
    readings,
  );
  assert.deepEqual([...read.revisions], [10, 15, 20]);
  assert.deepEqual(
    [10, 15, 20, 12, 30].map((revision) => read.rowOf(revision)),
    [0, 1, 2, -1, -1],
  );
});

test("capacity starts small and grows with the rows", () => {
  const many = new EventRows();
  assert.ok(many.revisions.buffer.byteLength < 16_384);
  const added = Array.from({ length: 3000 }, (_, at) => reading("a", `u${at % 7}`, "Scaled", at, at + 1));
  for (const [at, each] of added.entries()) many.append(at + 1, each);
  assert.deepEqual(
    added.map((_, row) => [many.revisions[row], many.reading(row)]),
    added.map((each, row) => [row + 1, each]),
  );
});

test("the span of saved rows is read without the rest", () => {
  assert.deepEqual(spanOf(encodeRows(rows)), { first: 10, last: 20, rows: 3 });
});

const broken: [name: string, bytes: Uint8Array][] = [
  ["empty", new Uint8Array()],
  ["truncated", encodeRows(rows).subarray(0, 40)],
  ["missing the last bytes", encodeRows(rows).subarray(0, -8)],
  [
    "of another form",
    Buffer.from(
      Buffer.from(encodeRows(rows)).toString("latin1").replace('"format":2', '"format":9'),
      "latin1",
    ),
  ],
];
for (const [name, bytes] of broken)
  test(`saved rows that are ${name} are rejected`, () => {
    assert.equal(decodeRows(bytes), undefined);
    assert.equal(spanOf(bytes), undefined);
  });

test("empty saved rows accept new ones", () => {
  const read = decodeRows(encodeRows(new EventRows()))!;
  for (const [at, each] of readings.entries()) read.append(10 + at * 5, each);
  assert.deepEqual([...read.revisions.subarray(0, read.length)], [10, 15, 20]);
});
