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
  ["an empty history knows that nothing happened since it began", new History(7), 7, []],
  ["an empty history knows nothing of what was before it began", new History(7), 6, undefined],
  [
    "whoever has seen a revision is given the changes behind it, in order",
    filled([3, 5, 9], roomy),
    3,
    [5, 9],
  ],
  [
    "whoever stands between two changes is given the second and those behind it",
    filled([3, 5, 9], roomy),
    4,
    [5, 9],
  ],
  ["whoever stands beyond all changes is given none", filled([3, 5, 9], roomy), 50, []],
  ["all changes of one revision belong together", filled([3, 5, 5, 5, 9], roomy), 3, [5, 5, 5, 9]],
  ["whoever has seen a revision has seen all of it", filled([3, 5, 5, 5, 9], roomy), 5, [9]],
  [
    "the oldest changes are forgotten when there are too many, the newest are still told",
    filled([1, 2, 3, 4, 5], { changes: 2, bytes: 1e9 }),
    3,
    [4, 5],
  ],
  [
    "whoever would need a forgotten change is told that it is gone",
    filled([1, 2, 3, 4, 5], { changes: 2, bytes: 1e9 }),
    2,
    undefined,
  ],
  [
    "a revision of which a change is forgotten is not told in part",
    filled([1, 4, 4, 4], { changes: 2, bytes: 1e9 }),
    1,
    undefined,
  ],
  [
    "whoever has seen a revision that is forgotten in part goes on behind it",
    filled([1, 4, 4, 4, 6], { changes: 2, bytes: 1e9 }),
    4,
    [6],
  ],
];
for (const [name, history, from, expected] of cases)
  test(name, () => assert.deepEqual(after(history, from), expected));

test("changes of large objects are forgotten sooner, down to a few", () => {
  const history = new History(0, { bounds: { changes: 1000, bytes: 100_000 } });
  for (let revision = 1; revision <= 500; revision++)
    history.append(change(revision, "n/a", "x".repeat(5000)));
  assert.equal(after(history, history.since)!.length, 64);
  assert.equal(history.newest, 500);
});

test("a history that goes on for long keeps no more changes than it may", () => {
  const history = new History(0, { bounds: { changes: 10, bytes: 1e9 } });
  for (let revision = 1; revision <= 10_000; revision++) history.append(change(revision));
  assert.deepEqual([history.since, history.newest, after(history, 9990)!.length], [9990, 10_000, 10]);
});

test("the capacity follows how much happens in a minute and a bit, and every change of it is counted", () => {
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
