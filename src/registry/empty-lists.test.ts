import assert from "node:assert/strict";
import { test } from "node:test";
import { ConfigMap, Deployment, NetworkPolicy, Pod, Role, ValidatingWebhookConfiguration } from "#api";
import type { Message } from "#schema";
import { clearEmptyLists, withoutEmpty } from "./empty-lists.ts";

const cases: [name: string, schema: Message, object: object, cleared: object][] = [
  ["a required list that is empty becomes null", Role, { rules: [] }, { rules: null }],
  [
    "inside lists, too",
    Role,
    { rules: [{ verbs: [] }, { verbs: ["get"] }] },
    { rules: [{ verbs: null }, { verbs: ["get"] }] },
  ],
  [
    "inside objects, too",
    Deployment,
    { spec: { template: { spec: { containers: [] } } } },
    { spec: { template: { spec: { containers: null } } } },
  ],
  [
    "an optional list stays as it is",
    Pod,
    { spec: { containers: [{ args: [] }] } },
    { spec: { containers: [{ args: [] }] } },
  ],
  ["what is absent stays absent", Role, {}, {}],
  ["null stays null", Role, { rules: null }, { rules: null }],
  [
    "null among bytes becomes no bytes",
    ConfigMap,
    { binaryData: { a: null, b: "AA==" } },
    { binaryData: { a: "", b: "AA==" } },
  ],
  ["a kind without lists is left alone", ConfigMap, { data: { a: "" } }, { data: { a: "" } }],
];
for (const [name, schema, object, cleared] of cases) {
  test(name, () => {
    clearEmptyLists(schema, object);
    assert.deepEqual(object, cleared);
  });
}

const dropped: [name: string, schema: Message, object: object, left: object][] = [
  [
    "an empty list that counts is nobody's",
    NetworkPolicy,
    { spec: { ingress: [], egress: [{ to: [] }] } },
    { spec: { egress: [{ to: [] }] } },
  ],
  [
    "so is one of an item that has owners of its own",
    ValidatingWebhookConfiguration,
    { webhooks: [{ name: "a", rules: [], namespaceSelector: { matchLabels: {} } }] },
    { webhooks: [{ name: "a", namespaceSelector: {} }] },
  ],
  ["one that is not empty stays", NetworkPolicy, { spec: { ingress: [{}] } }, { spec: { ingress: [{}] } }],
  [
    "metadata is tracked apart",
    NetworkPolicy,
    { metadata: { managedFields: [] } },
    { metadata: { managedFields: [] } },
  ],
  ["other empty lists stay", Role, { rules: [] }, { rules: [] }],
];
for (const [name, schema, object, left] of dropped) {
  test(name, () => {
    const before = structuredClone(object);
    assert.deepEqual(withoutEmpty(schema, object), left);
    assert.deepEqual(object, before);
  });
}
