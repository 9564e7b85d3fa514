import assert from "node:assert/strict";
import { test } from "node:test";
import { isDeepStrictEqual } from "node:util";
import fc from "fast-check";
import type { Toleration } from "#api";
import { Coverage, mergeTolerations } from "./merge-tolerations.ts";

/** The reference rule: whether one toleration covers another. */
function covers(wide: Toleration, narrow: Toleration): boolean {
  if (isDeepStrictEqual(wide, narrow)) return true;
  if ((wide.key ?? "") !== (narrow.key ?? "") && !(!wide.key && wide.operator === "Exists")) return false;
  if (wide.effect && wide.effect !== narrow.effect) return false;
  const { tolerationSeconds: most } = wide;
  if (
    wide.effect === "NoExecute" &&
    most !== undefined &&
    (narrow.tolerationSeconds === undefined || narrow.tolerationSeconds > most)
  )
    return false;
  if (wide.operator === "Exists") return true;
  return (
    (!wide.operator || wide.operator === "Equal") &&
    narrow.operator === "Equal" &&
    (wide.value ?? "") === (narrow.value ?? "")
  );
}

function mergedByRule(all: readonly Toleration[]): Toleration[] {
  const merged: Toleration[] = [];
  all.forEach((each, position) => {
    if (merged.some((other) => covers(other, each))) return;
    if (all.slice(position + 1).some((other) => !isDeepStrictEqual(other, each) && covers(other, each)))
      return;
    merged.push(each);
  });
  return merged;
}

const tolerations = fc.array(
  fc.record(
    {
      key: fc.constantFrom("", "a", "b"),
      operator: fc.constantFrom("", "Equal", "Exists", "Odd"),
      value: fc.constantFrom("", "x", "y"),
      effect: fc.constantFrom("", "NoExecute", "NoSchedule"),
      tolerationSeconds: fc.constantFrom(0, 1, 2),
    },
    { requiredKeys: [], noNullPrototype: true },
  ),
  { maxLength: 8 },
) as unknown as fc.Arbitrary<Toleration[]>;

test("merging equals a pairwise comparison", () => {
  fc.assert(
    fc.property(tolerations, tolerations, (first, second) =>
      assert.deepEqual(mergeTolerations(first, second), mergedByRule([...first, ...second])),
    ),
    { numRuns: 500 },
  );
});

test("a toleration is covered by a set if one of its members covers it", () => {
  fc.assert(
    fc.property(tolerations, tolerations, (wide, narrow) => {
      const coverage = new Coverage();
      for (const each of wide) coverage.add(each);
      for (const each of narrow)
        assert.equal(
          coverage.covers(each),
          wide.some((other) => covers(other, each)),
        );
    }),
    { numRuns: 2000 },
  );
});
