// How CI distributes test files over shards, and how it compares replay counts with their floors.
import assert from "node:assert/strict";
import { test } from "node:test";

interface Counts {
  readonly [part: string]: { readonly matching: number; readonly all: number; readonly cut: boolean };
}
type Floors = Readonly<Record<string, number>>;
interface ReplayOutcome {
  readonly job: { readonly name: string };
  readonly counts: Readonly<Record<string, { readonly matching: number; readonly all: number }>>;
  readonly late: string | false;
}
interface Scripts {
  shardsOf(files: readonly string[], most: number, seconds?: Readonly<Record<string, number>>): string[][];
  judge(counts: Counts, floors: Floors): { below: string[]; above: string[] };
  raised(counts: Counts, floors: Floors): Floors;
  readonly noTime: string;
  sumOf(outcomes: readonly ReplayOutcome[]): Counts;
  jobsToRunAgain(outcomes: readonly ReplayOutcome[], floors: Floors): ReplayOutcome["job"][];
  mergeOutcomes(first: readonly ReplayOutcome[], second: readonly ReplayOutcome[]): ReplayOutcome[];
}
const load = async (name: string): Promise<Scripts> =>
  (await import(new URL(`../scripts/${name}`, import.meta.url).href)) as Scripts;
const { shardsOf } = await load("run-suite.mjs");
const { judge, raised, noTime, sumOf, jobsToRunAgain, mergeOutcomes } = await load("replay/floors.mjs");

const shards: [name: string, files: string[], most: number, expected: string[][]][] = [
  ["files are distributed in turn", ["a", "b", "c"], 2, [["a", "c"], ["b"]]],
  ["there are no more shards than files", ["a"], 2, [["a"]]],
  ["a single shard has every file", ["a", "b"], 1, [["a", "b"]]],
];
for (const [name, files, most, expected] of shards)
  test(name, () => assert.deepEqual(shardsOf(files, most), expected));

test("a slow file shares its shard with fewer others, and each shard keeps the order of files", () => {
  assert.deepEqual(shardsOf(["a", "b", "c", "d"], 2, { c: 0.12, d: 0.1 }), [
    ["b", "c"],
    ["a", "d"],
  ]);
});

const counted = (matching: number, cut = false): Counts => ({ part: { matching, all: 9, cut } });
const judged: [name: string, counts: Counts, below: string[], above: string[]][] = [
  ["a part that reaches its floor is neither below nor above", counted(5), [], []],
  ["a part below its floor is named", counted(4), ["part"], []],
  ["a part above its floor is named", counted(6), [], ["part"]],
  ["a part that ran out of time is not judged", counted(4, true), [], []],
];
for (const [name, counts, below, above] of judged)
  test(name, () => assert.deepEqual(judge(counts, { part: 5 }), { below, above }));

test("floors only rise", () => {
  assert.deepEqual(raised(counted(6), { part: 5, other: 3 }), { part: 6, other: 3 });
  assert.deepEqual(raised(counted(4), { part: 5 }), { part: 5 });
});

const outcome = (name: string, matching: number, late: string | false = false): ReplayOutcome => ({
  job: { name },
  counts: { part: { matching, all: 5 } },
  late,
});

test("counts of the jobs of one part are added up, and are incomplete if one job ran out of time", () => {
  const sum = { matching: 7, all: 10, cut: false };
  assert.deepEqual(sumOf([outcome("a", 5), outcome("b", 2)]), { part: sum });
  assert.deepEqual(sumOf([outcome("a", 5), outcome("b", 2, "over 9 s")]), { part: sum });
  assert.deepEqual(sumOf([outcome("a", 5), outcome("b", 2, noTime)]), { part: { ...sum, cut: true } });
});

test("jobs with differences run again if their part is below its floor", () => {
  const [whole, differing] = [outcome("whole", 5), outcome("differing", 4)];
  assert.deepEqual(jobsToRunAgain([whole, differing], { part: 10 }), [differing.job]);
  assert.deepEqual(jobsToRunAgain([whole, differing], { part: 9 }), []);
});

test("the better of two runs counts", () => {
  const [first, better, worse] = [outcome("a", 4), outcome("a", 5), outcome("a", 3)];
  const second = (after: ReplayOutcome): ReplayOutcome => ({ ...after, job: first.job });
  assert.deepEqual(mergeOutcomes([first], [second(better)]), [second(better)]);
  assert.deepEqual(mergeOutcomes([first], [second(worse)]), [first]);
  assert.deepEqual(mergeOutcomes([first], []), [first]);
});
