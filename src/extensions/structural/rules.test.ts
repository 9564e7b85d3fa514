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

function told(schema: SchemaProps, value: unknown, old?: unknown): string[] {
  const set = finishSteps(ruleSet(structuralOf(schema, dialect), true, { dialect, release: 27 }));
  return (set ? finishSteps(set.errors(value, old, "")) : []).map(
    ({ field, detail }) => `${field}: ${detail}`,
  );
}

const number = { type: "integer" };
const cases: [name: string, schema: SchemaProps, value: unknown, old: unknown, says: string[]][] = [
  [
    "a rule that holds says nothing",
    object({ a: { ...number, ...rules({ rule: "self > 1" }) } }),
    { a: 2 },
    undefined,
    [],
  ],
  [
    "a rule that fails says its message",
    object({ a: { ...number, ...rules({ rule: "self > 1", message: " too small " }) } }),
    { a: 1 },
    undefined,
    ["a: too small"],
  ],
  [
    "without a message it says itself",
    object({ a: number }, rules({ rule: "self.a > 1" })),
    { a: 1 },
    undefined,
    ["<nil>: failed rule: self.a > 1"],
  ],
  [
    "a message may be made from the value",
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
    "without an old value nothing is compared",
    object({ a: number }, rules({ rule: "self.a >= oldSelf.a" })),
    { a: 1 },
    undefined,
    [],
  ],
  [
    "a change is compared with what was there",
    object({ a: number }, rules({ rule: "self.a >= oldSelf.a", message: "m" })),
    { a: 1 },
    { a: 2 },
    ["<nil>: m"],
  ],
  [
    "items of a keyed list are compared by their keys",
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
    "an error in a rule is a finding",
    object({ a: number }, rules({ rule: "1 / self.a > 0" })),
    { a: 0 },
    undefined,
    ["<nil>: division by zero evaluating rule: 1 / self.a > 0"],
  ],
];
for (const [name, schema, value, old, says] of cases)
  test(name, () => assert.deepEqual(told(schema, value, old), says));

const reasons: [name: string, rule: Record<string, string | boolean>, says: object][] = [
  [
    "a reason says what the error is called",
    { rule: "self.a > 1", message: "m", reason: "FieldValueForbidden" },
    { type: "FieldValueForbidden", field: "spec", detail: "m" },
  ],
  [
    "a missing value has no value to show",
    { rule: "self.a > 1", message: "m", reason: "FieldValueRequired" },
    { type: "FieldValueRequired", field: "spec", detail: "m" },
  ],
  [
    "a duplicate needs no message",
    { rule: "self.a > 1", message: "m", reason: "FieldValueDuplicate" },
    { type: "FieldValueDuplicate", field: "spec", value: "object", detail: "" },
  ],
  [
    "a path says which field below is wrong",
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
  ["with ratcheting it is asked without an old value", undefined, true, 1],
  ["without ratcheting it is not", undefined, false, 0],
  ["it compares with an old value", { a: 3 }, false, 1],
  ["it is content with a smaller old value", { a: 1 }, true, 0],
];
for (const [name, old, ratcheting, says] of transitions)
  test(`of a rule whose old value is optional: ${name}`, () => {
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

test("a schema without rules has none to run", () => {
  assert.equal(
    finishSteps(ruleSet(structuralOf(object({ a: number }), dialect), true, { dialect, release: 27 })),
    undefined,
  );
});

test("an observer is told of each compilation and each judgement", () => {
  const heard: string[] = [];
  const observer = { compiled: () => heard.push("compiled"), evaluated: () => heard.push("evaluated") };
  const schema = structuralOf(object({ a: number }, rules({ rule: "self.a > 0" })), dialect);
  const set = finishSteps(ruleSet(schema, true, { dialect, release: 27 }, observer))!;
  for (const a of [1, 0]) finishSteps(set.errors({ a }, undefined, ""));
  assert.deepEqual(heard, ["compiled", "evaluated", "evaluated"]);
});

test("rules together may not cost more than one object is worth", () => {
  const rule = "self.all(x, self.all(y, x == y || true))";
  const schema = object({
    l: {
      type: "array",
      maxItems: 500,
      items: number,
      ...rules(...Array.from({ length: 40 }, () => ({ rule }))),
    },
  });
  const says = told(schema, { l: Array.from({ length: 300 }, (_, i) => i) });
  assert.match(says.at(-1)!, /cost/);
});
