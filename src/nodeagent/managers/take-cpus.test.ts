import assert from "node:assert/strict";
import { test } from "node:test";
import { formatCpuSet, parseCpuSet } from "./cpu-set.ts";
import { twoSockets } from "./managers.fixture.ts";
import { takeDistributed, takePacked } from "./take-cpus.ts";

const packed: [name: string, available: string, count: number, taken: string][] = [
  ["nothing is nothing", "0-15", 0, ""],
  ["one CPU leaves whole cores alone where it can", "1,0,8", 1, "1"],
  ["two threads of one core", "0-15", 2, "0,8"],
  ["a whole socket where that is asked for", "0-15", 8, "0-3,8-11"],
  ["the fuller socket first", "0-3,4-5,8-13", 4, "4-5,12-13"],
  ["what does not fill a core comes from the next", "0-15", 3, "0-1,8"],
];
for (const [name, available, count, taken] of packed)
  test(`packed: ${name}`, () =>
    assert.equal(formatCpuSet(takePacked(twoSockets, parseCpuSet(available), count)), taken));

const distributed: [name: string, available: string, count: number, group: number, taken: string][] = [
  ["what fits one NUMA node stays there", "0-15", 4, 1, "0-1,8-9"],
  ["more is spread evenly", "0-15", 12, 1, "0-2,4-6,8-10,12-14"],
  ["in whole cores", "0-15", 12, 2, "0-2,4-6,8-10,12-14"],
  ["what no group divides is packed", "0-15", 9, 2, "0-4,8-11"],
];
for (const [name, available, count, group, taken] of distributed)
  test(`distributed: ${name}`, () =>
    assert.equal(formatCpuSet(takeDistributed(twoSockets, parseCpuSet(available), count, group)), taken));

test("too few CPUs are refused", () => {
  assert.throws(() => takePacked(twoSockets, parseCpuSet("0-3"), 5), /not enough cpus/);
  assert.throws(() => takeDistributed(twoSockets, parseCpuSet("0-3"), 5, 1), /not enough cpus/);
});
