import assert from "node:assert/strict";
import { test } from "node:test";
import type { IngressClass, LimitRange, ObjectMeta, Pod, StorageClass } from "#api";
import { ApiError } from "#base";
import { dialects } from "#dialect";
import type { AdmissionPlugin, Operation } from "../attributes.ts";
import { attributesOf } from "../attributes.fixture.ts";
import { defaultIngressClass, defaultStorageClass } from "./default-class.ts";
import { limitRanger } from "./limit-ranger.ts";
import { claimResize, storageProtection } from "./storage.ts";

const dialect = dialects.orch;
const { annotations, finalizers } = dialect.names;

interface Made {
  readonly metadata: ObjectMeta;
  readonly spec: { readonly storageClassName?: string; readonly ingressClassName?: string } & Pod["spec"];
}
type Given = {
  readonly resource: string;
  readonly kind: string;
  readonly object: object;
  readonly old?: object;
};
/** Returns the resulting object, or the refusal. */
async function admitted(
  plugin: AdmissionPlugin,
  { resource, kind, object, old }: Given,
): Promise<Made | string> {
  const operation: Operation = old ? "UPDATE" : "CREATE";
  const attributes = attributesOf({
    operation,
    resource: { group: "", version: "v1", resource },
    kind: { group: "", version: "v1", kind },
    name: "x",
    object: structuredClone(object) as Record<string, unknown>,
    oldObject: old as Record<string, unknown> | undefined,
  });
  try {
    if (!plugin.handles.includes(operation)) return attributes.object as unknown as Made;
    await plugin.mutate?.(attributes);
    await plugin.validate?.(attributes);
    return attributes.object as unknown as Made;
  } catch (error) {
    assert.ok(error instanceof ApiError && error.code === 403);
    return error.message.replace(/^.* is forbidden: /, "");
  }
}

const classes = [
  { metadata: { name: "plain", creationTimestamp: "2024-01-09T00:00:00Z" } },
  {
    metadata: {
      name: "old",
      creationTimestamp: "2024-01-01T00:00:00Z",
      annotations: { [annotations.defaultStorageClass]: "true", [annotations.defaultIngressClass]: "true" },
    },
  },
  {
    metadata: {
      name: "b",
      creationTimestamp: "2024-01-02T00:00:00Z",
      annotations: { [annotations.defaultStorageClass]: "true", [annotations.defaultIngressClass]: "true" },
    },
  },
  {
    metadata: {
      name: "a",
      creationTimestamp: "2024-01-02T00:00:00Z",
      annotations: {
        [annotations.betaDefaultStorageClass]: "true",
        [annotations.defaultIngressClass]: "true",
      },
    },
  },
];
const claims: [
  name: string,
  known: object[],
  metadata: object,
  spec: object,
  expected: string | undefined,
][] = [
  ["the newest default class is used, or the first by name if equally old", classes, {}, {}, "a"],
  ["without a default class none is set", classes.slice(0, 1), {}, {}, undefined],
  ["an empty class name is kept", classes, {}, { storageClassName: "" }, ""],
  ["a given class is kept", classes, {}, { storageClassName: "mine" }, "mine"],
  [
    "the deprecated annotation counts as a class",
    classes,
    { annotations: { [annotations.betaStorageClass]: "x" } },
    {},
    undefined,
  ],
];
for (const [name, known, metadata, spec, expected] of claims) {
  test(`claims: ${name}`, async () => {
    const plugin = defaultStorageClass(dialect, async () => known as unknown as StorageClass[]);
    const made = (await admitted(plugin, {
      resource: "persistentvolumeclaims",
      kind: "PersistentVolumeClaim",
      object: { metadata, spec },
    })) as Made;
    assert.equal(made.spec.storageClassName, expected);
  });
}

const ingresses: [name: string, metadata: object, spec: object, expected: string | undefined][] = [
  ["without a class get the default", {}, {}, "a"],
  ["keep their class", {}, { ingressClassName: "mine" }, "mine"],
  [
    "with the deprecated annotation get none",
    { annotations: { [annotations.ingressClass]: "x" } },
    {},
    undefined,
  ],
];
for (const [name, metadata, spec, expected] of ingresses) {
  test(`ingresses ${name}`, async () => {
    const plugin = defaultIngressClass(dialect, async () => classes as unknown as IngressClass[]);
    const made = (await admitted(plugin, {
      resource: "ingresses",
      kind: "Ingress",
      object: { metadata, spec },
    })) as Made;
    assert.equal(made.spec.ingressClassName, expected);
  });
}

const protections: [resource: string, given: string[] | undefined, expected: string[]][] = [
  ["persistentvolumeclaims", undefined, [finalizers.claimProtection]],
  ["persistentvolumes", ["a.b/c"], ["a.b/c", finalizers.volumeProtection]],
  ["persistentvolumes", [finalizers.volumeProtection], [finalizers.volumeProtection]],
];
for (const [resource, given, expected] of protections) {
  test(`new ${resource} with ${given ?? "no finalizers"} get the protection finalizer once`, async () => {
    const made = (await admitted(storageProtection(dialect), {
      resource,
      kind: "",
      object: { metadata: { finalizers: given } },
    })) as Made;
    assert.deepEqual(made.metadata.finalizers, expected);
  });
}

const claim = (storage: string, storageClassName: string | undefined, phase = "Bound"): object => ({
  metadata: {},
  spec: { storageClassName, resources: { requests: { storage } } },
  status: { phase },
});
const growths: [name: string, old: object, next: object, refused: RegExp | undefined][] = [
  ["may be expanded if its class allows it", claim("1Gi", "grows"), claim("2Gi", "grows"), undefined],
  ["may keep its size", claim("1Gi", "fixed"), claim("1024Mi", "fixed"), undefined],
  ["must be bound to be expanded", claim("1Gi", "grows", "Pending"), claim("2Gi", "grows"), /only bound/],
  [
    "cannot be expanded if its class does not allow it",
    claim("1Gi", "fixed"),
    claim("2Gi", "fixed"),
    /must support resize/,
  ],
  [
    "cannot be expanded if its class is missing",
    claim("1Gi", "none"),
    claim("2Gi", "none"),
    /must support resize/,
  ],
  [
    "cannot be expanded without a class",
    claim("1Gi", undefined),
    claim("2Gi", undefined),
    /must support resize/,
  ],
];
for (const [name, old, object, refused] of growths) {
  test(`a claim ${name}`, async () => {
    const find = async (className: string) =>
      ({ grows: { allowVolumeExpansion: true }, fixed: {} })[className] as unknown as
        | StorageClass
        | undefined;
    const outcome = await admitted(claimResize(dialect, find), {
      resource: "persistentvolumeclaims",
      kind: "PersistentVolumeClaim",
      object,
      old,
    });
    if (refused) assert.match(String(outcome), refused);
    else assert.equal(typeof outcome, "object");
  });
}

const range = (...limits: object[]): LimitRange =>
  ({ metadata: { name: "r" }, spec: { limits } }) as unknown as LimitRange;
const container = (requests?: object, limits?: object): object => ({
  name: "c",
  resources: { ...(requests && { requests }), ...(limits && { limits }) },
});
const pod = (containers: object[], initContainers?: object[]): object => ({
  metadata: {},
  spec: { containers, ...(initContainers && { initContainers }) },
});
const ruling: [name: string, range: LimitRange, pod: object, expected: string | undefined][] = [
  ["requests and limits within the bounds", range({ type: "Container", min: { cpu: "50m" } }), pod([container({ cpu: "50m" })]), undefined],
  ["a request below the minimum", range({ type: "Container", min: { cpu: "50m" } }), pod([container({ cpu: "49m" })]), "minimum cpu usage per Container is 50m, but request is 49m"],
  ["no request with a minimum", range({ type: "Container", min: { cpu: "50m" } }), pod([container()]), "minimum cpu usage per Container is 50m.  No request is specified"],
  ["a limit above the maximum", range({ type: "Container", max: { cpu: "1" } }), pod([container({}, { cpu: "2" })]), "maximum cpu usage per Container is 1, but limit is 2"],
  ["no limit with a maximum", range({ type: "Container", max: { cpu: "1" } }), pod([container({ cpu: "1" })]), "maximum cpu usage per Container is 1.  No limit is specified"],
  ["init containers are checked, too", range({ type: "Container", max: { cpu: "1" } }), pod([container({}, { cpu: "1" })], [container({}, { cpu: "3" })]), "maximum cpu usage per Container is 1, but limit is 3"],
  ["a limit that exceeds the ratio", range({ type: "Container", maxLimitRequestRatio: { cpu: "4" } }), pod([container({ cpu: "100m" }, { cpu: "500m" })]), "cpu max limit to request ratio per Container is 4, but provided ratio is 5.000000"],
  ["a limit that equals the ratio", range({ type: "Container", maxLimitRequestRatio: { cpu: "1500m" } }), pod([container({ cpu: "2" }, { cpu: "3" })]), undefined],
  ["a ratio without a request", range({ type: "Container", maxLimitRequestRatio: { cpu: "4" } }), pod([container({}, { cpu: "1" })]), "cpu max limit to request ratio per Container is 4, but no request is specified or request is 0"],
  ["the sum of all containers", range({ type: "Pod", max: { cpu: "2" } }), pod([container({}, { cpu: "1" }), container({}, { cpu: "1500m" })]), "maximum cpu usage per Pod is 2, but limit is 2500m"],
  ["a container without a request makes the sum unknown", range({ type: "Pod", max: { cpu: "2" } }), pod([container({}, { cpu: "1" }), container()]), "maximum cpu usage per Pod is 2.  No limit is specified"],
  ["the largest init container counts for the pod", range({ type: "Pod", max: { memory: "1Gi" } }), pod([container({}, { memory: "1Gi" })], [container({}, { memory: "2Gi" })]), "maximum memory usage per Pod is 1Gi, but limit is 2Gi"],
  ["all violations are reported", range({ type: "Container", min: { cpu: "1", memory: "1" } }), pod([container()]), "[minimum cpu usage per Container is 1.  No request is specified, minimum memory usage per Container is 1.  No request is specified]"],
]; // prettier-ignore
for (const [name, given, object, expected] of ruling) {
  test(`limits: ${name}`, async () => {
    const outcome = await admitted(
      limitRanger(dialect, async () => [given]),
      { resource: "pods", kind: "Pod", object },
    );
    if (expected === undefined) assert.equal(typeof outcome, "object");
    else assert.equal(outcome, expected);
  });
}

const claimed: [name: string, given: LimitRange, requests: object, expected: string | undefined][] = [
  ["a claim within the bounds", range({ type: "PersistentVolumeClaim", min: { storage: "1Gi" }, max: { storage: "2Gi" } }), { storage: "2Gi" }, undefined],
  ["a claim below the minimum", range({ type: "PersistentVolumeClaim", min: { storage: "1Gi" } }), { storage: "1Mi" }, "minimum storage usage per PersistentVolumeClaim is 1Gi, but request is 1Mi"],
  ["a claim above the maximum", range({ type: "PersistentVolumeClaim", max: { storage: "2Gi" } }), { storage: "3Gi" }, "maximum storage usage per PersistentVolumeClaim is 2Gi, but request is 3Gi"],
  ["a claim without a size", range({ type: "PersistentVolumeClaim", max: { storage: "2Gi" } }), {}, "maximum storage usage per PersistentVolumeClaim is 2Gi.  No request is specified"],
  ["limits of pods do not apply to claims", range({ type: "Pod", max: { storage: "1Gi" } }), { storage: "3Gi" }, undefined],
]; // prettier-ignore
for (const [name, given, requests, expected] of claimed) {
  test(`limits: ${name}`, async () => {
    const object = { metadata: { name: "c" }, spec: { resources: { requests } } };
    const outcome = await admitted(
      limitRanger(dialect, async () => [given]),
      { resource: "persistentvolumeclaims", kind: "PersistentVolumeClaim", object },
    );
    if (expected === undefined) assert.equal(typeof outcome, "object");
    else assert.equal(outcome, expected);
  });
}

test("limits: containers get defaults, which an annotation records", async () => {
  const given = range(
    { type: "Container", default: { cpu: "200m", memory: "100Mi" }, defaultRequest: { cpu: "100m" } },
    { type: "Pod" },
  );
  const object = pod([container({ cpu: "1m" })], [{ ...container(), name: "i" }]);
  const { spec, metadata } = (await admitted(
    limitRanger(dialect, async () => [given]),
    { resource: "pods", kind: "Pod", object },
  )) as Made;
  assert.deepEqual(spec.containers?.[0]?.resources, {
    requests: { cpu: "1m" },
    limits: { cpu: "200m", memory: "100Mi" },
  });
  assert.deepEqual(spec.initContainers?.[0]?.resources, {
    requests: { cpu: "100m" },
    limits: { cpu: "200m", memory: "100Mi" },
  });
  assert.equal(
    metadata.annotations?.[annotations.limitRanger],
    "LimitRanger plugin set: cpu, memory limit for container c; cpu request for init container i; cpu, memory limit for init container i",
  );
});
