// Points stay in time order as they are added and removed.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { JournalRecord } from "./journal-record.ts";
import type { Lane } from "./lane.ts";
import { LanePoints } from "./lane-points.ts";
import { PointTable, objectChange, sortedBy } from "./point-table.ts";
import { type PointList, Points, joined } from "./points.ts";
import type { Facet } from "./record.ts";

const table = new PointTable();
const belonging = { lane: {} as Lane, facet: { id: 1 } as Facet };
const point = (time: number, revision = 0): number =>
  table.add(time, objectChange, { revision } as JournalRecord, belonging);
const timesOf = (points: PointList): number[] =>
  Array.from({ length: points.length }, (_, place) => place)
    .filter((place) => points.facetAt(place) >= 0)
    .map((place) => points.timeAt(place));

for (const [name, make] of [
  ["all points", () => new Points(table)],
  ["the points of a lane", () => new LanePoints(table)],
] as const) {
  test(`${name} are sorted by time, in whatever order they are added`, () => {
    const points = make();
    for (const time of [5, 1, 9, 3, 7, 2, 8]) points.add(point(time));
    assert.deepEqual(timesOf(points), [1, 2, 3, 5, 7, 8, 9]);
    assert.deepEqual([...points.numbers()].length, 7);
  });

  test(`${name} with the same time are sorted by sequence`, () => {
    const points = make();
    for (const revision of [3, 1, 2]) points.add(point(5, revision));
    assert.deepEqual(
      [points.at(0), points.at(1), points.at(2)].map(({ sequence }) => sequence),
      [3, 5, 7],
    );
    assert.deepEqual([points.from(5), points.from(5, 5), points.from(5, 5.5), points.from(6)], [0, 1, 2, 3]);
  });

  test(`${name} that are removed are skipped and eventually compacted`, () => {
    const points = make();
    const all = Array.from({ length: 200 }, (_, time) => point(time));
    for (const each of all) points.add(each);
    for (const each of all.slice(0, 150)) points.remove(each);
    points.remove(all[0]!);
    assert.equal(points.size, 50);
    assert.ok(points.length < 120);
    assert.deepEqual(
      timesOf(points),
      Array.from({ length: 50 }, (_, at) => 150 + at),
    );
  });
}

test("the first and the last point are found past removed ones", () => {
  const points = new Points(table);
  const all = [1, 2, 3, 4].map((time) => point(time));
  for (const each of all) points.add(each);
  for (const each of [all[0]!, all[3]!]) points.remove(each);
  assert.deepEqual([points.first()?.time, points.last()?.time], [2, 3]);
});

test("a reused number is found at its new place", () => {
  const own = new PointTable();
  const points = new Points(own);
  const add = (time: number): number => {
    const number = own.add(time, objectChange, { revision: 1 } as JournalRecord, belonging);
    points.add(number);
    return number;
  };
  const first = add(5);
  points.remove(first);
  own.delete(first);
  assert.equal(add(5), first);
  points.remove(first);
  assert.equal(points.size, 0);
});

test("several lists are merged in order", () => {
  const [a, b] = [new Points(table), new LanePoints(table)];
  const removed = point(2);
  for (const each of [point(1), removed, point(4)]) a.add(each);
  b.add(point(3));
  a.remove(removed);
  assert.deepEqual(timesOf(joined(table, [a, b])), [1, 3, 4]);
});

const sorts: [name: string, values: readonly number[]][] = [
  ["small values", [3, 1, 2, 1]],
  ["values that cannot be combined with their index in one number", [2 ** 53, 0, 2 ** 52, 0]],
  ["values in order", [1, 2, 2, 3]],
];
for (const [name, values] of sorts)
  test(`${name} are sorted stably`, () => {
    const numbers = values.map((_, at) => at);
    const expected = numbers.toSorted((a, b) => values[a]! - values[b]! || a - b);
    assert.deepEqual([...sortedBy(numbers, (number) => values[number]!)], expected);
  });
