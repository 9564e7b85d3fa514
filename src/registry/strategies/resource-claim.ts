// Resource claims, resource classes and claim templates of dynamic resource allocation.
import {
  type AllocationResult,
  DeviceClaim,
  type DeviceClaimSpec,
  type DeviceClaimStatus,
  ResourceClaimTemplate,
  ResourceClass,
} from "#api";
import { type FieldError, duplicate, forbiddenField, invalidValue, required } from "#base";
import { dns1123LabelProblems, dns1123SubdomainProblems } from "#schema";
import { strategy } from "../strategy.ts";
import { ageColumn, nameColumn } from "./cells/columns.ts";
import { statusPart } from "./parts.ts";
import { nodeSelectorErrors } from "./pod-validation/affinity.ts";
import { templateMetaErrors } from "./pod-validation/claim-template.ts";
import { formatErrors } from "./rules/format.ts";
import { goAllocation, goClaimSpec } from "./rules/go-syntax.ts";
import { supported } from "./rules/one-of.ts";
import { longerThan } from "./rules/numbers.ts";
import { same, unchanged } from "./rules/unchanged.ts";
import { driverNameErrors } from "./volume-rules.ts";

const maxConsumers = 32;
const maxHandles = 32;
const maxHandleBytes = 16 * 1024;

/** Validates the fields that both kinds of parameter references require. */
const referenceErrors = (
  ref: { readonly kind: string; readonly name: string } | undefined,
  path: string,
): FieldError[] =>
  ref === undefined
    ? []
    : (["kind", "name"] as const).flatMap((key) => (ref[key] === "" ? [required(`${path}.${key}`)] : []));

function classErrors({ driverName, parametersRef, suitableNodes }: ResourceClass): FieldError[] {
  const namespace = parametersRef?.namespace;
  return [
    ...driverNameErrors(driverName, "driverName"),
    ...referenceErrors(parametersRef, "parametersRef"),
    ...(namespace ? formatErrors(namespace, "parametersRef.namespace", dns1123LabelProblems) : []),
    ...(suitableNodes ? nodeSelectorErrors(suitableNodes, "suitableNodes") : []),
  ];
}

const claimSpecErrors = (spec: DeviceClaimSpec, path: string): FieldError[] => [
  ...formatErrors(spec.resourceClassName, `${path}.resourceClassName`, dns1123SubdomainProblems),
  ...referenceErrors(spec.parametersRef, `${path}.parametersRef`),
  ...supported(spec.allocationMode, `${path}.allocationMode`, ["Immediate", "WaitForFirstConsumer"]),
];

const claimDefaults = (spec: DeviceClaimSpec): void => {
  spec.allocationMode ||= "WaitForFirstConsumer";
};

function allocationErrors(allocation: AllocationResult, path: string): FieldError[] {
  const { resourceHandles: handles = [], availableOnNodes } = allocation;
  const at = `${path}.resourceHandles`;
  const errors = handles.flatMap(({ driverName = "", data = "" }, position) => [
    ...driverNameErrors(driverName, `${at}[${position}].driverName`),
    ...longerThan(Buffer.byteLength(data), maxHandleBytes, `${at}[${position}].data`),
  ]);
  errors.push(...longerThan(handles.length, maxHandles, at));
  if (availableOnNodes) errors.push(...nodeSelectorErrors(availableOnNodes, `${path}.availableOnNodes`));
  return errors;
}

function consumerErrors(consumers: NonNullable<DeviceClaimStatus["reservedFor"]>): FieldError[] {
  const at = "status.reservedFor";
  const seen = new Set<string>();
  const errors = consumers.flatMap((consumer, position) => {
    const here = `${at}[${position}]`;
    if (seen.has(consumer.uid)) return [duplicate(`${here}.uid`, consumer.uid)];
    seen.add(consumer.uid);
    const needed = ["resource", "name", "uid"] as const;
    return needed.flatMap((key) => (consumer[key] === "" ? [required(`${here}.${key}`)] : []));
  });
  return [...errors, ...longerThan(consumers.length, maxConsumers, at)];
}

/**
 * Validates the consumers of a claim: only an allocated claim can be reserved, and no consumer is added
 * during deallocation.
 */
function reservationErrors({ metadata, status }: DeviceClaim, old: DeviceClaimStatus): FieldError[] {
  const { reservedFor = [], allocation, deallocationRequested } = status;
  const wrong = (why: string): FieldError => forbiddenField("status.reservedFor", why);
  if (reservedFor.length === 0) return [];
  if (!allocation) return [wrong("may not be specified when `allocated` is not set")];
  const errors =
    !allocation.shareable && reservedFor.length > 1 ? [wrong("may not be reserved more than once")] : [];
  const isNew = reservedFor.some((each) => !old.reservedFor?.some((before) => same(each, before)));
  if (isNew && (metadata.deletionTimestamp || deallocationRequested))
    errors.push(
      wrong("new entries may not be added while `deallocationRequested` or `deletionTimestamp` are set"),
    );
  return errors;
}

function statusErrors(claim: DeviceClaim, { status: old }: DeviceClaim): FieldError[] {
  const { driverName, allocation, reservedFor = [], deallocationRequested = false } = claim.status;
  const requested = "status.deallocationRequested";
  const errors = driverName
    ? driverNameErrors(driverName, "status.driverName")
    : allocation
      ? [required("status.driverName", "must be specified when `allocation` is set")]
      : [];
  if (allocation) errors.push(...allocationErrors(allocation, "status.allocation"));
  errors.push(...consumerErrors(reservedFor), ...reservationErrors(claim, old));
  if (old.allocation && allocation && !same(allocation, old.allocation))
    errors.push(invalidValue("status.allocation", goAllocation(allocation), "field is immutable"));
  if (!old.deallocationRequested && deallocationRequested && reservedFor.length > 0)
    errors.push(forbiddenField(requested, "deallocation cannot be requested while `reservedFor` is set"));
  if (!allocation && deallocationRequested)
    errors.push(forbiddenField("status", "`allocation` must be set when `deallocationRequested` is set"));
  if (old.deallocationRequested && !deallocationRequested && allocation)
    errors.push(forbiddenField(requested, "may not be cleared when `allocation` is set"));
  return errors;
}

/** Formats the state: `allocated,reserved`. */
function stateText({ metadata, status }: DeviceClaim): string {
  const isDeleted = Boolean(metadata.deletionTimestamp);
  const states = isDeleted ? ["deleted"] : [];
  if (!status.allocation) return [...states, ...(isDeleted ? [] : ["pending"])].join(",");
  states.push("allocated");
  if (status.reservedFor?.length) states.push("reserved");
  else if (isDeleted || status.deallocationRequested) states.push("deallocating");
  return states.join(",");
}

const specColumns = <T>(specOf: (obj: T) => DeviceClaimSpec) => [
  {
    name: "ResourceClassName",
    type: "string" as const,
    doc: "Resource class of the claim.",
    cell: (obj: T) => specOf(obj).resourceClassName,
  },
  {
    name: "AllocationMode",
    type: "string" as const,
    doc: "When the resource is allocated.",
    cell: (obj: T) => specOf(obj).allocationMode ?? "",
  },
];

export const resourceClass = strategy<ResourceClass>({
  resource: "resourceclasses",
  singular: "resourceclass",
  scope: "Cluster",
  hub: ResourceClass,
  onlyIfServed: true,
  metaChecks: { asNew: 2 },
  returnsDeleted: true,
  validate: classErrors,
  // kube-apiserver validates it as a new object and as a change, and reports every error twice.
  validateUpdate: (obj) => [...classErrors(obj), ...classErrors(obj)],
  columns: [
    nameColumn,
    {
      name: "DriverName",
      type: "string",
      doc: "Driver that allocates the resources.",
      cell: ({ driverName }: ResourceClass) => driverName,
    },
    ageColumn,
  ],
});

export const resourceClaim = strategy<DeviceClaim>({
  resource: "resourceclaims",
  singular: "resourceclaim",
  scope: "Namespaced",
  hub: DeviceClaim,
  onlyIfServed: true,
  metaChecks: { asNew: 2 },
  returnsDeleted: true,
  status: "cleared",
  defaults: ({ spec }) => claimDefaults(spec),
  prepareForCreate: (obj) => {
    obj.status = {};
  },
  validate: ({ spec }) => claimSpecErrors(spec, "spec"),
  validateUpdate: ({ spec }, { spec: old }) => [
    ...claimSpecErrors(spec, "spec"),
    ...(same(spec, old) ? [] : [invalidValue("spec", goClaimSpec(spec), "field is immutable")]),
    ...claimSpecErrors(spec, "spec"),
  ],
  subresources: { status: statusPart<DeviceClaim>(statusErrors) },
  columns: [
    nameColumn,
    ...specColumns(({ spec }: DeviceClaim) => spec),
    { name: "State", type: "string", doc: "Allocation state of the claim.", cell: stateText },
    ageColumn,
  ],
});

export const resourceClaimTemplate = strategy<ResourceClaimTemplate>({
  resource: "resourceclaimtemplates",
  singular: "resourceclaimtemplate",
  scope: "Namespaced",
  hub: ResourceClaimTemplate,
  onlyIfServed: true,
  metaChecks: { asNew: 2 },
  returnsDeleted: true,
  defaults: ({ spec }) => claimDefaults(spec.spec),
  validate: (obj) => templateErrors(obj),
  validateUpdate: (obj, old) => [
    ...templateErrors(obj),
    ...unchanged(obj.spec, old.spec, "spec"),
    ...templateErrors(obj),
  ],
  columns: [nameColumn, ...specColumns(({ spec }: ResourceClaimTemplate) => spec.spec), ageColumn],
});

function templateErrors({ spec: { metadata, spec } }: ResourceClaimTemplate): FieldError[] {
  return [...templateMetaErrors(metadata, "spec.metadata"), ...claimSpecErrors(spec, "spec.spec")];
}
