// Stateful sets: pods with stable names and storage. Few fields are mutable.
import { StatefulSet, type StatefulSetSpec } from "#api";
import { type FieldError, forbiddenField, invalidValue, required } from "#base";
import { dnsLabel } from "../names.ts";
import { validateAnnotations, validateLabels } from "../object-meta.ts";
import type { RequestContext } from "../strategy.ts";
import { ageColumn, nameColumn } from "./cells/columns.ts";
import { statusPart } from "./parts.ts";
import {
  dropEmptyManagedFields,
  podColumns,
  podTemplateDefaults,
  podTemplateWarnings,
  templated,
} from "./pod-template.ts";
import { claimWarnings } from "./pod-warnings.ts";
import { goIntOrString } from "./rules/go-syntax.ts";
import { scaleView } from "./rules/scale.ts";
import { atMostWhole, countOrPercent, notNegative, percentOf } from "./rules/numbers.ts";
import { supported } from "./rules/one-of.ts";
import { roundUpClaim } from "./rules/round-up.ts";
import { same } from "./rules/unchanged.ts";
import {
  counterErrors,
  longRunningErrors,
  workloadErrors,
  notDecremented,
  shareErrors,
} from "./rules/workload.ts";

const claimType = { apiVersion: "v1", kind: "PersistentVolumeClaim" };

/** Sets the type of embedded claim templates, as if they were top-level objects. */
function stampClaims({ volumeClaimTemplates }: StatefulSetSpec): void {
  for (const claim of volumeClaimTemplates ?? []) Object.assign(claim, claimType);
}

function defaults({ spec }: StatefulSet, { settings }: Pick<RequestContext, "settings">): void {
  podTemplateDefaults(spec.template);
  for (const claim of spec.volumeClaimTemplates ?? []) {
    dropEmptyManagedFields(claim.metadata);
    roundUpClaim(claim);
  }
  const update = spec.updateStrategy;
  if (!update.type) {
    update.type = "RollingUpdate";
    update.rollingUpdate ??= {};
  }
  if (update.type === "RollingUpdate" && update.rollingUpdate) {
    update.rollingUpdate.partition ??= 0;
    if (settings.statefulUnavailable) update.rollingUpdate.maxUnavailable ??= 1;
  }
  const kept = spec.persistentVolumeClaimRetentionPolicy;
  spec.persistentVolumeClaimRetentionPolicy = {
    whenDeleted: kept?.whenDeleted || "Retain",
    whenScaled: kept?.whenScaled || "Retain",
  };
  stampClaims(spec);
}

function updateErrors(
  { type, rollingUpdate }: StatefulSetSpec["updateStrategy"],
  path: string,
): FieldError[] {
  const at = `${path}.rollingUpdate`;
  switch (type) {
    case undefined:
    case "":
      return [required(path)];
    case "OnDelete":
      return rollingUpdate
        ? [invalidValue(at, rollingUpdate, "only allowed for updateStrategy 'RollingUpdate'")]
        : [];
    case "RollingUpdate": {
      const { partition, maxUnavailable } = rollingUpdate ?? {};
      const errors = notNegative(partition, `${at}.partition`);
      if (maxUnavailable === undefined) return errors;
      errors.push(...countOrPercent(maxUnavailable, `${at}.maxUnavailable`));
      if (percentOf(maxUnavailable) === 0)
        errors.push(invalidValue(`${at}.maxUnavailable`, goIntOrString(maxUnavailable), "cannot be 0"));
      return [...errors, ...atMostWhole(maxUnavailable, `${at}.maxUnavailable`)];
    }
    default:
      return [invalidValue(path, type, "must be 'RollingUpdate' or 'OnDelete'")];
  }
}

function specErrors(spec: StatefulSetSpec): FieldError[] {
  const { podManagementPolicy: policy, persistentVolumeClaimRetentionPolicy: kept, template } = spec;
  const errors: FieldError[] = [];
  if (!policy) errors.push(required("spec.podManagementPolicy"));
  else if (policy !== "OrderedReady" && policy !== "Parallel")
    errors.push(invalidValue("spec.podManagementPolicy", policy, "must be 'OrderedReady' or 'Parallel'"));
  errors.push(...updateErrors(spec.updateStrategy, "spec.updateStrategy"));
  if (kept) {
    const at = "spec.persistentVolumeClaimRetentionPolicy";
    errors.push(
      ...supported(kept.whenDeleted, `${at}.whenDeleted`, ["Retain", "Delete"]),
      ...supported(kept.whenScaled, `${at}.whenScaled`, ["Retain", "Delete"]),
    );
  }
  errors.push(
    ...notNegative(spec.replicas, "spec.replicas"),
    ...notNegative(spec.minReadySeconds, "spec.minReadySeconds"),
    ...notNegative(spec.ordinals?.start, "spec.ordinals.start"),
  );
  // The claims add volumes that the template lacks, so the pod template cannot be validated by itself.
  errors.push(
    ...workloadErrors(spec, "spec", "statefulset", () => [
      ...validateLabels(template.metadata.labels, "spec.template.labels"),
      ...validateAnnotations(template.metadata.annotations, "spec.template.annotations"),
    ]),
  );
  return [...errors, ...longRunningErrors(template, "spec.template", "StatefulSet")];
}

const mutableFields = [
  "replicas",
  "ordinals",
  "template",
  "updateStrategy",
  "persistentVolumeClaimRetentionPolicy",
  "minReadySeconds",
] as const;

const quotedList = (words: readonly string[]): string =>
  `${words
    .slice(0, -1)
    .map((word) => `'${word}'`)
    .join(", ")} and '${words.at(-1)}'`;

function fixedErrors(spec: StatefulSetSpec, old: StatefulSetSpec): FieldError[] {
  const rest = (given: StatefulSetSpec): Record<string, unknown> =>
    Object.fromEntries(
      Object.entries(given).filter(([key]) => !(mutableFields as readonly string[]).includes(key)),
    );
  return same(rest(spec), rest(old))
    ? []
    : [
        forbiddenField(
          "spec",
          `updates to statefulset spec for fields other than ${quotedList(mutableFields)} are forbidden`,
        ),
      ];
}

/** Drops maxUnavailable if its feature is off. */
function dropUnavailable(
  { spec }: StatefulSet,
  old: StatefulSet | undefined,
  { settings }: RequestContext,
): void {
  if (
    !settings.statefulUnavailable &&
    spec.updateStrategy.rollingUpdate &&
    old?.spec.updateStrategy.rollingUpdate?.maxUnavailable === undefined
  )
    delete spec.updateStrategy.rollingUpdate.maxUnavailable;
}

export const statefulSet = templated<StatefulSet>((obj) => obj.spec.template, {
  resource: "statefulsets",
  singular: "statefulset",
  shortNames: ["sts"],
  categories: ["all"],
  scope: "Namespaced",
  hub: StatefulSet,
  generation: true,
  scale: scaleView(),
  status: "cleared",
  validateName: dnsLabel,
  defaults,
  restore: ({ spec }) => stampClaims(spec),
  prepareForCreate: (obj, ctx) => {
    obj.status = { replicas: 0, availableReplicas: 0 };
    dropUnavailable(obj, undefined, ctx);
  },
  prepareForUpdate: dropUnavailable,
  validate: ({ spec }) => specErrors(spec),
  validateUpdate: ({ spec }, { spec: old }) => [...specErrors(spec), ...fixedErrors(spec, old)],
  warnings: ({ metadata, spec }, old, ctx) => [
    ...podTemplateWarnings(spec.template, { metadata, old }, "spec.template", ctx),
    ...(spec.volumeClaimTemplates ?? []).flatMap((claim, position) =>
      claimWarnings(claim.spec, `spec.volumeClaimTemplates[${position}]${old ? ".Spec" : ""}`),
    ),
  ],
  subresources: {
    status: statusPart(({ status }, { status: old }) => {
      const parts = ["readyReplicas", "currentReplicas", "updatedReplicas", "availableReplicas"];
      return [
        ...counterErrors(status, ["replicas", ...parts, "observedGeneration", "collisionCount"]),
        ...shareErrors(status, parts, "status.readyReplicas"),
        ...notDecremented(status.collisionCount, old.collisionCount, "status.collisionCount"),
      ];
    }),
  },
  columns: [
    nameColumn,
    {
      name: "Ready",
      type: "string",
      doc: "Number of ready and desired pods.",
      cell: ({ spec, status }: StatefulSet) => `${status.readyReplicas ?? 0}/${spec.replicas ?? 0}`,
    },
    ageColumn,
    ...podColumns,
  ],
});
