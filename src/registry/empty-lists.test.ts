import assert from "node:assert/strict";
import { test } from "node:test";
import { ConfigMap, Deployment, NetworkPolicy, Pod, Role, ValidatingWebhookConfiguration } from "#api";
import type { Message } from "#schema";
import { clearEmptyLists, withoutEmpty } from "./empty-lists.ts";

const cases: [name: string, schema: Message, object: object, cleared: object][] = [
  ["an empty required list becomes null", Role, { rules: [] }, { rules: null }],
  [
    "an empty required list inside a list becomes null",
    Role,
    { rules: [{ verbs: [] }, { verbs: ["get"] }] },
    { rules: [{ verbs: null }, { verbs: ["get"] }] },
  ],
  [
    "an empty required list inside an object becomes null",
    Deployment,
    { spec: { template: { spec: { containers: [] } } } },
    { spec: { template: { spec: { containers: null } } } },
  ],
  [
    "an empty optional list is unchanged",
    Pod,
    { spec: { containers: [{ args: [] }] } },
    { spec: { containers: [{ args: [] }] } },
  ],
  ["absent fields stay absent", Role, {}, {}],
  ["null stays null", Role, { rules: null }, { rules: null }],
  [
    "null values in a map of bytes become empty",
    ConfigMap,
    { binaryData: { a: null, b: "AA==" } },
    { binaryData: { a: "", b: "AA==" } },
  ],
  ["a kind without required lists is unchanged", ConfigMap, { data: { a: "" } }, { data: { a: "" } }],
];
for (const [name, schema, object, cleared] of cases) {
  test(name, () => {
    clearEmptyLists(schema, object);
    assert.deepEqual(object, cleared);
  });
}

const dropped: [name: string, schema: Message, object: object, left: object][] = [
  [
    "a significant empty list has no owner",
    NetworkPolicy,
    { spec: { ingress: [], egress: [{ to: [] }] } },
    { spec: { egress: [{ to: [] }] } },
  ],
  [
    "an empty list in an item that is owned separately has no owner",
    ValidatingWebhookConfiguration,
    { webhooks: [{ name: "a", rules: [], namespaceSelector: { matchLabels: {} } }] },
    { webhooks: [{ name: "a", namespaceSelector: {} }] },
  ],
  [
    "a list that is not empty is kept",
    NetworkPolicy,
    { spec: { ingress: [{}] } },
    { spec: { ingress: [{}] } },
  ],
  [
    "metadata is unchanged",
    NetworkPolicy,
    { metadata: { managedFields: [] } },
    { metadata: { managedFields: [] } },
  ],
  ["other empty lists are kept", Role, { rules: [] }, { rules: [] }],
];
for (const [name, schema, object, left] of dropped) {
  test(name, () => {
    const before = structuredClone(object);
    assert.deepEqual(withoutEmpty(schema, object), left);
    assert.deepEqual(object, before);
  });
}
