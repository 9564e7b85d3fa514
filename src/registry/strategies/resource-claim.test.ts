import assert from "node:assert/strict";
import { test } from "node:test";
import { fieldErrorText } from "#base";
import type { ApiObject } from "../strategy.ts";
import { podSchedulingContext } from "./pod-scheduling-context.ts";
import { resourceClaim, resourceClaimTemplate, resourceClass } from "./resource-claim.ts";
import { cellsOf, contextOf, tryCreate, tryPart, tryUpdate } from "./strategy.fixture.ts";

const metadata = { name: "a" };
const terms = { nodeSelectorTerms: [] };

const classes: [name: string, sent: object, causes: string[]][] = [
  ["with only a driver name is valid", { driverName: "d.example.com" }, []],
  ["without a driver name is refused", { driverName: "" }, ["Invalid driverName", "Required driverName"]],
  [
    "with a malformed parameters reference is refused",
    { driverName: "d", parametersRef: { kind: "", name: "", namespace: "A_" } },
    ["Invalid parametersRef.namespace", "Required parametersRef.kind", "Required parametersRef.name"],
  ],
  [
    "with an empty node selector is refused",
    { driverName: "d", suitableNodes: terms },
    ["Required suitableNodes.nodeSelectorTerms"],
  ],
];
for (const [name, sent, causes] of classes)
  test(`a resource class ${name}`, () => {
    assert.deepEqual(tryCreate(resourceClass, { metadata, ...sent }).causes, causes);
    const changed = tryUpdate(resourceClass, { metadata, driverName: "d" }, { metadata, ...sent });
    assert.deepEqual(changed.causes, [...causes, ...causes].toSorted());
  });

const claim = (spec: object = {}): object => ({ metadata, spec: { resourceClassName: "c", ...spec } });
const specs: [name: string, spec: object, causes: string[]][] = [
  ["with only a class name is valid", {}, []],
  ["with an invalid class name is refused", { resourceClassName: "A_" }, ["Invalid spec.resourceClassName"]],
  ["with an unknown mode is refused", { allocationMode: "Odd" }, ["NotSupported spec.allocationMode"]],
  [
    "with a malformed parameters reference is refused",
    { parametersRef: { kind: "", name: "" } },
    ["Required spec.parametersRef.kind", "Required spec.parametersRef.name"],
  ],
];
for (const [name, spec, causes] of specs)
  test(`a claim ${name}, and so is its template`, () => {
    const made = tryCreate(resourceClaim, claim(spec));
    assert.deepEqual(made.causes, causes);
    const template = { metadata, spec: { spec: { resourceClassName: "c", ...spec } } };
    assert.deepEqual(
      tryCreate(resourceClaimTemplate, template).causes,
      causes.map((text) => text.replace("spec.", "spec.spec.")),
    );
  });

test("a claim defaults to WaitForFirstConsumer and is immutable", () => {
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

test("a claim template allows only labels and annotations", () => {
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
  ["without an allocation", {}, {}, []],
  ["with an allocation requires a driver name", {}, { allocation: {} }, ["Required status.driverName"]],
  [
    "without an allocation must not be reserved",
    {},
    { reservedFor: [pod("1")] },
    ["Forbidden status.reservedFor"],
  ],
  [
    "that is not shareable is reserved once",
    one,
    { ...one, reservedFor: [pod("1"), pod("2")] },
    ["Forbidden status.reservedFor"],
  ],
  [
    "that is shareable is reserved more than once",
    shared,
    { ...shared, reservedFor: [pod("1"), pod("2")] },
    [],
  ],
  [
    "has unique and complete consumers",
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
    "has a limited number of consumers",
    shared,
    { ...shared, reservedFor: Array.from({ length: 33 }, (_, at) => pod(String(at))) },
    ["TooLong status.reservedFor"],
  ],
  ["keeps its allocation", one, shared, ["Invalid status.allocation"]],
  [
    "in use must not be deallocated",
    { ...one, reservedFor: [pod("1")] },
    { ...back, reservedFor: [pod("1")] },
    ["Forbidden status.deallocationRequested"],
  ],
  [
    "without an allocation must not be deallocated",
    {},
    { deallocationRequested: true },
    ["Forbidden status"],
  ],
  [
    "during deallocation accepts no consumers",
    back,
    { ...back, reservedFor: [pod("1")] },
    ["Forbidden status.reservedFor"],
  ],
  ["is deallocated by its driver", back, one, ["Forbidden status.deallocationRequested"]],
  ["is free after deallocation", back, {}, []],
  [
    "has handles with a driver name and limited size",
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
  test(`a claim's status ${name}`, () => {
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

test("nodes of a pod scheduling context are unique and limited", () => {
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
