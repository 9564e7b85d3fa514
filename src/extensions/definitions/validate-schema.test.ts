import assert from "node:assert/strict";
import { test } from "node:test";
import type { Steps } from "#base";
import { dialects } from "#dialect";
import type { SchemaProps } from "../structural/structural.ts";
import { schemaErrors } from "./validate-schema.ts";

function counted<T>(steps: Steps<T>): { readonly steps: number; readonly result: T } {
  for (let count = 0; ; count += 1) {
    const step = steps.next();
    if (step.done) return { steps: count, result: step.value };
  }
}

const check = (spec: SchemaProps): { readonly steps: number; readonly details: string[] } => {
  const schema = { type: "object", properties: { spec } };
  const { steps, result } = counted(schemaErrors(schema, false, "spec.validation", dialects.orch));
  return { steps, details: result.map(({ field, detail }) => `${field}: ${detail}`) };
};
const many = (count: number, of: (i: number) => SchemaProps): SchemaProps => ({
  type: "object",
  properties: Object.fromEntries(Array.from({ length: count }, (_, i) => [`p${i}`, of(i)])),
});
const text = { type: "string", maxLength: 5 };
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
  test(`others may have their turn after ${name}`, () => {
    const { steps, details } = check(schema);
    assert.deepEqual(details, []);
    assert.ok(steps >= least, `${steps} steps`);
  });

test("work grows with the size of a definition, not with its square", () => {
  const stepsOf = (count: number): number => check(many(count, () => ({ ...text, ...rules("true") }))).steps;
  assert.ok(stepsOf(400) < 2.2 * stepsOf(200));
});

test("rules of a schema with something wrong in it or below are not looked at", () => {
  const { details } = check({
    ...many(1, () => ({ ...text, ...rules("") })),
    ...rules("nobody.knows"),
  });
  assert.deepEqual(details, [
    "spec.validation.openAPIV3Schema.properties[spec].properties[p0].x-orch-validations[0].rule: rule is not specified",
  ]);
});
