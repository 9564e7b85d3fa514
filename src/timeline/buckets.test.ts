// Counts per group where there are more groups than are shown.
import assert from "node:assert/strict";
import { test } from "node:test";
import { bucketsOf } from "./buckets.ts";
import type { Selection } from "./selection.ts";

/** Returns a selection of points one microsecond apart, each of a facet with its own reason. */
function selectionOf(facets: readonly number[], reasons: number, points: number): Selection {
  const all = Array.from({ length: reasons }, (_, id) => ({ id, type: "Normal", reason: `R${id}` }));
  const list = {
    length: facets.length,
    from: (time: number) => Math.min(time, facets.length),
    timeAt: (place: number) => place,
    facetAt: (place: number) => facets[place]!,
  };
  return {
    index: { facets: { all: () => all }, pointsIn: () => list },
    parameters: { path: "", by: ["reason"], points },
    lanes: undefined,
    since: 0,
    until: Infinity,
    end: 2_000_000_000,
    wanted: all.map(() => true),
  } as unknown as Selection;
}

test("the largest groups are shown, and the others are counted together", () => {
  const facets = Array.from({ length: 120 }, (_, id) => id);
  const { groups } = bucketsOf(selectionOf([...facets, 119, 119, 7], 130, 2));
  assert.equal(groups.length, 101);
  assert.deepEqual(
    [0, 1, 2, 99, 100].map((at) => [groups[at]!.by, groups[at]!.counts.reduce((sum, count) => sum + count)]),
    [
      [{ reason: "R119" }, 3],
      [{ reason: "R7" }, 2],
      [{ reason: "R0" }, 1],
      [{ reason: "R98" }, 1],
      [{}, 20],
    ],
  );
});

test("very many groups do not exhaust the memory: those not shown have no rows of their own", () => {
  const count = 250_000;
  const facets = Array.from({ length: count }, (_, id) => id);
  const { groups } = bucketsOf(selectionOf(facets, count, 2000));
  assert.equal(groups.at(-1)!.counts[0], count - 100);
});
