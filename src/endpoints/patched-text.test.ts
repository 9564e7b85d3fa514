import assert from "node:assert/strict";
import { test } from "node:test";
import { patchedText } from "./patched-text.ts";

const metadata = { name: "a", labels: { z: "1", a: "2" } };
const served = { kind: "K", apiVersion: "v1", metadata, data: { b: "1" } };

const cases: [name: string, tree: unknown, of: object, text: string][] = [
  [
    "what was left is as it was, what was touched is in order",
    { ...served, data: { b: "1", a: 2 } },
    served,
    '{"apiVersion":"v1","data":{"a":2,"b":"1"},"kind":"K","metadata":{"name":"a","labels":{"z":"1","a":"2"}}}',
  ],
  [
    "a list that was touched may hold what was not",
    { metadata: { x: [metadata, { d: 1, c: 2 }] } },
    served,
    '{"metadata":{"x":[{"name":"a","labels":{"z":"1","a":"2"}},{"c":2,"d":1}]}}',
  ],
  [
    "without an object everything is in order",
    { kind: "K", metadata },
    {},
    '{"kind":"K","metadata":{"labels":{"a":"2","z":"1"},"name":"a"}}',
  ],
];
for (const [name, tree, of, text] of cases)
  test(`a patched object as text: ${name}`, () => assert.equal(patchedText(tree, of), text));
