import assert from "node:assert/strict";
import { test } from "node:test";
import { type Steps, fieldErrorText } from "#base";
import { dialects } from "#dialect";
import type { SchemaProps } from "../structural/structural.ts";
import { schemaErrors } from "./validate-schema.ts";

const language = { dialect: dialects.orch, release: 27 };
function counted<T>(steps: Steps<T>): { readonly steps: number; readonly result: T } {
  for (let count = 0; ; count += 1) {
    const step = steps.next();
    if (step.done) return { steps: count, result: step.value };
  }
}

const check = (spec: SchemaProps): { readonly steps: number; readonly details: string[] } => {
  const schema = { type: "object", properties: { spec } };
  const { steps, result } = counted(schemaErrors(schema, false, "spec.validation", language));
  return { steps, details: result.map(({ field, detail }) => `${field}: ${detail}`) };
};
const many = (count: number, of: (i: number) => SchemaProps): SchemaProps => ({
  type: "object",
  properties: Object.fromEntries(Array.from({ length: count }, (_, i) => [`p${i}`, of(i)])),
});
const text = { type: "string", maxLength: 5 };
const intOrString = { "x-orch-int-or-string": true };
const rules = (...list: string[]): SchemaProps => ({
  "x-orch-validations": list.map((rule) => ({ rule })),
});

const gives: readonly [name: string, schema: SchemaProps, leastSteps: number][] = [
  ["every property", many(1000, () => text), 3000],
  ["every default", many(1000, () => ({ type: "string", default: "x" })), 3000],
  ["every property with a rule", many(200, () => ({ ...text, ...rules("self != 'a'") })), 1200],
  [
    "every rule of one property",
    { ...many(3, () => text), ...rules(...Array<string>(200).fill("true")) },
    800,
  ],
  [
    "every alternative",
    { ...many(300, () => text), anyOf: Array.from({ length: 300 }, (_, i) => ({ required: [`p${i}`] })) },
    1500,
  ],
];
for (const [name, schema, least] of gives)
  test(`validation yields to other work after ${name}`, () => {
    const { steps, details } = check(schema);
    assert.deepEqual(details, []);
    assert.ok(steps >= least, `${steps} steps`);
  });

test("validation time is linear in the size of a definition", () => {
  const stepsOf = (count: number): number => check(many(count, () => ({ ...text, ...rules("true") }))).steps;
  assert.ok(stepsOf(400) < 2.2 * stepsOf(200));
});

test("rules of a schema with an error in it or below are not checked", () => {
  const { details } = check({
    ...many(1, () => ({ ...text, ...rules("") })),
    ...rules("nobody.knows"),
  });
  assert.deepEqual(details, [
    "spec.validation.openAPIV3Schema.properties[spec].properties[p0].x-orch-validations[0].rule: rule is not specified",
  ]);
});

const values: readonly [name: string, property: SchemaProps, details: string[]][] = [
  [
    "a null type, which must be declared as nullable",
    { type: "null" },
    [
      ".type: Unsupported value",
      ".type: Forbidden: type cannot be set to null, use nullable as an alternative",
    ],
  ],
  [
    "a default of another type",
    { type: "string", default: 1 },
    ['.default: Invalid value: "integer":  in body must be of type string: "integer"'],
  ],
  [
    "an item of a default of another type",
    { type: "array", items: { type: "string" }, default: [1] },
    ['.default.[0]: Invalid value: "integer": [0] in body must be of type string: "integer"'],
  ],
  [
    "a default that matches no alternative",
    { type: "string", default: "a", allOf: [{ pattern: "^b" }] },
    [
      ".default: Invalid value: \"a\":  in body should match '^b'",
      '.default: Invalid value: "": "" must validate all the schemas (allOf). None validated',
    ],
  ],
  ["any default of int-or-string", { ...intOrString, default: [{}] }, []],
  [
    "a default of int-or-string that its rules cannot evaluate",
    { ...intOrString, default: {}, ...rules("self == 1") },
    [
      '.default: Invalid value: "": invalid data, expected XIntOrString value to be either a string or integer',
    ],
  ],
  [
    "a default with unknown fields, as Go prints it",
    { type: "object", properties: {}, default: { b: [1.5] } },
    [
      '.default: Invalid value: map[string]interface {}{"b":[]interface {}{1.5}}: must not have unknown fields',
    ],
  ],
  [
    "a default with a duplicate item",
    { type: "array", items: { type: "integer" }, uniqueItems: true, default: [4, 4] },
    [
      '.default: Invalid value: "":  in body shouldn\'t contain duplicates',
      ".uniqueItems: Forbidden: uniqueItems cannot be set to true",
    ],
  ],
  [
    "additionalProperties in an alternative",
    { type: "object", not: { additionalProperties: false } },
    [".not.additionalProperties: Forbidden: must be undefined to be structural"],
  ],
  [
    "a rule that does not compile, as Go prints it",
    { type: "string", maxLength: 3, ...rules("self.") },
    [
      '.x-orch-validations[0].rule: Invalid value: apiextensions.ValidationRule{Rule:"self.", Message:"", MessageExpression:""}: compilation failed: ',
    ],
  ],
  [
    "a rule that is not boolean, even if it can never succeed",
    { type: "string", maxLength: 3, ...rules("timestamp('bad')", "timestamp('bad') == timestamp('bad')") },
    [
      `.x-orch-validations[0].rule: Invalid value: apiextensions.ValidationRule{Rule:"timestamp('bad')", Message:"", MessageExpression:""}: cel expression must evaluate to a bool`,
      `.x-orch-validations[1].rule: Invalid value: apiextensions.ValidationRule{Rule:"timestamp('bad') == timestamp('bad')", Message:"", MessageExpression:""}: program instantiation failed: `,
    ],
  ],
];
for (const [name, property, details] of values)
  test(`validation of a schema: ${name}`, () => {
    const schema = { type: "object", properties: { spec: { type: "object", properties: { a: property } } } };
    const { result } = counted(schemaErrors(schema, false, "spec", language));
    const found = result.map((error) => fieldErrorText(error));
    assert.equal(found.length, details.length, found.join("\n"));
    details.forEach((detail, i) => {
      const start = `spec.openAPIV3Schema.properties[spec].properties[a]${detail}`;
      assert.equal(found[i]!.slice(0, start.length), start);
    });
  });

const laterFields: readonly [name: string, rule: SchemaProps, fields: string[]][] = [
  ["an unknown reason", { rule: "true", reason: "x" }, ["FieldValueNotSupported reason"]],
  ["a known reason", { rule: "true", reason: "FieldValueDuplicate" }, []],
  ["a path to an existing field", { rule: "true", fieldPath: ".p0" }, []],
  ["a path to a missing field", { rule: "true", fieldPath: ".p1" }, ["FieldValueInvalid fieldPath"]],
  [
    "a path of spaces",
    { rule: "true", fieldPath: " " },
    ["FieldValueInvalid fieldPath", "FieldValueInvalid fieldPath"],
  ],
  [
    "an optional old value that is not read",
    { rule: "true", optionalOldSelf: false },
    ["FieldValueInvalid optionalOldSelf"],
  ],
  ["an optional old value", { rule: "!oldSelf.hasValue()", optionalOldSelf: true }, []],
  ["an old value that is not optional", { rule: "!oldSelf.hasValue()" }, ["FieldValueInvalid rule"]],
];
for (const [name, rule, fields] of laterFields)
  test(`fields of rules of later releases: ${name}`, () => {
    const spec = { ...many(1, () => text), "x-orch-validations": [rule] };
    const schema = { type: "object", properties: { spec } };
    const later = { ...language, release: 29 };
    const { result } = counted(schemaErrors(schema, false, "spec", later));
    const at = "spec.openAPIV3Schema.properties[spec].x-orch-validations[0]";
    assert.deepEqual(
      result.map(({ type, field }) => `${type} ${field}`),
      fields.map((field) => field.replace(" ", ` ${at}.`)),
    );
  });

test("a default of the whole object includes its kind", () => {
  const schema = { type: "object", default: {} };
  const { result } = counted(schemaErrors(schema, false, "spec", language));
  const found = result.map(({ field, type }) => `${type} ${field}`);
  assert.deepEqual(found, [
    "FieldValueRequired spec.openAPIV3Schema.default.apiVersion",
    "FieldValueRequired spec.openAPIV3Schema.default.kind",
  ]);
});
