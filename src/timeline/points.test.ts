// Points keep the order of time, whatever comes and goes.
import assert from "node:assert/strict";
import { test } from "node:test";
import { type Point, Points, joined } from "./points.ts";
import type { TimelineRecord } from "./record.ts";

const record = { facet: { id: 1 } } as TimelineRecord;
const point = (time: number, sequence = 0): Point => ({ time, sequence, edge: "first", record });
const timesOf = (points: Points): number[] =>
  Array.from({ length: points.length }, (_, place) => place)
    .filter((place) => points.facets[place]! >= 0)
    .map((place) => points.at(place).time);

test("points that come in any order stand in the order of time", () => {
  const points = new Points();
  for (const time of [5, 1, 9, 3, 7, 2, 8]) points.add(point(time));
  assert.deepEqual(timesOf(points), [1, 2, 3, 5, 7, 8, 9]);
  assert.deepEqual([...points.times.subarray(0, points.length)], [1, 2, 3, 5, 7, 8, 9]);
  assert.deepEqual([points.first()?.time, points.last()?.time], [1, 9]);
});

test("those of one time stand in the order of their sequence", () => {
  const points = new Points();
  for (const sequence of [3, 1, 2]) points.add(point(5, sequence));
  assert.deepEqual(
    [points.at(0), points.at(1), points.at(2)].map(({ sequence }) => sequence),
    [1, 2, 3],
  );
  assert.deepEqual([points.from(5), points.from(5, 2), points.from(5, 2.5), points.from(6)], [0, 1, 2, 3]);
});

test("what is removed is passed over and swept away at last", () => {
  const points = new Points();
  const all = Array.from({ length: 200 }, (_, time) => point(time));
  for (const each of all) points.add(each);
  for (const each of all.slice(0, 150)) points.remove(each);
  points.remove(all[0]!);
  assert.equal(points.size, 50);
  assert.ok(points.length < 120);
  assert.deepEqual([points.first()?.time, points.last()?.time], [150, 199]);
  assert.deepEqual(
    timesOf(points),
    all.slice(150).map(({ time }) => time),
  );
});

test("several are joined in one order", () => {
  const [a, b] = [new Points(), new Points()];
  const gone = point(2);
  for (const each of [point(1), gone, point(4)]) a.add(each);
  b.add(point(3));
  a.remove(gone);
  assert.deepEqual(timesOf(joined([a, b])), [1, 3, 4]);
});
