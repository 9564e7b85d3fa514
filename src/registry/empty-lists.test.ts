import assert from "node:assert/strict";
import { test } from "node:test";
import { ConfigMap, Deployment, Pod, Role } from "#api";
import type { Message } from "#schema";
import { clearEmptyLists } from "./empty-lists.ts";

const cases: [name: string, schema: Message, object: object, cleared: object][] = [
  ["a required list that is empty becomes null", Role, { rules: [] }, { rules: null }],
  ["inside lists, too", Role, { rules: [{ verbs: [] }, { verbs: ["get"] }] }, { rules: [{ verbs: null }, { verbs: ["get"] }] }],
  ["inside objects, too", Deployment, { spec: { template: { spec: { containers: [] } } } }, { spec: { template: { spec: { containers: null } } } }],
  ["an optional list stays as it is", Pod, { spec: { containers: [{ args: [] }] } }, { spec: { containers: [{ args: [] }] } }],
  ["what is absent stays absent", Role, {}, {}],
  ["null stays null", Role, { rules: null }, { rules: null }],
  ["null among bytes becomes no bytes", ConfigMap, { binaryData: { a: null, b: "AA==" } }, { binaryData: { a: "", b: "AA==" } }],
  ["a kind without lists is left alone", ConfigMap, { data: { a: "" } }, { data: { a: "" } }],
];
for (const [name, schema, object, cleared] of cases) {
  test(name, () => {
    clearEmptyLists(schema, object);
    assert.deepEqual(object, cleared);
  });
}
