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
  ["rules are kept with both gates enabled", [true, true], undefined, rules, rules],
  [
    "a new definition loses its rules",
    [false, true],
    undefined,
    { type: "object", ...rules },
    { type: "object" },
  ],
  ["rules new in an update are dropped", [false, true], {}, rules, {}],
  [
    "rules are kept in an update if the stored definition has any",
    [false, true],
    { items: plain },
    rules,
    rules,
  ],
  ["an empty list of rules counts as rules", [false, true], { "x-orch-validations": [] }, rules, rules],
  [
    "rules are dropped at all locations",
    [false, true],
    undefined,
    { properties: { a: rules }, items: rules, additionalProperties: rules, dependencies: { d: rules } },
    { properties: { a: {} }, items: {}, additionalProperties: {}, dependencies: { d: {} } },
  ],
  [
    "rules are kept where validation rejects them",
    [false, true],
    undefined,
    { allOf: [rules] },
    { allOf: [rules] },
  ],
  ["optionalOldSelf is dropped without ratcheting", [true, false], plain, rules, plain],
  ["optionalOldSelf is kept without ratcheting if it was stored", [true, false], rules, rules, rules],
];
for (const [name, [expressions, ratcheting], old, sent, kept] of cases)
  test(name, () => {
    const made = spec(sent);
    dropDisabledFields(made, old && spec(old), { expressions, ratcheting }, dialects.orch);
    assert.deepEqual(made, spec(kept));
  });
