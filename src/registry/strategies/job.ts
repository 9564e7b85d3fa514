// Jobs: pods that run to completion. The server generates a unique selector for each job.
import { Job, type JobSpec, type PodTemplateSpec } from "#api";
import { type FieldError, invalidValue, notSupported, required } from "#base";
import type { Dialect } from "#dialect";
import { dnsLabel } from "../names.ts";
import type { RequestContext, PartSubresource } from "../strategy.ts";
import { span } from "./cells/age.ts";
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
import { failurePolicyErrors } from "./rules/failure-policy.ts";
import {
  indexLimitErrors,
  managerErrors,
  replacementErrors,
  successPolicyErrors,
} from "./rules/job-policies.ts";
import { jobStatusErrors } from "./rules/job-status.ts";
import { labelSelectorErrors, selects } from "./rules/label-selector.ts";
import { notNegative } from "./rules/numbers.ts";
import { supported } from "./rules/one-of.ts";
import { same, unchanged } from "./rules/unchanged.ts";
import { mismatch, podNameWarnings } from "./rules/workload.ts";

/** Labels of a job's pods; the unqualified names are the older ones. */
const nameLabels = ({ names }: Dialect): string[] => ["job-name", names.labels.jobName];
const uidLabels = ({ names }: Dialect): string[] => ["controller-uid", names.labels.jobController];

/** Defaults that depend on other fields, for jobs and the job templates of cron jobs. */
export function jobSpecDefaults(spec: JobSpec): void {
  podTemplateDefaults(spec.template);
  for (const { onPodConditions } of spec.podFailurePolicy?.rules ?? [])
    for (const pattern of onPodConditions ?? []) pattern.status ||= "True";
}

const maxInt32 = 2 ** 31 - 1;

function defaults({ metadata, spec }: Job, settings: RequestContext["settings"]): void {
  jobSpecDefaults(spec);
  if (spec.parallelism === undefined) spec.completions ??= 1;
  spec.parallelism ??= 1;
  spec.backoffLimit ??= spec.backoffLimitPerIndex === undefined ? 6 : maxInt32;
  spec.completionMode ??= "NonIndexed";
  spec.suspend ??= false;
  if (settings.podReplacement)
    spec.podReplacementPolicy ??= spec.podFailurePolicy ? "Failed" : "TerminatingOrFailed";
  // Deliberately the same object: labels that the server adds to the template appear here, too.
  if (spec.template.metadata.labels && Object.keys(metadata.labels ?? {}).length === 0)
    metadata.labels = spec.template.metadata.labels;
}

function addGeneratedLabels({ metadata, spec }: Job, dialect: Dialect): void {
  const { template } = spec;
  const inherits = metadata.labels !== undefined && metadata.labels === template.metadata.labels;
  if (!spec.manualSelector) {
    const added = [
      ...nameLabels(dialect).map((key) => [key, metadata.name ?? ""]),
      ...uidLabels(dialect).map((key) => [key, metadata.uid ?? ""]),
    ];
    template.metadata.labels = {
      ...(Object.fromEntries(added) as Record<string, string>),
      ...template.metadata.labels,
    };
    const uidLabel = dialect.names.labels.jobController;
    spec.selector = {
      ...spec.selector,
      matchLabels: { [uidLabel]: metadata.uid ?? "", ...spec.selector?.matchLabels },
    };
  }
  if (inherits && template.metadata.labels) metadata.labels = { ...template.metadata.labels };
}

function track({ metadata }: Job, { names }: Dialect): void {
  metadata.annotations = { ...metadata.annotations, [names.annotations.jobTracking]: "" };
}
const isTracked = ({ metadata }: Job, { names }: Dialect): boolean =>
  metadata.annotations?.[names.annotations.jobTracking] !== undefined;

const maxParallelIndexed = 100_000;

/** Validates a job's spec except the selector. */
export function jobSpecErrors(spec: JobSpec, path: string, ctx: RequestContext): FieldError[] {
  const { parallelism, completions, completionMode: mode, template, podFailurePolicy: policy } = spec;
  const errors = (
    [
      "parallelism",
      "completions",
      "activeDeadlineSeconds",
      "backoffLimit",
      "ttlSecondsAfterFinished",
    ] as const
  ).flatMap((key) => notNegative(spec[key], `${path}.${key}`));
  errors.push(...managerErrors(spec, path));
  if (mode !== undefined)
    errors.push(...supported(mode, `${path}.completionMode`, ["NonIndexed", "Indexed"]));
  if (mode === "Indexed" && completions === undefined)
    errors.push(required(`${path}.completions`, "when completion mode is Indexed"));
  if (mode === "Indexed" && (parallelism ?? 0) > maxParallelIndexed)
    errors.push(
      invalidValue(`${path}.parallelism`, parallelism, `must be less than or equal to ${maxParallelIndexed}`),
    );
  errors.push(...indexLimitErrors(spec, path));
  if (policy)
    errors.push(
      ...failurePolicyErrors(policy, template.spec, spec.backoffLimitPerIndex, {
        path: `${path}.podFailurePolicy`,
        failsIndexes: ctx.settings.failedIndexes === true,
      }),
    );
  errors.push(...successPolicyErrors(spec, path), ...replacementErrors(spec, path));
  errors.push(...validatePodTemplate(template, `${path}.template`, ctx));
  const { restartPolicy: restart } = template.spec;
  const field = `${path}.template.spec.restartPolicy`;
  if (!restart || restart === "Always") errors.push(required(field, 'valid values: "OnFailure", "Never"'));
  else if (restart !== "OnFailure" && restart !== "Never")
    errors.push(notSupported(field, restart, ["OnFailure", "Never"]));
  else if (policy && restart !== "Never")
    errors.push(invalidValue(field, restart, 'only "Never" is supported when podFailurePolicy is specified'));
  return errors;
}

function specErrors(spec: JobSpec, ctx: RequestContext): FieldError[] {
  const { selector, template } = spec;
  const errors = jobSpecErrors(spec, "spec", ctx);
  errors.push(...(selector ? labelSelectorErrors(selector, "spec.selector") : [required("spec.selector")]));
  // An absent selector matches nothing.
  if (!selector || selects(selector, template.metadata.labels) === false)
    errors.push(mismatch(template, "spec"));
  return errors;
}

function errorsOf(job: Job, ctx: RequestContext, old?: Job): FieldError[] {
  const { metadata, spec } = job;
  const errors = [...generatedErrors(job, ctx.dialect, old), ...specErrors(spec, ctx)];
  const completions = spec.completions ?? 0;
  const lastPod = `${metadata.name ?? ""}-${completions - 1}`;
  if (spec.completionMode === "Indexed" && completions > 0 && dnsLabel(lastPod).length > 0)
    errors.push(
      invalidValue(
        "metadata.name",
        metadata.name ?? "",
        `will not able to create pod with invalid DNS label: ${lastPod}`,
      ),
    );
  return errors;
}

/**
 * Validates that the selector is the generated one, unless it is a manual selector. Jobs created before the
 * newer labels existed need not have them.
 */
function generatedErrors({ metadata, spec }: Job, dialect: Dialect, old: Job | undefined): FieldError[] {
  if (spec.manualSelector || !spec.selector) return [];
  const { jobName, jobController } = dialect.names.labels;
  const before = old?.spec.template.metadata.labels ?? {};
  const wanted = (key: string): boolean =>
    !old || !key.includes("/") || (before[jobName] !== undefined && before[jobController] !== undefined);
  const expected: Record<string, string> = {};
  for (const key of uidLabels(dialect).filter(wanted)) expected[key] = metadata.uid ?? "";
  for (const key of nameLabels(dialect).filter(wanted)) expected[key] = metadata.name ?? "";
  const labels = spec.template.metadata.labels ?? {};
  const errors = Object.entries(expected).flatMap(([key, value]) => {
    const field = `spec.template.metadata.labels[${key}]`;
    if (labels[key] === undefined) return [required(field, `must be '${value}'`)];
    return labels[key] === value ? [] : [invalidValue(field, labels, `must be '${value}'`)];
  });
  if (selects(spec.selector, expected) === false)
    errors.push(invalidValue("spec.selector", spec.selector, "`selector` not auto-generated"));
  return errors;
}

function changeErrors({ spec }: Job, { spec: old, status }: Job, elastic: boolean): FieldError[] {
  const errors: FieldError[] = [];
  const movesTogether = spec.completionMode === "Indexed" && spec.completions !== undefined;
  if (!elastic || spec.completionMode !== "Indexed")
    errors.push(...unchanged(spec.completions, old.completions, "spec.completions"));
  else if (movesTogether && spec.completions !== old.completions && spec.completions !== spec.parallelism) {
    errors.push(
      invalidValue(
        "spec.completions",
        spec.completions,
        "can only be modified in tandem with spec.parallelism",
      ),
    );
  }
  errors.push(...unchanged(spec.selector, old.selector, "spec.selector"));
  const before =
    old.suspend && !status.startTime ? withScheduling(old.template, spec.template) : old.template;
  errors.push(
    ...unchanged(spec.template, before, "spec.template"),
    ...unchanged(spec.completionMode, old.completionMode, "spec.completionMode"),
  );
  for (const key of ["podFailurePolicy", "backoffLimitPerIndex", "managedBy", "successPolicy"] as const)
    errors.push(...unchanged(spec[key], old[key], `spec.${key}`));
  return errors;
}

/**
 * Returns the old template with the fields that may change in a job that has not started: scheduling
 * directives and labels.
 */
function withScheduling(old: PodTemplateSpec, sent: PodTemplateSpec): PodTemplateSpec {
  const { nodeSelector, tolerations, schedulingGates, affinity } = sent.spec;
  const merged = { ...old.spec.affinity, nodeAffinity: affinity?.nodeAffinity };
  const keepsAffinity =
    affinity !== undefined || merged.podAffinity !== undefined || merged.podAntiAffinity !== undefined;
  const spec = stripped({
    ...old.spec,
    nodeSelector,
    tolerations,
    schedulingGates,
    affinity: keepsAffinity ? stripped(merged) : undefined,
  });
  return {
    ...old,
    metadata: stripped({
      ...old.metadata,
      labels: sent.metadata.labels,
      annotations: sent.metadata.annotations,
    }),
    spec,
  };
}
const stripped = <T extends object>(value: T): T =>
  Object.fromEntries(Object.entries(value).filter(([, item]) => item !== undefined)) as T;

function completionsText({ spec, status }: Job): string {
  const done = status.succeeded ?? 0;
  if (spec.completions !== undefined) return `${done}/${spec.completions}`;
  return (spec.parallelism ?? 0) > 1 ? `${done}/1 of ${spec.parallelism}` : `${done}/1`;
}

function durationText({ status }: Job, now: Date): string {
  if (!status.startTime) return "";
  const end = status.completionTime ? Date.parse(status.completionTime) : now.getTime();
  return span(Math.trunc((end - Date.parse(status.startTime)) / 1000));
}

/**
 * A write of the status without labels inherits those of the pod template, so that a job always has labels.
 */
const keepingLabels = (part: PartSubresource<Job>): PartSubresource<Job> => ({
  ...part,
  merge: (sent, old, ctx) => {
    const merged = part.merge(sent, old, ctx);
    const { labels } = old.spec.template.metadata;
    return labels && Object.keys(merged.metadata.labels ?? {}).length === 0
      ? { ...merged, metadata: { ...merged.metadata, labels: { ...labels } } }
      : merged;
  },
});

export const job = templated<Job>((obj) => obj.spec.template, {
  resource: "jobs",
  singular: "job",
  categories: ["all"],
  scope: "Namespaced",
  hub: Job,
  metaChecks: { asNew: 1 },
  generation: true,
  status: "cleared",
  orphansDependents: {
    warning:
      "child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to remove them or set propagationPolicy=Orphan to suppress this warning",
  },
  defaults: (obj, { settings }) => defaults(obj, settings),
  restore: ({ metadata, spec }) => {
    const { labels } = spec.template.metadata;
    if (labels && Object.keys(metadata.labels ?? {}).length === 0) metadata.labels = { ...labels };
  },
  prepareForCreate: (obj, { dialect }) => {
    obj.status = {};
    track(obj, dialect);
    addGeneratedLabels(obj, dialect);
  },
  prepareForUpdate: (obj, old, { dialect }) => {
    if (isTracked(old, dialect)) track(obj, dialect);
    if (same(obj.metadata.labels, obj.spec.template.metadata.labels) && obj.metadata.labels)
      obj.metadata.labels = { ...obj.metadata.labels };
  },
  validate: (obj, ctx) => errorsOf(obj, ctx),
  // The reference validates the spec of a changed job twice and reports its errors twice.
  validateUpdate: (obj, old, ctx) => [
    ...errorsOf(obj, ctx, old),
    ...specErrors(obj.spec, ctx),
    ...changeErrors(obj, old, ctx.settings.elasticJobs !== false),
  ],
  warnings: ({ metadata, spec }, old, ctx) => [
    ...(old ? [] : podNameWarnings(metadata.name)),
    ...podTemplateWarnings(spec.template, { metadata, old }, "spec.template", ctx),
  ],
  fields: ({ status }) => ({ "status.successful": String(status.succeeded ?? 0) }),
  subresources: {
    status: keepingLabels(statusPart<Job>((obj, old, { settings }) => jobStatusErrors(obj, old, settings))),
  },
  columns: [
    nameColumn,
    {
      name: "Completions",
      type: "string",
      doc: "Number of succeeded and required pods.",
      cell: completionsText,
    },
    {
      name: "Duration",
      type: "string",
      doc: "Time the job has been running, or its total duration.",
      cell: durationText,
    },
    ageColumn,
    ...podColumns,
    podSelectorColumn,
  ],
});
