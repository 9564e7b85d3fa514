import assert from "node:assert/strict";
import { test } from "node:test";
import { clusterAt, clustersOf, timeAt, xOf } from "./clusters.ts";

const scale = { from: 1000, to: 2000, width: 100 };
const grid = { start: 0, interval: 10 };
const shown = (marks: number[], nearest = 1) =>
  clustersOf(marks, grid, scale, nearest).map(({ x, normal, warnings, changes }) => [
    x,
    normal,
    warnings,
    changes,
  ]);

test("times and positions convert to each other", () => {
  assert.equal(xOf(scale, 1500), 50);
  assert.equal(timeAt(scale, 50), 1500);
});

test("each interval has a mark at its center", () => {
  assert.deepEqual(shown([100, 1, 0, 0, 150, 0, 2, 3]), [
    [0.5, 1, 0, 0],
    [50.5, 0, 2, 3],
  ]);
});

test("marks outside of the screen are omitted", () => {
  assert.deepEqual(shown([1, 1, 0, 0, 98, 1, 0, 0, 150, 1, 0, 0, 300, 1, 0, 0]), [[50.5, 1, 0, 0]]);
});

test("overlapping marks are merged", () => {
  assert.deepEqual(shown([150, 1, 0, 0, 151, 2, 1, 0, 190, 1, 0, 0], 4), [
    [50.5, 3, 1, 0],
    [90.5, 1, 0, 0],
  ]);
});

test("there are never more clusters than fit on the screen", () => {
  const marks = Array.from({ length: 2000 }, (_, at) => [at, 1, 0, 0]).flat();
  const found = clustersOf(marks, { start: 1000, interval: 0.5 }, scale, 4);
  assert.ok(found.length <= 26);
  assert.equal(
    found.reduce((sum, { normal }) => sum + normal, 0),
    2000,
  );
});

test("the nearest cluster within reach is found", () => {
  const clusters = clustersOf([110, 1, 0, 0, 112, 1, 0, 0], grid, scale, 1);
  assert.equal(clusterAt(clusters, 12, 6)?.x, 12.5);
  assert.equal(clusterAt(clusters, 10.6, 6)?.x, 10.5);
  assert.equal(clusterAt(clusters, 50, 6), undefined);
});
