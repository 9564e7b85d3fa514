import assert from "node:assert/strict";
import { test } from "node:test";
import type { ObjectMeta } from "#api";
import { fieldErrorText } from "#base";
import { dialects } from "#dialect";
import { dnsSubdomain } from "./names.ts";
import { validateFinalizersQualified, validateMeta, validateMetaUpdate } from "./object-meta.ts";
import { causesOf } from "./strategies/try-out.fixture.ts";

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
    "nothing is wrong",
    meta({
      labels: { a: "b" },
      annotations: { "example.com/x": "any\nthing" },
      finalizers: ["example.com/f"],
      ownerReferences: [owner()],
    }),
    [],
  ],
  ["no name", meta({ name: "" }), ["Required metadata.name"]],
  ["a bad name", meta({ name: "A" }), ["Invalid metadata.name"]],
  ["a prefix that ends in a dash", meta({ generateName: "a-" }), []],
  ["a bad prefix", meta({ generateName: "Ab-" }), ["Invalid metadata.generateName"]],
  [
    "a long bad name is wrong twice",
    meta({ name: "A".repeat(254) }),
    ["Invalid metadata.name", "Invalid metadata.name"],
  ],
  ["no namespace", meta({ namespace: "" }), ["Required metadata.namespace"]],
  ["a bad namespace", meta({ namespace: "a.b" }), ["Invalid metadata.namespace"]],
  ["a negative generation", meta({ generation: -1 }), ["Invalid metadata.generation"]],
  ["a bad label key", meta({ labels: { "a b": "" } }), ["Invalid metadata.labels"]],
  ["a bad label value", meta({ labels: { a: "b c" } }), ["Invalid metadata.labels"]],
  ["a label value of 64 letters", meta({ labels: { a: "x".repeat(64) } }), ["Invalid metadata.labels"]],
  ["a label key with a bad prefix", meta({ labels: { "Example.com/a": "" } }), ["Invalid metadata.labels"]],
  [
    "both halves of a label",
    meta({ labels: { "-": "-" } }),
    ["Invalid metadata.labels", "Invalid metadata.labels"],
  ],
  [
    "a label without a key",
    meta({ labels: { "": "" } }),
    ["Invalid metadata.labels", "Invalid metadata.labels"],
  ],
  [
    "a label key of a slash",
    meta({ labels: { "/": "" } }),
    ["Invalid metadata.labels", "Invalid metadata.labels", "Invalid metadata.labels"],
  ],
  [
    "a long bad label value",
    meta({ labels: { a: "!".repeat(64) } }),
    ["Invalid metadata.labels", "Invalid metadata.labels"],
  ],
  [
    "an annotation without a name",
    meta({ annotations: { "x/": "" } }),
    ["Invalid metadata.annotations", "Invalid metadata.annotations"],
  ],
  ["an annotation key in capitals", meta({ annotations: { "Example.com/A": "" } }), []],
  [
    "an annotation key of another script",
    meta({ annotations: { schlüssel: "" } }),
    ["Invalid metadata.annotations"],
  ],
  ["annotations up to the limit", meta({ annotations: { a: kilobytes(256).slice(1) } }), []],
  ["annotations beyond it", meta({ annotations: { a: kilobytes(256) } }), ["TooLong metadata.annotations"]],
  [
    "annotations are counted in bytes",
    meta({ annotations: { a: "ä".repeat(128 * 1024) } }),
    ["TooLong metadata.annotations"],
  ],
  [
    "an owner without a version",
    meta({ ownerReferences: [owner({ apiVersion: "" })] }),
    ["Invalid metadata.ownerReferences.apiVersion"],
  ],
  [
    "an owner whose version has too many parts",
    meta({ ownerReferences: [owner({ apiVersion: "/a/b" })] }),
    ["Invalid metadata.ownerReferences.apiVersion"],
  ],
  ["an owner whose group is empty", meta({ ownerReferences: [owner({ apiVersion: "/v1" })] }), []],
  [
    "an owner whose group has no version",
    meta({ ownerReferences: [owner({ apiVersion: "apps/" })] }),
    ["Invalid metadata.ownerReferences.apiVersion"],
  ],
  [
    "an owner without anything",
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
    "one controller among owners",
    meta({ ownerReferences: [owner({ controller: true }), owner({ controller: false })] }),
    [],
  ],
  [
    "two controllers",
    meta({ ownerReferences: [owner({ controller: true }), owner({ controller: true })] }),
    ["Invalid metadata.ownerReferences"],
  ],
  ["a finalizer that is no name", meta({ finalizers: ["a b"] }), ["Invalid metadata.finalizers"]],
  [
    "both ways to treat dependents",
    meta({ finalizers: ["orphan", "foregroundDeletion"] }),
    ["Invalid metadata.finalizers"],
  ],
  [
    "a manager that does something else",
    meta({ managedFields: [manager({ operation: "Guess" })] }),
    ["Invalid metadata.managedFields[0].operation"],
  ],
  [
    "fields in an unknown form",
    meta({ managedFields: [manager(), manager({ fieldsType: "FieldsV2" })] }),
    ["Invalid metadata.managedFields[1].fieldsType"],
  ],
  [
    "an empty finalizer",
    meta({ finalizers: [""] }),
    ["Invalid metadata.finalizers", "Invalid metadata.finalizers"],
  ],
  [
    "a manager that rings a bell",
    meta({ managedFields: [manager({ manager: "a\u0007\u0007" })] }),
    ["Invalid metadata.managedFields[0].manager", "Invalid metadata.managedFields[0].manager"],
  ],
  [
    "a manager of a long subresource",
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

test("metadata: what belongs to the cluster has no namespace", () => {
  assert.deepEqual(causesOf(validateMeta(meta(), false, dnsSubdomain)), ["Forbidden metadata.namespace"]);
  const { namespace: _, ...bare } = meta();
  assert.deepEqual(causesOf(validateMeta(bare, false, dnsSubdomain)), []);
});

test("metadata: errors name the path they are under", () => {
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
  ["nothing changed", stored, stored, []],
  ["no version", { ...stored, resourceVersion: "" }, stored, ["Invalid metadata.resourceVersion"]],
  ["another name", { ...stored, name: "b" }, stored, ["Invalid metadata.name"]],
  ["another namespace", { ...stored, namespace: "b" }, stored, ["Invalid metadata.namespace"]],
  ["another uid", { ...stored, uid: "v" }, stored, ["Invalid metadata.uid"]],
  [
    "another beginning",
    { ...stored, creationTimestamp: null },
    stored,
    ["Invalid metadata.creationTimestamp"],
  ],
  [
    "a mark set by hand",
    { ...stored, deletionTimestamp: "2030-01-01T00:00:00Z" },
    stored,
    ["Invalid metadata.deletionTimestamp"],
  ],
  [
    "grace set by hand",
    { ...stored, deletionGracePeriodSeconds: 1 },
    stored,
    ["Invalid metadata.deletionGracePeriodSeconds"],
  ],
  ["a step back", { ...stored, generation: 1 }, stored, ["Invalid metadata.generation"]],
  ["a finalizer more", { ...stored, finalizers: ["a.b/c"] }, stored, []],
  [
    "a finalizer more on what goes",
    { ...going, finalizers: ["a.b/c", "a.b/d"] },
    going,
    ["Forbidden metadata.finalizers"],
  ],
  ["a finalizer less on what goes", { ...going, finalizers: [] }, going, []],
  ["labels are looked at again", { ...stored, labels: { a: "b c" } }, stored, ["Invalid metadata.labels"]],
];
for (const [name, next, old, causes] of updates) {
  test(`changed metadata: ${name}`, () => assert.deepEqual(causesOf(validateMetaUpdate(next, old)), causes));
}

test("times that may not change are shown as Go prints them", () => {
  const [error] = validateMetaUpdate({ ...stored, deletionTimestamp: "2030-01-02T03:04:05Z" }, stored);
  assert.equal(
    fieldErrorText(error!),
    "metadata.deletionTimestamp: Invalid value: 2030-01-02 03:04:05 +0000 UTC: field is immutable",
  );
});

test("finalizers of built-in kinds are qualified or the product's own", () => {
  const { orch, kubernetes } = dialects;
  const wrong = (names: string[], dialect = orch): string[] =>
    validateFinalizersQualified(names, dialect).map(({ field }) => field);
  assert.deepEqual(wrong(["orphan", "foregroundDeletion", "orch", "a.b/c", "bare"]), [
    "metadata.finalizers[4]",
  ]);
  assert.deepEqual(wrong(["kubernetes", "orch"], kubernetes), ["metadata.finalizers[1]"]);
  assert.deepEqual(validateFinalizersQualified(undefined, orch), []);
});
