// Cron jobs: a schedule and a template for jobs.
import { CronJob, type CronJobSpec } from "#api";
import { type FieldError, invalidValue, isTimeZone, notSupported, parseCron, required } from "#base";
import type { RequestContext } from "../strategy.ts";
import { ageColumn, ago, nameColumn } from "./cells/columns.ts";
import { selectorText } from "./cells/text.ts";
import { jobSpecDefaults, jobSpecErrors } from "./job.ts";
import { statusPart } from "./parts.ts";
import {
  dropEmptyManagedFields,
  containersText,
  imagesText,
  podTemplateWarnings,
  templated,
} from "./pod-template.ts";
import { notNegative } from "./rules/numbers.ts";
import { oneOf } from "./rules/one-of.ts";
import { podNameWarnings } from "./rules/workload.ts";

/** Leaves room for the timestamp appended to the name of each job. */
const maxNameLength = 52;

function specErrors(spec: CronJobSpec, old: CronJobSpec | undefined, ctx: RequestContext): FieldError[] {
  const { schedule, timeZone, jobTemplate } = spec;
  const errors: FieldError[] = schedule ? [] : [required("spec.schedule")];
  const problem = schedule ? scheduleProblem(schedule) : undefined;
  if (problem) errors.push(invalidValue("spec.schedule", schedule, problem));
  if (schedule.includes("TZ") && timeZone !== undefined)
    errors.push(
      invalidValue("spec.schedule", schedule, "cannot use both timeZone field and TZ or CRON_TZ in schedule"),
    );
  errors.push(...notNegative(spec.startingDeadlineSeconds, "spec.startingDeadlineSeconds"));
  if (timeZone !== undefined && timeZone !== old?.timeZone)
    errors.push(...zoneErrors(timeZone, "spec.timeZone"));
  errors.push(...oneOf(spec.concurrencyPolicy, "spec.concurrencyPolicy", ["Allow", "Forbid", "Replace"]));
  const at = "spec.jobTemplate.spec";
  errors.push(...jobSpecErrors(jobTemplate.spec, at, ctx));
  if (jobTemplate.spec.selector)
    errors.push(
      invalidValue(`${at}.selector`, jobTemplate.spec.selector, "`selector` will be auto-generated"),
    );
  if (jobTemplate.spec.manualSelector)
    errors.push(notSupported(`${at}.manualSelector`, true, ["nil", "false"]));
  errors.push(...notNegative(spec.successfulJobsHistoryLimit, "spec.successfulJobsHistoryLimit"));
  return [...errors, ...notNegative(spec.failedJobsHistoryLimit, "spec.failedJobsHistoryLimit")];
}

/** Returns why a text is not a valid schedule, or undefined. */
function scheduleProblem(text: string): string | undefined {
  try {
    parseCron(text);
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

function zoneErrors(zone: string, field: string): FieldError[] {
  if (zone === "") return [invalidValue(field, zone, "timeZone must be nil or non-empty string")];
  const errors =
    zone.toLowerCase() === "local" ? [invalidValue(field, zone, "must be an explicit time zone")] : [];
  if (zone !== "Local" && !isTimeZone(zone))
    errors.push(invalidValue(field, zone, `unknown time zone ${zone}`));
  return errors;
}

const template = ({ spec }: CronJob) => spec.jobTemplate.spec.template;

export const cronJob = templated<CronJob>((obj) => obj.spec.jobTemplate.spec.template, {
  resource: "cronjobs",
  singular: "cronjob",
  shortNames: ["cj"],
  categories: ["all"],
  scope: "Namespaced",
  hub: CronJob,
  generation: true,
  status: "cleared",
  defaults: ({ spec }) => {
    jobSpecDefaults(spec.jobTemplate.spec);
    dropEmptyManagedFields(spec.jobTemplate.metadata);
  },
  prepareForCreate: (obj) => {
    obj.status = {};
  },
  validate: ({ metadata, spec }, ctx) => {
    const tooLong = (metadata.name ?? "").length > maxNameLength;
    return [
      ...specErrors(spec, undefined, ctx),
      ...(tooLong
        ? [invalidValue("metadata.name", metadata.name, `must be no more than ${maxNameLength} characters`)]
        : []),
    ];
  },
  validateUpdate: ({ spec }, { spec: old }, ctx) => specErrors(spec, old, ctx),
  warnings: (obj, old, ctx) => [
    ...(old ? [] : podNameWarnings(obj.metadata.name)),
    ...podTemplateWarnings(
      template(obj),
      { metadata: obj.metadata, old },
      "spec.jobTemplate.spec.template",
      ctx,
    ),
    ...(obj.spec.schedule.includes("TZ")
      ? ["CRON_TZ or TZ used in spec.spec.schedule is not officially supported"]
      : []),
  ],
  subresources: { status: { ...statusPart<CronJob>(), metaChecks: { asChange: 0 } } },
  columns: [
    nameColumn,
    {
      name: "Schedule",
      type: "string",
      doc: "Schedule in cron format.",
      cell: ({ spec }: CronJob) => spec.schedule,
    },
    {
      name: "Suspend",
      type: "boolean",
      doc: "Whether further executions are suspended.",
      cell: ({ spec }: CronJob) => (spec.suspend === undefined ? "<unset>" : spec.suspend ? "True" : "False"),
    },
    {
      name: "Active",
      type: "integer",
      doc: "Number of running jobs.",
      cell: ({ status }: CronJob) => status.active?.length ?? 0,
    },
    {
      name: "Last Schedule",
      type: "string",
      doc: "Time since the last run was scheduled.",
      cell: ({ status }: CronJob, now) =>
        status.lastScheduleTime ? ago(status.lastScheduleTime, now) : "<none>",
    },
    ageColumn,
    {
      name: "Containers",
      type: "string",
      priority: 1,
      doc: "Names of the containers in each pod.",
      cell: (obj: CronJob) => containersText(template(obj)),
    },
    {
      name: "Images",
      type: "string",
      priority: 1,
      doc: "Images of the containers in each pod.",
      cell: (obj: CronJob) => imagesText(template(obj)),
    },
    {
      name: "Selector",
      type: "string",
      priority: 1,
      doc: "Label selector of the pods of its jobs.",
      cell: ({ spec }: CronJob) => selectorText(spec.jobTemplate.spec.selector),
    },
  ],
});
