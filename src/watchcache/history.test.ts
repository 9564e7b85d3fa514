import assert from "node:assert/strict";
import { test } from "node:test";
import { Change } from "./frame.ts";
import { History } from "./history.ts";
import { encodedThing, prefix, readThing } from "./source.fixture.ts";

const change = (revision: number, key = `n/${revision}`, data = ""): Change =>
  new Change(
    revision,
    readThing({ key: prefix + key, value: encodedThing(key, { data }), revision, created: revision }),
    undefined,
    false,
  );
const after = (history: History, revision: number): number[] | undefined =>
  history.after(revision)?.map((item) => item.revision);
const filled = (
  revisions: readonly number[],
  bounds?: { changes: number; bytes: number },
  since = 0,
): History => {
  const history = new History(since, { bounds });
  for (const [at, revision] of revisions.entries()) history.append(change(revision, `n/${at}`));
  return history;
};
const roomy = { changes: 100, bytes: 1e9 };

const cases: [name: string, history: History, from: number, expected: number[] | undefined][] = [
  ["an empty history has no changes since it began", new History(7), 7, []],
  ["an empty history does not know changes before it began", new History(7), 6, undefined],
  ["the changes after a revision are returned in order", filled([3, 5, 9], roomy), 3, [5, 9]],
  ["a revision between two changes returns the second and later ones", filled([3, 5, 9], roomy), 4, [5, 9]],
  ["a revision after all changes returns none", filled([3, 5, 9], roomy), 50, []],
  ["changes of the same revision are returned together", filled([3, 5, 5, 5, 9], roomy), 3, [5, 5, 5, 9]],
  ["the changes of a known revision are not returned again", filled([3, 5, 5, 5, 9], roomy), 5, [9]],
  [
    "the oldest changes are dropped when there are too many, the newest are kept",
    filled([1, 2, 3, 4, 5], { changes: 2, bytes: 1e9 }),
    3,
    [4, 5],
  ],
  [
    "a revision before a dropped change is refused",
    filled([1, 2, 3, 4, 5], { changes: 2, bytes: 1e9 }),
    2,
    undefined,
  ],
  [
    "a revision with a dropped change is not returned in part",
    filled([1, 4, 4, 4], { changes: 2, bytes: 1e9 }),
    1,
    undefined,
  ],
  [
    "a revision that is known and partly dropped returns later changes",
    filled([1, 4, 4, 4, 6], { changes: 2, bytes: 1e9 }),
    4,
    [6],
  ],
];
for (const [name, history, from, expected] of cases)
  test(name, () => assert.deepEqual(after(history, from), expected));

test("changes of large objects are dropped sooner, except a few", () => {
  const history = new History(0, { bounds: { changes: 1000, bytes: 100_000 } });
  for (let revision = 1; revision <= 500; revision++)
    history.append(change(revision, "n/a", "x".repeat(5000)));
  assert.equal(after(history, history.since)!.length, 64);
  assert.equal(history.newest, 500);
});

test("a long history does not exceed its capacity", () => {
  const history = new History(0, { bounds: { changes: 10, bytes: 1e9 } });
  for (let revision = 1; revision <= 10_000; revision++) history.append(change(revision));
  assert.deepEqual([history.since, history.newest, after(history, 9990)!.length], [9990, 10_000, 10]);
});

test("the capacity follows the rate of changes, and its changes are counted", () => {
  let now = 0;
  const stats = { capacityIncreases: 0, capacityDecreases: 0 };
  const history = new History(0, { bounds: { changes: 512, bytes: 1e9 }, stats, now: () => now });
  let revision = 0;
  const happen = (times: number, everyMilliseconds: number): void => {
    for (let each = 0; each < times; each++) {
      now += everyMilliseconds;
      history.append(change(++revision));
    }
  };
  happen(128, 1);
  assert.equal(history.capacity, 128);
  happen(1000, 1);
  assert.deepEqual(
    [history.capacity, after(history, history.since)!.length, stats],
    [512, 512, { capacityIncreases: 2, capacityDecreases: 0 }],
  );
  happen(1000, 60_000);
  assert.deepEqual(
    [history.capacity, after(history, history.since)!.length, stats],
    [128, 128, { capacityIncreases: 2, capacityDecreases: 2 }],
  );
});
