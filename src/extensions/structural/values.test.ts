import assert from "node:assert/strict";
import { test } from "node:test";
import { fieldErrorText } from "#base";
import { dialects } from "#dialect";
import { listTypeErrors } from "./list-types.ts";
import { oldItems } from "./ratchet.ts";
import { type SchemaProps, structuralOf } from "./structural.ts";
import { compileValues, valueErrors } from "./values.ts";

const large = 9007199254740993n;
const check = (schema: SchemaProps, value: unknown): string[] =>
  valueErrors(compileValues(schema, { dialect: dialects.orch }), value, "").map(fieldErrorText);

const cases: [name: string, schema: SchemaProps, value: unknown, errors: string[]][] = [
  ["a large integer in an enum", { type: "integer", enum: [1, large] }, large, []],
  [
    "an integer that is not in an enum with a large one",
    { type: "integer", enum: [1, large] },
    2,
    [': Unsupported value: 2: supported values: "1", "9007199254740993"'],
  ],
  [
    "a large integer that equals an item of an enum as a double",
    { type: "integer", enum: [Number(large)] },
    large,
    [],
  ],
  [
    "a large integer just above a maximum",
    { type: "integer", maximum: 9007199254740992 },
    large,
    [": Invalid value: 9007199254740993:  in body should be less than or equal to 9007199254740992"],
  ],
  [
    "a large odd integer that is no multiple of two",
    { type: "integer", multipleOf: 2.5 },
    large,
    [": Invalid value: 9007199254740993:  in body should be a multiple of 2"],
  ],
  [
    "a number just below a multiple",
    { type: "number", multipleOf: 0.01 },
    4.35,
    [": Invalid value: 4.35:  in body should be a multiple of 0.01"],
  ],
  ["a number just above a multiple", { type: "number", multipleOf: 0.01 }, 1.1, []],
  [
    "a number that is tiny compared to the factor",
    { type: "number", multipleOf: 1e30 },
    2.5,
    [": Invalid value: 2.5:  in body should be a multiple of 1e+30"],
  ],
  [
    "limits of strings beyond the safe range",
    { type: "string", minLength: large, maxLength: large },
    "a",
    [': Invalid value: "a":  in body should be at least 9007199254740992 chars long'],
  ],
  [
    "an integer above a fractional maximum",
    { type: "integer", maximum: 10.5 },
    11,
    [": Invalid value: 11:  in body should be less than or equal to 10"],
  ],
  [
    "a number above the same bound",
    { type: "number", maximum: 10.5 },
    10.75,
    [": Invalid value: 10.75:  in body should be less than or equal to 10.5"],
  ],
  [
    "a number beyond 64-bit integers",
    { type: "number", maximum: 100, multipleOf: 0.5 },
    1e20,
    [
      ": Invalid value: 1e+20:  in body should be a multiple of 0.5",
      ": Invalid value: 1e+20:  in body should be less than or equal to 100",
    ],
  ],
  [
    "an integer below a fractional minimum",
    { type: "integer", minimum: 1.5, exclusiveMinimum: true },
    1,
    [": Invalid value: 1:  in body should be greater than 1"],
  ],
  [
    "a value of another type where the schema has a format",
    { type: "string", format: "hostname" },
    { a: 1 },
    [': Invalid value: "":  in body must be of type hostname: ""'],
  ],
  [
    "an integer where the schema has a format",
    { type: "string", format: "hostname" },
    1,
    [': Invalid value: "int64":  in body must be of type hostname: "int64"'],
  ],
  [
    "an empty string with a negative maximum length",
    { type: "string", maxLength: -1 },
    "",
    [": Too long: value is too long"],
  ],
  [
    "a value below a map at the root",
    { type: "object", additionalProperties: { type: "string" } },
    { a: 1 },
    ['a: Invalid value: "integer": .a in body must be of type string: "integer"'],
  ],
  [
    "a property of an object that allows none",
    { type: "object", additionalProperties: false },
    { a: 1 },
    [': Invalid value: "a": .a in body is a forbidden property'],
  ],
];
for (const [name, schema, value, errors] of cases)
  test(`validation of ${name}`, () => assert.deepEqual(check(schema, value), errors));

test("duplicates are found among large integers in list keys and items", () => {
  const items = { type: "object", properties: { k: { type: "integer" } } };
  const list = (more: SchemaProps): SchemaProps => ({ type: "array", items, ...more });
  const twice = [{ k: large }, { k: large }];
  for (const schema of [
    list({ "x-orch-list-type": "set" }),
    list({ "x-orch-list-type": "map", "x-orch-list-map-keys": ["k"] }),
  ]) {
    const structural = structuralOf(schema, dialects.orch);
    assert.deepEqual(
      listTypeErrors(twice, structural).map(({ type }) => type),
      ["FieldValueDuplicate"],
    );
    assert.deepEqual(listTypeErrors([{ k: large }, { k: large + 1n }], structural), []);
  }
  const keyed = structuralOf(
    list({ "x-orch-list-type": "map", "x-orch-list-map-keys": ["k"] }),
    dialects.orch,
  );
  assert.equal(oldItems(keyed, twice.slice(0, 1))({ k: large }), twice[0]);
});
