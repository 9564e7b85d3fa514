import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { SortedMap } from "./sorted-map.ts";

const key = fc.string({ minLength: 1, maxLength: 4, unit: fc.constantFrom("a", "b", "/", "z") });
const operation = fc.tuple(fc.boolean(), key);

test("a sorted map behaves like a map with its keys sorted", () => {
  fc.assert(
    fc.property(fc.array(operation, { maxLength: 3000, minLength: 1 }), key, (operations, probe) => {
      const model = new Map<string, number>();
      const map = new SortedMap<number>();
      operations.forEach(([insert, at], position) => {
        if (insert) {
          model.set(at, position);
          map.set(at, position);
        } else assert.equal(map.delete(at), model.delete(at));
      });
      const sorted = [...model].sort(([a], [b]) => (a < b ? -1 : 1));
      assert.equal(map.size, model.size);
      assert.deepEqual([...map.from("")], sorted);
      assert.deepEqual(
        [...map.from(probe)],
        sorted.filter(([k]) => k >= probe),
      );
      const scanned: number[] = [];
      map.scan(probe.slice(0, 1), probe, (value) => void scanned.push(value));
      const expected = sorted.filter(([k]) => k.startsWith(probe.slice(0, 1)) && k > probe);
      assert.deepEqual(
        scanned,
        expected.map(([, v]) => v),
      );
      assert.equal(map.count(probe.slice(0, 1), probe), expected.length);
      assert.equal(map.count(""), model.size);
      assert.equal(map.get(probe), model.get(probe));
    }),
    { numRuns: 60 },
  );
});

test("a scan stops when the visitor returns false", () => {
  const map = new SortedMap<number>();
  for (let i = 0; i < 5000; i++) map.set(`k/${String(i).padStart(5, "0")}`, i);
  const seen: number[] = [];
  map.scan("k/", "k/01999", (value) => {
    seen.push(value);
    return seen.length < 3;
  });
  assert.deepEqual(seen, [2000, 2001, 2002]);
  assert.equal(map.count("k/0", "k/01999"), 3000);
});

test("a map built from values in any order equals one built key by key", () => {
  const orders = [
    Array.from({ length: 3000 }, (_, i) => i),
    Array.from({ length: 3000 }, (_, i) => (i * 7919) % 3000),
    [
      ...Array.from({ length: 1500 }, (_, i) => i),
      700,
      3,
      ...Array.from({ length: 900 }, (_, i) => 1500 + i),
    ],
    [],
  ];
  for (const order of orders) {
    const keyOf = (value: number): string => `k${String(value).padStart(5, "0")}`;
    const map = SortedMap.of(order, keyOf);
    const expected = new SortedMap<number>();
    for (const value of order) expected.set(keyOf(value), value);
    assert.deepEqual([...map.values()], [...expected.values()]);
    assert.deepEqual([map.size, map.count("k0", "k00700")], [expected.size, expected.count("k0", "k00700")]);
  }
});
