// Daemon sets: one pod per node. The template generation is kept in an annotation, as in the reference.
import { DaemonSet, type DaemonSetSpec, type DaemonSetUpdateStrategy } from "#api";
import { type FieldError, badRequest, invalidValue, notSupported, required } from "#base";
import type { RequestContext, PartSubresource } from "../strategy.ts";
import { ageColumn, nameColumn } from "./cells/columns.ts";
import { labelsText, orNone } from "./cells/text.ts";
import { statusPart } from "./parts.ts";
import {
  podColumns,
  podSelectorColumn,
  podTemplateDefaults,
  podTemplateWarnings,
  templated,
  validatePodTemplate,
} from "./pod-template.ts";
import { isEmptySelector, labelSelectorErrors, selects } from "./rules/label-selector.ts";
import { atMostWhole, countOrPercent, notNegative, percentOf } from "./rules/numbers.ts";
import { goSelector } from "./rules/go-syntax.ts";
import { same, unchangedSelector } from "./rules/unchanged.ts";
import {
  counterErrors,
  longRunningErrors,
  mismatch,
  notDecremented,
  sharedDiskErrors,
} from "./rules/workload.ts";

const generationKey = "deprecated.daemonset.template.generation";
const templateGeneration = ({ metadata }: DaemonSet): number =>
  Number(metadata.annotations?.[generationKey] ?? 0) || 0;
/** Parses the template generation. An invalid number stays, and validation refuses it. */
function readTemplateGeneration(set: DaemonSet): void {
  const text = set.metadata.annotations?.[generationKey] ?? "0";
  if (generationFault(text) === undefined) setTemplateGeneration(set, Number(text));
}
function refuseTemplateGeneration({ metadata }: DaemonSet): void {
  const fault = generationFault(metadata.annotations?.[generationKey] ?? "0");
  if (fault)
    throw badRequest(
      `DaemonSet in version "v1" cannot be handled as a DaemonSet: strconv.ParseInt: ${fault}`,
    );
}
function generationFault(text: string): string | undefined {
  if (!/^[+-]?\d+$/.test(text)) return `parsing ${JSON.stringify(text)}: invalid syntax`;
  const value = BigInt(text.replace("+", ""));
  return BigInt.asIntN(64, value) === value
    ? undefined
    : `parsing ${JSON.stringify(text)}: value out of range`;
}
const setTemplateGeneration = ({ metadata }: DaemonSet, value: number): void => {
  metadata.annotations = { ...metadata.annotations, [generationKey]: String(value) };
};

function updateErrors({ type, rollingUpdate }: DaemonSetUpdateStrategy, path: string): FieldError[] {
  if (type === "OnDelete") return [];
  if (type !== "RollingUpdate") return [notSupported(path, type, ["RollingUpdate", "OnDelete"])];
  const at = `${path}.rollingUpdate`;
  if (!rollingUpdate) return [required(at)];
  const { maxUnavailable = 0, maxSurge = 0 } = rollingUpdate;
  const errors = [
    ...countOrPercent(maxUnavailable, `${at}.maxUnavailable`),
    ...countOrPercent(maxSurge, `${at}.maxSurge`),
  ];
  errors.push(
    ...atMostWhole(maxUnavailable, `${at}.maxUnavailable`),
    ...atMostWhole(maxSurge, `${at}.maxSurge`),
  );
  const [missing, extra] = [percentOf(maxUnavailable) !== 0, percentOf(maxSurge) !== 0];
  if (missing && extra)
    errors.push(invalidValue(`${at}.maxSurge`, maxSurge, "may not be set when maxUnavailable is non-zero"));
  if (!missing && !extra) errors.push(required(`${at}.maxUnavailable`, "cannot be 0 when maxSurge is 0"));
  return errors;
}

function specErrors(spec: DaemonSetSpec, ctx: RequestContext): FieldError[] {
  const { selector, template } = spec;
  const errors = labelSelectorErrors(selector, "spec.selector");
  if (selects(selector, template.metadata.labels) === false) errors.push(mismatch(template, "spec"));
  if (selector && isEmptySelector(selector))
    errors.push(
      invalidValue("spec.selector", goSelector(selector), "empty selector is invalid for daemonset"),
    );
  errors.push(
    ...validatePodTemplate(template, "spec.template", ctx),
    ...sharedDiskErrors(template, "spec.template"),
    ...longRunningErrors(template, "spec.template", "DaemonSet"),
  );
  errors.push(
    ...notNegative(spec.minReadySeconds, "spec.minReadySeconds"),
    ...updateErrors(spec.updateStrategy, "spec.updateStrategy"),
  );
  return [...errors, ...notNegative(spec.revisionHistoryLimit, "spec.revisionHistoryLimit")];
}

const counters = [
  "currentNumberScheduled",
  "numberMisscheduled",
  "desiredNumberScheduled",
  "numberReady",
  "observedGeneration",
  "updatedNumberScheduled",
  "numberAvailable",
  "numberUnavailable",
];

/** A write of the status preserves the template generation. */
const keepingCount = (part: PartSubresource<DaemonSet>): PartSubresource<DaemonSet> => ({
  ...part,
  merge: (sent, old, ctx) => {
    refuseTemplateGeneration(sent);
    const merged = part.merge(sent, old, ctx);
    const kept = { ...merged, metadata: { ...merged.metadata } };
    setTemplateGeneration(kept, templateGeneration(old));
    return kept;
  },
});

export const daemonSet = templated<DaemonSet>((obj) => obj.spec.template, {
  resource: "daemonsets",
  singular: "daemonset",
  shortNames: ["ds"],
  categories: ["all"],
  scope: "Namespaced",
  hub: DaemonSet,
  metaChecks: { asNew: 1 },
  generation: true,
  ownAnnotations: [generationKey],
  status: "cleared",
  defaults: (obj) => {
    podTemplateDefaults(obj.spec.template);
    const update = obj.spec.updateStrategy;
    const rolls = update.type === "RollingUpdate";
    // kube-apiserver also defaults both fields of a rolling update that is not in effect.
    if (rolls || update.rollingUpdate)
      update.rollingUpdate = {
        maxUnavailable: update.rollingUpdate?.maxUnavailable ?? (rolls ? 1 : 0),
        maxSurge: update.rollingUpdate?.maxSurge ?? 0,
      };
    readTemplateGeneration(obj);
  },
  prepareForCreate: (obj) => {
    refuseTemplateGeneration(obj);
    obj.status = {
      currentNumberScheduled: 0,
      numberMisscheduled: 0,
      desiredNumberScheduled: 0,
      numberReady: 0,
    };
    setTemplateGeneration(obj, Math.max(templateGeneration(obj), 1));
  },
  prepareForUpdate: (obj, old) => {
    refuseTemplateGeneration(obj);
    setTemplateGeneration(
      obj,
      templateGeneration(old) + (same(obj.spec.template, old.spec.template) ? 0 : 1),
    );
  },
  validate: ({ spec }, ctx) => specErrors(spec, ctx),
  // The reference validates a changed daemon set twice and reports every error twice.
  validateUpdate: ({ spec }, { spec: old }, ctx) => [
    ...specErrors(spec, ctx),
    ...specErrors(spec, ctx),
    ...unchangedSelector(spec.selector, old.selector, "spec.selector"),
  ],
  warnings: ({ metadata, spec }, old, ctx) =>
    old && same(spec.template, old.spec.template)
      ? []
      : podTemplateWarnings(spec.template, { metadata, old: undefined }, "spec.template", ctx),
  subresources: {
    status: keepingCount(
      statusPart<DaemonSet>(({ status }, { status: old }) => [
        ...counterErrors(status, [...counters, "collisionCount"]),
        ...notDecremented(status.collisionCount, old.collisionCount, "status.collisionCount"),
      ]),
    ),
  },
  columns: [
    nameColumn,
    {
      name: "Desired",
      type: "integer",
      doc: "Number of nodes that should run a pod.",
      cell: ({ status }: DaemonSet) => status.desiredNumberScheduled,
    },
    {
      name: "Current",
      type: "integer",
      doc: "Number of nodes that run a pod.",
      cell: ({ status }: DaemonSet) => status.currentNumberScheduled,
    },
    {
      name: "Ready",
      type: "integer",
      doc: "Number of nodes with a ready pod.",
      cell: ({ status }: DaemonSet) => status.numberReady,
    },
    {
      name: "Up-to-date",
      type: "integer",
      doc: "Number of nodes with a pod of the current template.",
      cell: ({ status }: DaemonSet) => status.updatedNumberScheduled ?? 0,
    },
    {
      name: "Available",
      type: "integer",
      doc: "Number of nodes with an available pod.",
      cell: ({ status }: DaemonSet) => status.numberAvailable ?? 0,
    },
    {
      name: "Node Selector",
      type: "string",
      doc: "Node selector of the pods.",
      cell: ({ spec }: DaemonSet) => orNone(labelsText(spec.template.spec.nodeSelector)),
    },
    ageColumn,
    ...podColumns,
    podSelectorColumn,
  ],
});
