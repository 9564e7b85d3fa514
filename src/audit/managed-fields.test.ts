import assert from "node:assert/strict";
import { test } from "node:test";
import { withoutManagedFields } from "./managed-fields.ts";

const cases: [name: string, text: string, expected: string][] = [
  [
    "in the middle",
    '{"metadata":{"name":"a","managedFields":[{"x":"}"}],"uid":"u"},"n":1}',
    '{"metadata":{"name":"a","uid":"u"},"n":1}',
  ],
  ["first", '{"metadata":{"managedFields":[],"uid":"u"}}', '{"metadata":{"uid":"u"}}'],
  ["last", '{"metadata":{"uid":"u","managedFields":[]}}', '{"metadata":{"uid":"u"}}'],
  ["alone", '{"metadata":{"managedFields":[1,[2]]}}', '{"metadata":{}}'],
  [
    "in items of a list",
    '{"items":[{"metadata":{"a":1,"managedFields":[]}},{"spec":{}}],"metadata":{}}',
    '{"items":[{"metadata":{"a":1}},{"spec":{}}],"metadata":{}}',
  ],
  [
    "in the objects of a table's rows",
    '{"metadata":{},"rows":[{"cells":["a"],"object":{"metadata":{"a":1,"managedFields":[]}}},{"object":null}]}',
    '{"metadata":{},"rows":[{"cells":["a"],"object":{"metadata":{"a":1}}},{"object":null}]}',
  ],
  [
    "only there",
    '{"spec":{"managedFields":1},"metadata":{"labels":{"managedFields":"x"}}}',
    '{"spec":{"managedFields":1},"metadata":{"labels":{"managedFields":"x"}}}',
  ],
  [
    "without changing the digits of numbers",
    '{"n":12345678901234567890,"metadata":{"a":1.0,"managedFields":[]}}',
    '{"n":12345678901234567890,"metadata":{"a":1.0}}',
  ],
  [
    "with surrounding spaces",
    '{ "metadata" : { "managedFields" : [ ] , "a" : 1 } }',
    '{ "metadata" : {  "a" : 1 } }',
  ],
  ["not from other values", '"managedFields"', '"managedFields"'],
];
for (const [name, text, expected] of cases)
  test(`managed fields are removed: ${name}`, () => assert.equal(withoutManagedFields(text), expected));
