import assert from "node:assert/strict";
import { test } from "node:test";
import type { ObjectMeta } from "#api";
import { fieldErrorText } from "#base";
import { dialects } from "#dialect";
import { dnsSubdomain } from "./names.ts";
import { validateFinalizersQualified, validateMeta, validateMetaUpdate } from "./object-meta.ts";
import { causesOf } from "./strategies/strategy.fixture.ts";

const meta = (more: Partial<ObjectMeta> = {}): ObjectMeta => ({
  name: "a",
  namespace: "default",
  creationTimestamp: null,
  ...more,
});
const owner = (more: object = {}) => ({
  apiVersion: "apps/v1",
  kind: "Deployment",
  name: "d",
  uid: "u",
  ...more,
});
const manager = (more: object = {}) =>
  ({ manager: "m", operation: "Update", apiVersion: "v1", fieldsType: "FieldsV1", ...more }) as NonNullable<
    ObjectMeta["managedFields"]
  >[number];
const kilobytes = (count: number): string => "x".repeat(count * 1024);

const namespaced: [name: string, meta: ObjectMeta, causes: string[]][] = [
  [
    "valid metadata",
    meta({
      labels: { a: "b" },
      annotations: { "example.com/x": "any\nthing" },
      finalizers: ["example.com/f"],
      ownerReferences: [owner()],
    }),
    [],
  ],
  ["no name", meta({ name: "" }), ["Required metadata.name"]],
  ["an invalid name", meta({ name: "A" }), ["Invalid metadata.name"]],
  ["a prefix with a trailing dash", meta({ generateName: "a-" }), []],
  ["an invalid prefix", meta({ generateName: "Ab-" }), ["Invalid metadata.generateName"]],
  [
    "two errors for a name that is too long and malformed",
    meta({ name: "A".repeat(254) }),
    ["Invalid metadata.name", "Invalid metadata.name"],
  ],
  ["no namespace", meta({ namespace: "" }), ["Required metadata.namespace"]],
  ["an invalid namespace", meta({ namespace: "a.b" }), ["Invalid metadata.namespace"]],
  ["a negative generation", meta({ generation: -1 }), ["Invalid metadata.generation"]],
  ["an invalid label key", meta({ labels: { "a b": "" } }), ["Invalid metadata.labels"]],
  ["an invalid label value", meta({ labels: { a: "b c" } }), ["Invalid metadata.labels"]],
  ["a label value of 64 characters", meta({ labels: { a: "x".repeat(64) } }), ["Invalid metadata.labels"]],
  [
    "a label key with an invalid prefix",
    meta({ labels: { "Example.com/a": "" } }),
    ["Invalid metadata.labels"],
  ],
  [
    "an invalid key and value of a label",
    meta({ labels: { "-": "-" } }),
    ["Invalid metadata.labels", "Invalid metadata.labels"],
  ],
  [
    "an empty label key",
    meta({ labels: { "": "" } }),
    ["Invalid metadata.labels", "Invalid metadata.labels"],
  ],
  [
    "a label key that is a slash",
    meta({ labels: { "/": "" } }),
    ["Invalid metadata.labels", "Invalid metadata.labels", "Invalid metadata.labels"],
  ],
  [
    "a label value that is too long and malformed",
    meta({ labels: { a: "!".repeat(64) } }),
    ["Invalid metadata.labels", "Invalid metadata.labels"],
  ],
  [
    "an empty annotation key",
    meta({ annotations: { "x/": "" } }),
    ["Invalid metadata.annotations", "Invalid metadata.annotations"],
  ],
  ["an uppercase annotation key", meta({ annotations: { "Example.com/A": "" } }), []],
  [
    "an annotation key with non-ASCII characters",
    meta({ annotations: { schlüssel: "" } }),
    ["Invalid metadata.annotations"],
  ],
  ["annotations at the size limit", meta({ annotations: { a: kilobytes(256).slice(1) } }), []],
  [
    "annotations above the size limit",
    meta({ annotations: { a: kilobytes(256) } }),
    ["TooLong metadata.annotations"],
  ],
  [
    "the size of annotations is measured in bytes",
    meta({ annotations: { a: "ä".repeat(128 * 1024) } }),
    ["TooLong metadata.annotations"],
  ],
  [
    "an owner without an apiVersion",
    meta({ ownerReferences: [owner({ apiVersion: "" })] }),
    ["Invalid metadata.ownerReferences.apiVersion"],
  ],
  [
    "an owner whose apiVersion has too many parts",
    meta({ ownerReferences: [owner({ apiVersion: "/a/b" })] }),
    ["Invalid metadata.ownerReferences.apiVersion"],
  ],
  ["an owner whose group is empty", meta({ ownerReferences: [owner({ apiVersion: "/v1" })] }), []],
  [
    "an owner whose apiVersion ends in a slash",
    meta({ ownerReferences: [owner({ apiVersion: "apps/" })] }),
    ["Invalid metadata.ownerReferences.apiVersion"],
  ],
  [
    "an owner without any fields",
    meta({ ownerReferences: [owner({ kind: "", name: "", uid: "" })] }),
    [
      "Invalid metadata.ownerReferences.kind",
      "Invalid metadata.ownerReferences.name",
      "Invalid metadata.ownerReferences.uid",
    ],
  ],
  [
    "an event as owner",
    meta({ ownerReferences: [owner({ apiVersion: "v1", kind: "Event" })] }),
    ["Invalid metadata.ownerReferences"],
  ],
  [
    "a single controller among the owners",
    meta({ ownerReferences: [owner({ controller: true }), owner({ controller: false })] }),
    [],
  ],
  [
    "two controllers",
    meta({ ownerReferences: [owner({ controller: true }), owner({ controller: true })] }),
    ["Invalid metadata.ownerReferences"],
  ],
  ["a malformed finalizer", meta({ finalizers: ["a b"] }), ["Invalid metadata.finalizers"]],
  [
    "both finalizers for dependents",
    meta({ finalizers: ["orphan", "foregroundDeletion"] }),
    ["Invalid metadata.finalizers"],
  ],
  [
    "an unknown operation",
    meta({ managedFields: [manager({ operation: "Guess" })] }),
    ["Invalid metadata.managedFields[0].operation"],
  ],
  [
    "an unknown fieldsType",
    meta({ managedFields: [manager(), manager({ fieldsType: "FieldsV2" })] }),
    ["Invalid metadata.managedFields[1].fieldsType"],
  ],
  [
    "an empty finalizer",
    meta({ finalizers: [""] }),
    ["Invalid metadata.finalizers", "Invalid metadata.finalizers"],
  ],
  [
    "a manager with an unprintable character",
    meta({ managedFields: [manager({ manager: "a\u0007\u0007" })] }),
    ["Invalid metadata.managedFields[0].manager", "Invalid metadata.managedFields[0].manager"],
  ],
  [
    "a manager with a long subresource",
    meta({ managedFields: [manager({ subresource: "s".repeat(257) })] }),
    ["TooLong metadata.managedFields[0].subresource"],
  ],
  [
    "a manager with a long name",
    meta({ managedFields: [manager({ manager: "x".repeat(129) })] }),
    ["TooLong metadata.managedFields[0].manager"],
  ],
];
for (const [name, given, causes] of namespaced) {
  test(`metadata: ${name}`, () =>
    assert.deepEqual(causesOf(validateMeta(given, true, dnsSubdomain)), causes.toSorted()));
}

test("metadata: a cluster-scoped object has no namespace", () => {
  assert.deepEqual(causesOf(validateMeta(meta(), false, dnsSubdomain)), ["Forbidden metadata.namespace"]);
  const { namespace: _, ...bare } = meta();
  assert.deepEqual(causesOf(validateMeta(bare, false, dnsSubdomain)), []);
});

test("metadata: errors contain the given path", () => {
  assert.deepEqual(causesOf(validateMeta(meta({ name: "" }), true, dnsSubdomain, "spec.template.metadata")), [
    "Required spec.template.metadata.name",
  ]);
});

const stored = meta({
  uid: "u",
  resourceVersion: "5",
  generation: 2,
  creationTimestamp: "2030-01-01T00:00:00Z",
});
const going = { ...stored, deletionTimestamp: "2030-01-01T00:00:00Z", finalizers: ["a.b/c"] };
const updates: [name: string, next: ObjectMeta, old: ObjectMeta, causes: string[]][] = [
  ["no change", stored, stored, []],
  ["no resourceVersion", { ...stored, resourceVersion: "" }, stored, ["Invalid metadata.resourceVersion"]],
  ["a different name", { ...stored, name: "b" }, stored, ["Invalid metadata.name"]],
  ["a different namespace", { ...stored, namespace: "b" }, stored, ["Invalid metadata.namespace"]],
  ["a different uid", { ...stored, uid: "v" }, stored, ["Invalid metadata.uid"]],
  [
    "a different creationTimestamp",
    { ...stored, creationTimestamp: null },
    stored,
    ["Invalid metadata.creationTimestamp"],
  ],
  [
    "a deletionTimestamp set by the client",
    { ...stored, deletionTimestamp: "2030-01-01T00:00:00Z" },
    stored,
    ["Invalid metadata.deletionTimestamp"],
  ],
  [
    "a grace period set by the client",
    { ...stored, deletionGracePeriodSeconds: 1 },
    stored,
    ["Invalid metadata.deletionGracePeriodSeconds"],
  ],
  ["a decremented generation", { ...stored, generation: 1 }, stored, ["Invalid metadata.generation"]],
  ["an added finalizer", { ...stored, finalizers: ["a.b/c"] }, stored, []],
  [
    "an added finalizer during deletion",
    { ...going, finalizers: ["a.b/c", "a.b/d"] },
    going,
    ["Forbidden metadata.finalizers"],
  ],
  ["a removed finalizer during deletion", { ...going, finalizers: [] }, going, []],
  ["labels are validated again", { ...stored, labels: { a: "b c" } }, stored, ["Invalid metadata.labels"]],
];
for (const [name, next, old, causes] of updates) {
  test(`changed metadata: ${name}`, () => assert.deepEqual(causesOf(validateMetaUpdate(next, old)), causes));
}

test("immutable timestamps are shown as Go prints them", () => {
  const [error] = validateMetaUpdate({ ...stored, deletionTimestamp: "2030-01-02T03:04:05Z" }, stored);
  assert.equal(
    fieldErrorText(error!),
    "metadata.deletionTimestamp: Invalid value: 2030-01-02 03:04:05 +0000 UTC: field is immutable",
  );
});

test("finalizers of built-in kinds must be qualified or standard ones", () => {
  const { orch, kubernetes } = dialects;
  const wrong = (names: string[], dialect = orch): string[] =>
    validateFinalizersQualified(names, dialect).map(({ field }) => field);
  assert.deepEqual(wrong(["orphan", "foregroundDeletion", "orch", "a.b/c", "bare"]), [
    "metadata.finalizers[4]",
  ]);
  assert.deepEqual(wrong(["kubernetes", "orch"], kubernetes), ["metadata.finalizers[1]"]);
  assert.deepEqual(validateFinalizersQualified(undefined, orch), []);
});
