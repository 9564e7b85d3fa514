import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { CompiledRequirements, type Requirement } from "./selector-match.ts";

/** Reference implementation of one requirement. */
function satisfied(value: string | undefined, { operator, values }: Requirement): boolean {
  if (operator === "exists") return value !== undefined;
  if (operator === "!") return value === undefined;
  if (operator === "notin") return value === undefined || !values.includes(value);
  if (value === undefined) return false;
  if (operator === "in") return values.includes(value);
  if (!/^-?\d+$/.test(value)) return false;
  return operator === "gt" ? Number(value) > Number(values[0]) : Number(value) < Number(values[0]);
}

const keys = fc.constantFrom(...Array.from({ length: 20 }, (_, i) => `k${i}`), "__proto__", "toString");
const values = fc.constantFrom("a", "b", "", "1", "5", "-3");
const numbers = fc.constantFrom("0", "1", "4", "-7");
const requirements: fc.Arbitrary<Requirement> = fc.oneof(
  fc.record({
    key: keys,
    operator: fc.constantFrom("in" as const, "notin" as const),
    values: fc.array(values, { maxLength: 4 }),
  }),
  fc.record({
    key: keys,
    operator: fc.constantFrom("exists" as const, "!" as const),
    values: fc.constant([]),
  }),
  fc.record({
    key: keys,
    operator: fc.constantFrom("gt" as const, "lt" as const),
    values: numbers.map((n) => [n]),
  }),
);

test("compiled requirements match exactly if each of them does", () => {
  fc.assert(
    fc.property(
      fc.array(requirements, { maxLength: 40 }),
      fc.uniqueArray(fc.tuple(keys, values), { selector: ([key]) => key, maxLength: 30 }),
      (given, entries) => {
        const labels = Object.fromEntries(entries);
        const read = (key: string) => (Object.hasOwn(labels, key) ? labels[key] : undefined);
        const expected = given.every((each) => satisfied(read(each.key), each));
        const compiled = new CompiledRequirements(given);
        assert.equal(compiled.matchesMap(labels), expected);
        assert.equal(compiled.matches(read), expected);
      },
    ),
    { numRuns: 500 },
  );
});

const many = Array.from({ length: 100_000 }, (_, i) => `n${i}`);
const costly: [name: string, requirements: Requirement[]][] = [
  ["keys that must be absent", many.map((key) => ({ key, operator: "!", values: [] }))],
  ["keys with forbidden values", many.map((key) => ({ key, operator: "notin", values: ["x"] }))],
  ["keys that must be present", many.map((key) => ({ key, operator: "exists", values: [] }))],
  ["values of one key", [{ key: "app", operator: "in", values: many }]],
  ["forbidden values of one key", [{ key: "app", operator: "notin", values: many }]],
];
for (const [name, given] of costly) {
  test(`100,000 ${name} cost no more per object than one`, () => {
    const compiled = new CompiledRequirements(given);
    const requests: string[] = [];
    const labels = new Proxy<Record<string, string>>(
      { app: "web", tier: "back" },
      {
        get: (target, key) => (requests.push(String(key)), target[String(key)]),
        getOwnPropertyDescriptor: (target, key) => (
          requests.push(String(key)),
          Reflect.getOwnPropertyDescriptor(target, key)
        ),
      },
    );
    compiled.matchesMap(labels);
    assert.ok(requests.length < 20, `${requests.length} lookups`);
  });
}
