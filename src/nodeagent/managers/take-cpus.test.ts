import assert from "node:assert/strict";
import { test } from "node:test";
import { formatCpuSet, parseCpuSet } from "./cpu-set.ts";
import { twoSockets } from "./managers.fixture.ts";
import { takeDistributed, takePacked } from "./take-cpus.ts";

const packed: [name: string, available: string, count: number, taken: string][] = [
  ["zero CPUs are none", "0-15", 0, ""],
  ["one CPU does not split a free core if possible", "1,0,8", 1, "1"],
  ["two threads of one core", "0-15", 2, "0,8"],
  ["eight CPUs fill a whole socket", "0-15", 8, "0-3,8-11"],
  ["the fuller socket first", "0-3,4-5,8-13", 4, "4-5,12-13"],
  ["the remainder comes from the next core", "0-15", 3, "0-1,8"],
];
for (const [name, available, count, taken] of packed)
  test(`packed: ${name}`, () =>
    assert.equal(formatCpuSet(takePacked(twoSockets, parseCpuSet(available), count)), taken));

const distributed: [name: string, available: string, count: number, group: number, taken: string][] = [
  ["CPUs that fit on one NUMA node stay there", "0-15", 4, 1, "0-1,8-9"],
  ["more are distributed evenly", "0-15", 12, 1, "0-2,4-6,8-10,12-14"],
  ["in whole cores", "0-15", 12, 2, "0-2,4-6,8-10,12-14"],
  ["a count that is not a multiple of the group size is packed", "0-15", 9, 2, "0-4,8-11"],
];
for (const [name, available, count, group, taken] of distributed)
  test(`distributed: ${name}`, () =>
    assert.equal(formatCpuSet(takeDistributed(twoSockets, parseCpuSet(available), count, group)), taken));

test("too few CPUs are an error", () => {
  assert.throws(() => takePacked(twoSockets, parseCpuSet("0-3"), 5), /not enough cpus/);
  assert.throws(() => takeDistributed(twoSockets, parseCpuSet("0-3"), 5, 1), /not enough cpus/);
});
