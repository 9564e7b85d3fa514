import assert from "node:assert/strict";
import { test } from "node:test";
import { fieldErrorText } from "#base";
import type { ApiObject } from "../strategy.ts";
import { podSchedulingContext } from "./pod-scheduling-context.ts";
import { resourceClaim, resourceClaimTemplate, resourceClass } from "./resource-claim.ts";
import { cellsOf, contextOf, tryCreate, tryPart, tryUpdate } from "./try-out.fixture.ts";

const metadata = { name: "a" };
const terms = { nodeSelectorTerms: [] };

const classes: [name: string, sent: object, causes: string[]][] = [
  ["a driver is enough", { driverName: "d.example.com" }, []],
  ["a driver is needed", { driverName: "" }, ["Invalid driverName", "Required driverName"]],
  [
    "parameters are an object",
    { driverName: "d", parametersRef: { kind: "", name: "", namespace: "A_" } },
    ["Invalid parametersRef.namespace", "Required parametersRef.kind", "Required parametersRef.name"],
  ],
  [
    "nodes are chosen by something",
    { driverName: "d", suitableNodes: terms },
    ["Required suitableNodes.nodeSelectorTerms"],
  ],
];
for (const [name, sent, causes] of classes)
  test(`of a class ${name}`, () => {
    assert.deepEqual(tryCreate(resourceClass, { metadata, ...sent }).causes, causes);
    const changed = tryUpdate(resourceClass, { metadata, driverName: "d" }, { metadata, ...sent });
    assert.deepEqual(changed.causes, [...causes, ...causes].toSorted());
  });

const claim = (spec: object = {}): object => ({ metadata, spec: { resourceClassName: "c", ...spec } });
const specs: [name: string, spec: object, causes: string[]][] = [
  ["a class is enough", {}, []],
  ["a class has a name", { resourceClassName: "A_" }, ["Invalid spec.resourceClassName"]],
  ["the mode is known", { allocationMode: "Odd" }, ["NotSupported spec.allocationMode"]],
  [
    "parameters are an object",
    { parametersRef: { kind: "", name: "" } },
    ["Required spec.parametersRef.kind", "Required spec.parametersRef.name"],
  ],
];
for (const [name, spec, causes] of specs)
  test(`of a claim ${name}, and of its template`, () => {
    const made = tryCreate(resourceClaim, claim(spec));
    assert.deepEqual(made.causes, causes);
    const template = { metadata, spec: { spec: { resourceClassName: "c", ...spec } } };
    assert.deepEqual(
      tryCreate(resourceClaimTemplate, template).causes,
      causes.map((text) => text.replace("spec.", "spec.spec.")),
    );
  });

test("a claim waits for its first consumer unless it says otherwise, and never changes", () => {
  const { object } = tryCreate(resourceClaim, claim());
  assert.deepEqual(object["spec"], { resourceClassName: "c", allocationMode: "WaitForFirstConsumer" });
  const causes = ["Invalid spec"];
  assert.deepEqual(tryUpdate(resourceClaim, claim(), claim({ allocationMode: "Immediate" })).causes, causes);
  const template = (mode: string): object => ({
    metadata,
    spec: { spec: { resourceClassName: "c", allocationMode: mode } },
  });
  assert.deepEqual(
    tryUpdate(resourceClaimTemplate, template("Immediate"), template("WaitForFirstConsumer")).causes,
    causes,
  );
});

test("a template gives its claims labels and annotations alone", () => {
  const spec = { metadata: { name: "n", labels: { a: "b" } }, spec: { resourceClassName: "c" } };
  assert.deepEqual(tryCreate(resourceClaimTemplate, { metadata, spec }).causes, [
    "Forbidden spec.metadata.name",
  ]);
});

const pod = (uid: string): object => ({ resource: "pods", name: "p", uid });
const one = { driverName: "d", allocation: { shareable: false } };
const shared = { driverName: "d", allocation: { shareable: true } };
const back = { ...one, deallocationRequested: true };
const statuses: [name: string, before: object, after: object, causes: string[]][] = [
  ["nothing was allocated yet", {}, {}, []],
  ["an allocation is a driver's", {}, { allocation: {} }, ["Required status.driverName"]],
  ["only an allocated claim is reserved", {}, { reservedFor: [pod("1")] }, ["Forbidden status.reservedFor"]],
  [
    "one that is not shared is reserved once",
    one,
    { ...one, reservedFor: [pod("1"), pod("2")] },
    ["Forbidden status.reservedFor"],
  ],
  ["a shared one is reserved more than once", shared, { ...shared, reservedFor: [pod("1"), pod("2")] }, []],
  [
    "consumers are told once, and whole",
    shared,
    { ...shared, reservedFor: [pod("1"), pod("1"), { resource: "", name: "", uid: "" }] },
    [
      "Duplicate status.reservedFor[1].uid",
      "Required status.reservedFor[2].name",
      "Required status.reservedFor[2].resource",
      "Required status.reservedFor[2].uid",
    ],
  ],
  [
    "there are not too many of them",
    shared,
    { ...shared, reservedFor: Array.from({ length: 33 }, (_, at) => pod(String(at))) },
    ["TooLong status.reservedFor"],
  ],
  ["an allocation stays", one, shared, ["Invalid status.allocation"]],
  [
    "what is in use is not taken back",
    { ...one, reservedFor: [pod("1")] },
    { ...back, reservedFor: [pod("1")] },
    ["Forbidden status.deallocationRequested"],
  ],
  ["what is not allocated is not taken back", {}, { deallocationRequested: true }, ["Forbidden status"]],
  [
    "nobody is added to what is taken back",
    back,
    { ...back, reservedFor: [pod("1")] },
    ["Forbidden status.reservedFor"],
  ],
  ["who takes back does so", back, one, ["Forbidden status.deallocationRequested"]],
  ["what was taken back is free", back, {}, []],
  [
    "handles are of drivers, and small",
    {},
    {
      driverName: "d",
      allocation: {
        availableOnNodes: terms,
        resourceHandles: [{ driverName: "", data: "x".repeat(16_385) }],
      },
    },
    [
      "Invalid status.allocation.resourceHandles[0].driverName",
      "Required status.allocation.availableOnNodes.nodeSelectorTerms",
      "Required status.allocation.resourceHandles[0].driverName",
      "TooLong status.allocation.resourceHandles[0].data",
    ],
  ],
];
for (const [name, before, status, causes] of statuses)
  test(`of a claim's status ${name}`, () => {
    const old = { ...tryCreate(resourceClaim, claim()).object, status: before } as unknown as ApiObject;
    const { merge, validate } = resourceClaim.subresources!["status"]!;
    const ctx = contextOf(resourceClaim);
    const object = merge({ ...structuredClone(old), status } as never, old, ctx);
    const found = validate!(object, old, ctx);
    assert.deepEqual(
      found.map(({ type, field }) => `${type.replace("FieldValue", "")} ${field}`).toSorted(),
      causes,
      found.map(fieldErrorText).join("\n"),
    );
  });

const states: [status: object, expected: string][] = [
  [{}, "pending"],
  [one, "allocated"],
  [{ ...one, reservedFor: [pod("1")] }, "allocated,reserved"],
  [back, "allocated,deallocating"],
];
for (const [status, expected] of states)
  test(`a claim is ${expected}`, () =>
    assert.deepEqual(cellsOf(resourceClaim, { ...claim(), status }).slice(0, 4), [
      "a",
      "c",
      "WaitForFirstConsumer",
      expected,
    ]));

test("nodes of a pod's scheduling are told once, and not too many", () => {
  const context = (potentialNodes: readonly string[]): object => ({ metadata, spec: { potentialNodes } });
  assert.deepEqual(tryCreate(podSchedulingContext, context(["a", "a", "A_"])).causes, [
    "Duplicate spec.potentialNodes[1]",
    "Invalid spec.potentialNodes[2]",
  ]);
  const many = Array.from({ length: 129 }, (_, at) => `n${at}`);
  assert.deepEqual(tryCreate(podSchedulingContext, context(many)).causes, ["TooLong spec.potentialNodes"]);
  const resourceClaims = [{ name: "x", unsuitableNodes: ["b", "b"] }, { name: "x" }];
  assert.deepEqual(
    tryPart(podSchedulingContext, "status", context([]), { status: { resourceClaims } }).causes,
    ["Duplicate status.claims[0].unsuitableNodes[1]", "Duplicate status.claims[1]"],
  );
});
