import { finishSteps } from "#base";
import assert from "node:assert/strict";
import { test } from "node:test";
import { dialects } from "#dialect";
import { ruleSet } from "./rules.ts";
import { type SchemaProps, structuralOf } from "./structural.ts";

const dialect = dialects.orch;
const rules = (...list: Record<string, string | boolean>[]): SchemaProps => ({ "x-orch-validations": list });
const object = (properties: SchemaProps, more: SchemaProps = {}): SchemaProps => ({
  type: "object",
  properties,
  ...more,
});

function failuresOf(schema: SchemaProps, value: unknown, old?: unknown): string[] {
  const set = finishSteps(ruleSet(structuralOf(schema, dialect), true, { dialect, release: 27 }));
  return (set ? finishSteps(set.errors(value, old, "")) : []).map(
    ({ field, detail }) => `${field}: ${detail}`,
  );
}

const number = { type: "integer" };
const cases: [name: string, schema: SchemaProps, value: unknown, old: unknown, says: string[]][] = [
  [
    "a satisfied rule reports nothing",
    object({ a: { ...number, ...rules({ rule: "self > 1" }) } }),
    { a: 2 },
    undefined,
    [],
  ],
  [
    "a maximum length beyond the safe range is a limit like any other",
    object({ a: { type: "string", maxLength: 9007199254740993n, ...rules({ rule: "self != 'b'" }) } }),
    { a: "b" },
    undefined,
    ["a: failed rule: self != 'b'"],
  ],
  [
    "a failed rule reports its message",
    object({ a: { ...number, ...rules({ rule: "self > 1", message: " too small " }) } }),
    { a: 1 },
    undefined,
    ["a: too small"],
  ],
  [
    "a failed rule without a message reports its expression",
    object({ a: number }, rules({ rule: "self.a > 1" })),
    { a: 1 },
    undefined,
    ["<nil>: failed rule: self.a > 1"],
  ],
  [
    "a message may be computed from the value",
    object({ a: number }, rules({ rule: "self.a > 1", messageExpression: '"not " + string(self.a)' })),
    { a: 1 },
    undefined,
    ["<nil>: not 1"],
  ],
  [
    "rules of items name the item",
    object({
      l: { type: "array", maxItems: 5, items: { ...number, ...rules({ rule: "self < 3", message: "m" }) } },
    }),
    { l: [1, 5] },
    undefined,
    ["l[1]: m"],
  ],
  [
    "transition rules are skipped without an old value",
    object({ a: number }, rules({ rule: "self.a >= oldSelf.a" })),
    { a: 1 },
    undefined,
    [],
  ],
  [
    "transition rules compare with the old value",
    object({ a: number }, rules({ rule: "self.a >= oldSelf.a", message: "m" })),
    { a: 1 },
    { a: 2 },
    ["<nil>: m"],
  ],
  [
    "items of a keyed list are matched with old ones by their keys",
    object({
      l: {
        type: "array",
        maxItems: 5,
        "x-orch-list-type": "map",
        "x-orch-list-map-keys": ["k"],
        items: object(
          { k: { type: "string", maxLength: 5 }, v: number },
          { required: ["k"], ...rules({ rule: "self.v == oldSelf.v", message: "fixed" }) },
        ),
      },
    }),
    {
      l: [
        { k: "b", v: 2 },
        { k: "a", v: 9 },
      ],
    },
    {
      l: [
        { k: "a", v: 1 },
        { k: "b", v: 2 },
      ],
    },
    ["l[1]: fixed"],
  ],
  [
    "an evaluation error is reported",
    object({ a: number }, rules({ rule: "1 / self.a > 0" })),
    { a: 0 },
    undefined,
    ["<nil>: division by zero evaluating rule: 1 / self.a > 0"],
  ],
];
for (const [name, schema, value, old, says] of cases)
  test(name, () => assert.deepEqual(failuresOf(schema, value, old), says));

const reasons: [name: string, rule: Record<string, string | boolean>, says: object][] = [
  [
    "a reason determines the type of the error",
    { rule: "self.a > 1", message: "m", reason: "FieldValueForbidden" },
    { type: "FieldValueForbidden", field: "spec", detail: "m" },
  ],
  [
    "a required error shows no value",
    { rule: "self.a > 1", message: "m", reason: "FieldValueRequired" },
    { type: "FieldValueRequired", field: "spec", detail: "m" },
  ],
  [
    "a duplicate needs no message",
    { rule: "self.a > 1", message: "m", reason: "FieldValueDuplicate" },
    { type: "FieldValueDuplicate", field: "spec", value: "object", detail: "" },
  ],
  [
    "a field path determines the field of the error",
    { rule: "self.a > 1", message: "m", fieldPath: ".a" },
    { type: "FieldValueInvalid", field: "spec.a", value: "object", detail: "m" },
  ],
];
for (const [name, rule, says] of reasons)
  test(name, () => {
    const schema = structuralOf(object({ spec: object({ a: number }, rules(rule)) }), dialect);
    const set = finishSteps(ruleSet(schema, true, { dialect, release: 28 }))!;
    assert.deepEqual(finishSteps(set.errors({ spec: { a: 1 } }, undefined, "")), [says]);
  });

const optional = {
  rule: "self['a'] >= oldSelf.orValue({'a': 5})['a']",
  message: "m",
  optionalOldSelf: true,
};
const transitions: [name: string, old: unknown, ratcheting: boolean, says: number][] = [
  ["is evaluated without an old value with ratcheting", undefined, true, 1],
  ["is not evaluated without an old value without ratcheting", undefined, false, 0],
  ["compares with an old value", { a: 3 }, false, 1],
  ["accepts a smaller old value", { a: 1 }, true, 0],
];
for (const [name, old, ratcheting, says] of transitions)
  test(`a rule with an optional old value ${name}`, () => {
    const map = { type: "object", additionalProperties: number };
    const schema = structuralOf(object({ spec: { ...map, maxProperties: 2, ...rules(optional) } }), dialect);
    const set = finishSteps(ruleSet(schema, true, { dialect, release: 29 }))!;
    const before = old && { spec: old };
    const errors = finishSteps(set.errors({ spec: { a: 2 } }, before, "", ratcheting));
    assert.deepEqual(
      errors.map(({ detail }) => detail),
      Array.from({ length: says }, () => "m"),
    );
  });

test("a schema without rules compiles to nothing", () => {
  assert.equal(
    finishSteps(ruleSet(structuralOf(object({ a: number }), dialect), true, { dialect, release: 27 })),
    undefined,
  );
});

test("an observer receives each compilation and each evaluation", () => {
  const received: string[] = [];
  const observer = { compiled: () => received.push("compiled"), evaluated: () => received.push("evaluated") };
  const schema = structuralOf(object({ a: number }, rules({ rule: "self.a > 0" })), dialect);
  const set = finishSteps(ruleSet(schema, true, { dialect, release: 27 }, observer))!;
  for (const a of [1, 0]) finishSteps(set.errors({ a }, undefined, ""));
  assert.deepEqual(received, ["compiled", "evaluated", "evaluated"]);
});

test("the total cost of the rules for one object is limited", () => {
  const rule = "self.all(x, self.all(y, x == y || true))";
  const schema = object({
    l: {
      type: "array",
      maxItems: 500,
      items: number,
      ...rules(...Array.from({ length: 40 }, () => ({ rule }))),
    },
  });
  const says = failuresOf(schema, { l: Array.from({ length: 300 }, (_, i) => i) });
  assert.match(says.at(-1)!, /cost/);
});
