import assert from "node:assert/strict";
import { test } from "node:test";
import type { ApiObject } from "../strategy.ts";
import { namespace } from "./namespace.ts";
import { cellsOf, contextOf, tryCreate, tryPart, tryUpdate } from "./strategy.fixture.ts";

const sent = { metadata: { name: "n" } };

test("a new namespace is active and has its finalizer and name label", () => {
  const { object, causes } = tryCreate(namespace, {
    ...sent,
    spec: { finalizers: ["example.com/x"] },
    status: { phase: "Terminating" },
  });
  assert.deepEqual(causes, []);
  assert.deepEqual((object["metadata"] as { labels: object }).labels, { "orch.io/metadata.name": "n" });
  assert.deepEqual(object["spec"], { finalizers: ["example.com/x", "orch"] });
  assert.deepEqual(object["status"], { phase: "Active" });
});

test("an invalid generated name is not used as a label", () => {
  const object = { metadata: { name: "::x" }, spec: {} } as unknown as ApiObject;
  namespace.prepareForCreate!(object, contextOf(namespace));
  assert.equal(object.metadata.labels, undefined);
});

test("finalizers in the spec change only through the finalize subresource", () => {
  assert.deepEqual(tryUpdate(namespace, sent, { ...sent, spec: { finalizers: [] } }).object["spec"], {
    finalizers: ["orch"],
  });
  assert.deepEqual(
    tryPart(namespace, "finalize", sent, { spec: { finalizers: [] }, status: { phase: "Terminating" } })
      .object["status"],
    { phase: "Active" },
  );
});

const parts: [name: string, part: string, sent: object, causes: string[]][] = [
  [
    "a malformed finalizer is refused",
    "finalize",
    { spec: { finalizers: ["bad one"] } },
    ["Invalid spec.finalizers[0]", "Invalid spec.finalizers[0]"],
  ],
  [
    "an unqualified finalizer must be a known one",
    "finalize",
    { spec: { finalizers: ["plain"] } },
    ["Invalid spec.finalizers[0]"],
  ],
  ["a qualified finalizer is valid", "finalize", { spec: { finalizers: ["orch", "example.com/x"] } }, []],
  [
    "the phase is Active unless the namespace is being deleted",
    "status",
    { status: { phase: "Terminating" } },
    ["Invalid status.Phase"],
  ],
  [
    "the phase is Terminating while the namespace is being deleted",
    "status",
    { metadata: { name: "n", deletionTimestamp: "2024-01-01T00:00:00Z" }, status: { phase: "Active" } },
    ["Invalid status.Phase"],
  ],
  [
    "conditions are not validated",
    "status",
    { status: { phase: "Active", conditions: [{ type: "X", status: "True" }] } },
    [],
  ],
];
for (const [name, part, given, causes] of parts)
  test(name, () => assert.deepEqual(tryPart(namespace, part, sent, given).causes, causes));

test("deletion marks the namespace, and its finalizers block it", () => {
  const object = tryCreate(namespace, sent).object as unknown as ApiObject & {
    status: { phase: string };
    spec: { finalizers: string[] };
  };
  namespace.beginDeletion!(object, contextOf(namespace), undefined);
  assert.equal(object.status.phase, "Terminating");
  assert.equal(namespace.deletionBlocked!(object), true);
  object.spec.finalizers = [];
  assert.equal(namespace.deletionBlocked!(object), false);
});

test("names are DNS labels, and the table row shows the phase", () => {
  assert.notEqual(namespace.validateName!("a.b"), undefined);
  assert.deepEqual(cellsOf(namespace, sent), ["n", "Active", "<unknown>"]);
});
