import assert from "node:assert/strict";
import { test } from "node:test";
import type { CustomResourceDefinitionSpec } from "#api";
import { dialects } from "#dialect";
import { dropDisabledFields } from "./disabled-fields.ts";

const rules = { "x-orch-validations": [{ rule: "self.a < 5", optionalOldSelf: true }] };
const plain = { "x-orch-validations": [{ rule: "self.a < 5" }] };
const spec = (openAPIV3Schema: object): CustomResourceDefinitionSpec =>
  structuredClone({
    group: "example.com",
    names: { plural: "widgets", kind: "Widget" },
    scope: "Namespaced",
    versions: [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema } }],
  });

const cases: [
  name: string,
  gates: [boolean, boolean],
  old: object | undefined,
  sent: object,
  kept: object,
][] = [
  ["rules stay with both gates", [true, true], undefined, rules, rules],
  [
    "a new definition loses its rules",
    [false, true],
    undefined,
    { type: "object", ...rules },
    { type: "object" },
  ],
  ["an update without rules before loses them", [false, true], {}, rules, {}],
  ["an update with rules before keeps them", [false, true], { items: plain }, rules, rules],
  ["an empty list of rules counts as rules", [false, true], { "x-orch-validations": [] }, rules, rules],
  [
    "rules go wherever they may stand",
    [false, true],
    undefined,
    { properties: { a: rules }, items: rules, additionalProperties: rules, dependencies: { d: rules } },
    { properties: { a: {} }, items: {}, additionalProperties: {}, dependencies: { d: {} } },
  ],
  ["rules stay where they are refused", [false, true], undefined, { allOf: [rules] }, { allOf: [rules] }],
  ["without ratcheting a rule loses optionalOldSelf", [true, false], plain, rules, plain],
  ["without ratcheting it stays where it was before", [true, false], rules, rules, rules],
];
for (const [name, [expressions, ratcheting], old, sent, kept] of cases)
  test(name, () => {
    const made = spec(sent);
    dropDisabledFields(made, old && spec(old), { expressions, ratcheting }, dialects.orch);
    assert.deepEqual(made, spec(kept));
  });
