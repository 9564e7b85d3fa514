// Deployments and replica sets.
import {
  Deployment,
  type DeploymentSpec,
  type DeploymentStrategy,
  ReplicaSet,
  type ReplicaSetSpec,
} from "#api";
import { type FieldError, forbiddenField, invalidValue, notSupported, required } from "#base";
import type { RequestContext, Column } from "../strategy.ts";
import { ageColumn, nameColumn } from "./cells/columns.ts";
import { statusPart } from "./parts.ts";
import {
  podColumns,
  podSelectorColumn,
  podTemplateDefaults,
  podTemplateWarnings,
  templated,
  validatePodTemplate,
} from "./pod-template.ts";
import { goIntOrString } from "./rules/go-syntax.ts";
import { scaleView } from "./rules/scale.ts";
import { atMostWhole, countOrPercent, notNegative, percentOf } from "./rules/numbers.ts";
import { same, unchangedSelector } from "./rules/unchanged.ts";
import {
  type Workload,
  counterErrors,
  longRunningErrors,
  workloadErrors,
  notDecremented,
  podNameWarnings,
  shareErrors,
  sharedDiskErrors,
} from "./rules/workload.ts";

const template = "spec.template";

function replicatedErrors(
  spec: Workload & { readonly replicas?: number | undefined },
  ctx: RequestContext,
): FieldError[] {
  return [
    ...notNegative(spec.replicas, "spec.replicas"),
    ...workloadErrors(spec, "spec", "deployment", () => [
      ...validatePodTemplate(spec.template, template, ctx),
      ...((spec.replicas ?? 0) > 1 ? sharedDiskErrors(spec.template, template) : []),
      ...longRunningErrors(spec.template, template, "ReplicaSet"),
    ]),
  ];
}

function deploymentErrors(spec: DeploymentSpec, ctx: RequestContext): FieldError[] {
  const { minReadySeconds, revisionHistoryLimit, progressDeadlineSeconds: deadline } = spec;
  const errors = [...replicatedErrors(spec, ctx), ...rolloutErrors(spec.strategy, "spec.strategy")];
  errors.push(
    ...notNegative(minReadySeconds, "spec.minReadySeconds"),
    ...notNegative(revisionHistoryLimit, "spec.revisionHistoryLimit"),
  );
  errors.push(...notNegative(deadline, "spec.progressDeadlineSeconds"));
  if (deadline !== undefined && deadline <= (minReadySeconds ?? 0))
    errors.push(
      invalidValue("spec.progressDeadlineSeconds", deadline, "must be greater than minReadySeconds"),
    );
  return errors;
}

function rolloutErrors(rollout: DeploymentStrategy, path: string): FieldError[] {
  const at = `${path}.rollingUpdate`;
  switch (rollout.type) {
    case "Recreate":
      return rollout.rollingUpdate
        ? [forbiddenField(at, "may not be specified when strategy `type` is 'Recreate'")]
        : [];
    case "RollingUpdate": {
      if (!rollout.rollingUpdate) return [required(at)];
      const { maxUnavailable = 0, maxSurge = 0 } = rollout.rollingUpdate;
      const errors = [
        ...countOrPercent(maxUnavailable, `${at}.maxUnavailable`),
        ...countOrPercent(maxSurge, `${at}.maxSurge`),
      ];
      if (percentOf(maxUnavailable) === 0 && percentOf(maxSurge) === 0)
        errors.push(
          invalidValue(
            `${at}.maxUnavailable`,
            goIntOrString(maxUnavailable),
            "may not be 0 when `maxSurge` is 0",
          ),
        );
      return [...errors, ...atMostWhole(maxUnavailable, `${at}.maxUnavailable`)];
    }
    default:
      return [notSupported(path, rollout, ["Recreate", "RollingUpdate"])];
  }
}

/** The replica counts in the status of a replica set. */
const parts = ["fullyLabeledReplicas", "readyReplicas", "availableReplicas"];

export const deployment = templated<Deployment>((obj) => obj.spec.template, {
  resource: "deployments",
  singular: "deployment",
  shortNames: ["deploy"],
  categories: ["all"],
  scope: "Namespaced",
  hub: Deployment,
  generation: true,
  scale: scaleView(),
  status: "cleared",
  defaults: ({ spec }) => {
    podTemplateDefaults(spec.template);
    const rollout = spec.strategy;
    if (rollout.type === "RollingUpdate")
      rollout.rollingUpdate = {
        maxUnavailable: rollout.rollingUpdate?.maxUnavailable ?? "25%",
        maxSurge: rollout.rollingUpdate?.maxSurge ?? "25%",
      };
  },
  prepareForCreate: (obj) => {
    obj.status = {};
  },
  prepareForUpdate: ({ metadata }, { metadata: old }) => {
    // Annotations are copied to replica sets, so a change of them increments the generation, too.
    if (!same(metadata.annotations, old.annotations)) metadata.generation = (old.generation ?? 0) + 1;
  },
  validate: ({ spec }, ctx) => deploymentErrors(spec, ctx),
  validateUpdate: ({ spec }, { spec: old }, ctx) => [
    ...deploymentErrors(spec, ctx),
    ...unchangedSelector(spec.selector, old.selector, "spec.selector"),
  ],
  warnings: (obj, old, ctx) => [
    ...(old ? [] : podNameWarnings(obj.metadata.name)),
    ...podTemplateWarnings(obj.spec.template, { metadata: obj.metadata, old }, template, ctx),
  ],
  subresources: {
    status: {
      ...statusPart<Deployment>(({ status }, { status: old }) => [
        ...counterErrors(status, [
          "observedGeneration",
          "replicas",
          "updatedReplicas",
          "readyReplicas",
          "availableReplicas",
          "unavailableReplicas",
          "collisionCount",
        ]),
        ...shareErrors(status, ["updatedReplicas", "readyReplicas", "availableReplicas"]),
        ...notDecremented(status.collisionCount, old.collisionCount, "status.collisionCount"),
      ]),
      merge: (sent, old) => ({
        ...old,
        metadata: { ...sent.metadata, labels: old.metadata.labels },
        status: sent.status,
      }),
      resets: ["spec", "metadata.labels"],
    },
  },
  columns: [
    nameColumn,
    {
      name: "Ready",
      type: "string",
      doc: "Number of ready and desired pods.",
      cell: ({ spec, status }: Deployment) => `${status.readyReplicas ?? 0}/${spec.replicas ?? 0}`,
    },
    {
      name: "Up-to-date",
      type: "string",
      doc: "Number of pods of the current template.",
      cell: ({ status }: Deployment) => status.updatedReplicas ?? 0,
    },
    {
      name: "Available",
      type: "string",
      doc: "Number of available pods.",
      cell: ({ status }: Deployment) => status.availableReplicas ?? 0,
    },
    ageColumn,
    ...podColumns,
    podSelectorColumn,
  ],
});

const replicaSetErrors = (spec: ReplicaSetSpec, ctx: RequestContext): FieldError[] => [
  ...replicatedErrors(spec, ctx),
  ...notNegative(spec.minReadySeconds, "spec.minReadySeconds"),
];

const replicaColumns: readonly Column<ReplicaSet>[] = [
  {
    name: "Desired",
    type: "integer",
    doc: "Number of desired pods.",
    cell: ({ spec }) => spec.replicas ?? 0,
  },
  { name: "Current", type: "integer", doc: "Number of pods.", cell: ({ status }) => status.replicas },
  {
    name: "Ready",
    type: "integer",
    doc: "Number of ready pods.",
    cell: ({ status }) => status.readyReplicas ?? 0,
  },
];

export const replicaSet = templated<ReplicaSet>((obj) => obj.spec.template, {
  resource: "replicasets",
  singular: "replicaset",
  shortNames: ["rs"],
  categories: ["all"],
  scope: "Namespaced",
  hub: ReplicaSet,
  metaChecks: { asNew: 1 },
  generation: true,
  scale: scaleView(),
  status: "cleared",
  defaults: ({ spec }) => podTemplateDefaults(spec.template),
  prepareForCreate: (obj) => {
    obj.status = { replicas: 0 };
  },
  validate: ({ spec }, ctx) => replicaSetErrors(spec, ctx),
  // The reference validates a changed replica set twice and reports every error twice.
  validateUpdate: ({ spec }, { spec: old }, ctx) => [
    ...replicaSetErrors(spec, ctx),
    ...replicaSetErrors(spec, ctx),
    ...unchangedSelector(spec.selector, old.selector, "spec.selector"),
  ],
  warnings: (obj, old, ctx) => [
    ...(old ? [] : podNameWarnings(obj.metadata.name)),
    ...podTemplateWarnings(obj.spec.template, { metadata: obj.metadata, old }, template, ctx),
  ],
  subresources: {
    status: statusPart(({ status }) => [
      ...counterErrors(status, ["replicas", ...parts, "observedGeneration"]),
      ...shareErrors(status, parts),
    ]),
  },
  columns: [nameColumn, ...replicaColumns, ageColumn, ...podColumns, podSelectorColumn],
});
