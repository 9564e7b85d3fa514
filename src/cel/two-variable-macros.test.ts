// Macros with two variables: results, rejected uses, and costs (facts about the reference).
import assert from "node:assert/strict";
import { test } from "node:test";
import { type SchemaLike, type Value, compile, environment, typeOfSchema, viewOf } from "./index.ts";

const schema: SchemaLike = {
  type: "object",
  properties: {
    val: { type: "object", additionalProperties: { type: "integer" } },
    array: { type: "array", items: { type: "integer" } },
  },
};
const root = typeOfSchema(schema, "root", false)!;
const self = viewOf({ val: { a: 1, b: 2 }, array: [1, 1, 2, 2, 3, 3, 4, 5] }, schema);

function evaluate(
  source: string,
): { readonly value: Value; readonly cost: number } | { readonly error: string } {
  const compiled = compile(environment({ release: 32 }), source, {
    variables: { self: root.type },
    libraryCosts: true,
  });
  return "error" in compiled ? compiled : compiled.program.evaluate({ self }, 1_000_000);
}

const costs: [source: string, cost: number][] = [
  ["self.val.existsOne(k, v, v == 2)", 10],
  ["self.val.transformMap(k, v, v > 1, v + 1).size() == 1", 14],
  ["self.val.transformMap(k, v, v + 1).size() == 2", 15],
  ["self.val.transformMapEntry(k, v, v > 1, {k + '2': v + 1}).size() == 1", 45],
  ["self.val.transformMapEntry(k, v, {k + '2': v + 1}).size() == 2", 77],
  ["self.array.existsOne(i, e, e > 4)", 22],
  ["self.array.transformList(i, e, e > 2, e * 2).size() > 0", 77],
  ["self.array.transformList(i, e, e * 2).size() > 0", 117],
];
for (const [source, cost] of costs)
  test(`${source} costs ${cost}`, () => assert.deepEqual(evaluate(source), { value: true, cost }));

const values: [source: string, value: Value][] = [
  ["self.array.all(i, e, i >= 0 && e > 0)", true],
  ["self.val.exists(k, v, k == 'b' && v == 2)", true],
  ["[10, 20].transformList(i, v, i + v)", [10, 21]],
  ["self.val.transformList(k, v, v > 1, k)", ["b"]],
  ["[10, 20].transformMap(i, v, v)[1]", 20],
  ["['a', 'b'].transformMapEntry(i, v, {v: i})['b']", 1],
];
for (const [source, value] of values)
  test(`${source} evaluates as expected`, () => {
    const outcome = evaluate(source);
    assert.deepEqual("value" in outcome ? outcome.value : outcome, value);
  });

const refused: [source: string, error: RegExp][] = [
  ["self.array.all(i, i, true)", /duplicate variable name: i/],
  ["self.array.all(i, 1, true)", /argument must be a simple name/],
  ["self.array.all(__result__, v, true)", /iteration variable overwrites accumulator variable/],
  ["self.array.all(i, v, v == 'a')", /found no matching overload/],
  ["self.array.transformMap(i, v, true, v, v)", /undeclared reference to 'transformMap'/],
  ["[1, 1].transformMapEntry(i, v, {v: i}).size() == 1", /insert failed: key 1 already exists/],
];
for (const [source, error] of refused)
  test(`${source} is rejected`, () => {
    const outcome = evaluate(source);
    assert.match("error" in outcome ? outcome.error : "", error);
  });

test("earlier releases do not have them", () => {
  const compiled = compile(environment({ release: 31 }), "[1].all(i, v, true)", { variables: {} });
  assert.match("error" in compiled ? compiled.error : "", /found no matching overload|undeclared reference/);
});
