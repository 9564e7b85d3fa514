// Jobs and cron jobs: pods that run to completion, once or on a schedule.
import {
  type TypeOf,
  bool,
  embedded,
  int32,
  int64,
  list,
  optional,
  pointer,
  required,
  string,
  time,
} from "#schema";
import { PodTemplateSpec } from "../core/pod.ts";
import { ObjectReference } from "../core/reference.ts";
import { hiddenDefault, openEnum, patchMerge, setList, atomicList } from "../extras.ts";
import { LabelSelector } from "../meta/label-selector.ts";
import { ObjectMeta } from "../meta/object-meta.ts";
import { ConditionStatus, PodConditionType, UID } from "../named-types.ts";
import { batch } from "../packages.ts";

const { message, kind, named } = batch;

export const PodFailurePolicyOnExitCodesRequirement = message(
  "PodFailurePolicyOnExitCodesRequirement",
  "Looks at exit codes.",
  {
    containerName: required(1, string, "Only this container; all when unset.", {
      nullable: true,
      published: "optional",
    }),
    operator: required(
      2,
      named("PodFailurePolicyOnExitCodesOperator", string),
      "In or NotIn.",
      openEnum("In", "NotIn"),
    ),
    values: required(3, list(int32), "The codes.", setList),
  },
);
export type PodFailurePolicyOnExitCodesRequirement = TypeOf<typeof PodFailurePolicyOnExitCodesRequirement>;

export const PodFailurePolicyOnPodConditionsPattern = message(
  "PodFailurePolicyOnPodConditionsPattern",
  "Looks at a condition of the pod.",
  {
    type: required(1, PodConditionType, "Type of the condition."),
    status: required(2, ConditionStatus, "Status it must have."),
  },
);
export type PodFailurePolicyOnPodConditionsPattern = TypeOf<typeof PodFailurePolicyOnPodConditionsPattern>;

export const PodFailurePolicyRule = message(
  "PodFailurePolicyRule",
  "What a failed pod that matches means for the job.",
  {
    action: required(
      1,
      named("PodFailurePolicyAction", string),
      "FailJob, Ignore or Count.",
      openEnum("Count", "FailJob", "Ignore"),
    ),
    onExitCodes: required(2, PodFailurePolicyOnExitCodesRequirement, "Matches by exit code.", {
      nullable: true,
      published: "optional",
    }),
    onPodConditions: required(
      3,
      list(PodFailurePolicyOnPodConditionsPattern),
      "Matches by condition of the pod.",
      { ...atomicList, published: "optional" },
    ),
  },
);
export type PodFailurePolicyRule = TypeOf<typeof PodFailurePolicyRule>;

export const PodFailurePolicy = message("PodFailurePolicy", "What failed pods mean for the job.", {
  rules: required(
    1,
    list(PodFailurePolicyRule),
    "Tried in order; the first that matches decides.",
    atomicList,
  ),
});
export type PodFailurePolicy = TypeOf<typeof PodFailurePolicy>;

export const JobSpec = message("JobSpec", "What is to run, how often, and when to give up.", {
  parallelism: pointer(1, int32, "How many pods may run at once."),
  completions: pointer(2, int32, "How many pods must succeed; any one ends the job when unset."),
  activeDeadlineSeconds: pointer(3, int64, "Seconds after which the job is stopped as failed."),
  podFailurePolicy: optional(11, PodFailurePolicy, "What failed pods mean for the job."),
  backoffLimit: pointer(7, int32, "Failures after which the job counts as failed."),
  selector: optional(4, LabelSelector, "Which pods belong to it; made by the server as a rule."),
  manualSelector: pointer(5, bool, "Whether the selector is the user's own affair."),
  template: embedded(6, PodTemplateSpec, "What the pods look like.", { published: "required" }),
  ttlSecondsAfterFinished: pointer(
    8,
    int32,
    "Seconds after the end until the job is removed; never when unset.",
  ),
  completionMode: pointer(
    9,
    named("CompletionMode", string),
    "NonIndexed, or Indexed to give each pod a number.",
    openEnum("Indexed", "NonIndexed"),
  ),
  suspend: pointer(10, bool, "Holds the job back, and takes running pods away."),
});
export type JobSpec = TypeOf<typeof JobSpec>;

export const UncountedTerminatedPods = message(
  "UncountedTerminatedPods",
  "Ended pods that are not in the counters yet.",
  {
    succeeded: optional(1, list(UID), "Identities of pods that succeeded.", setList),
    failed: optional(2, list(UID), "Identities of pods that failed.", setList),
  },
);
export type UncountedTerminatedPods = TypeOf<typeof UncountedTerminatedPods>;

export const JobCondition = message("JobCondition", "One aspect of a job's state.", {
  type: required(1, named("JobConditionType", string), "What the condition is about."),
  status: required(2, ConditionStatus, "True, False or Unknown."),
  lastProbeTime: embedded(3, time, "When the condition was last checked."),
  lastTransitionTime: embedded(4, time, "When the status last changed."),
  reason: optional(5, string, "One CamelCase word for the last change."),
  message: optional(6, string, "The last change, for people."),
});
export type JobCondition = TypeOf<typeof JobCondition>;

export const JobStatus = message("JobStatus", "How far a job has come.", {
  conditions: optional(1, list(JobCondition), "Complete, failed, suspended.", {
    ...patchMerge("type"),
    ...atomicList,
  }),
  startTime: pointer(2, time, "When it began, or was last resumed."),
  completionTime: pointer(3, time, "When it succeeded."),
  active: optional(4, int32, "Pods that are pending or running."),
  succeeded: optional(5, int32, "Pods that succeeded."),
  failed: optional(6, int32, "Pods that failed."),
  completedIndexes: optional(7, string, "Numbers that are done, such as 1,3-5,7; for Indexed only."),
  uncountedTerminatedPods: optional(
    8,
    UncountedTerminatedPods,
    "Ended pods that are not in the counters yet.",
  ),
  ready: pointer(9, int32, "Pods that are ready."),
});
export type JobStatus = TypeOf<typeof JobStatus>;

export const Job = kind("Job", "Runs pods to a successful end.", {
  metadata: embedded(1, ObjectMeta, "Name, labels and whatever else every object carries."),
  spec: embedded(2, JobSpec, "What is to run."),
  status: embedded(3, JobStatus, "How far it has come."),
});
export type Job = TypeOf<typeof Job>;

export const JobTemplateSpec = message("JobTemplateSpec", "What jobs made from a template look like.", {
  metadata: embedded(1, ObjectMeta, "Labels and annotations of the jobs."),
  spec: embedded(2, JobSpec, "What the jobs run."),
});
export type JobTemplateSpec = TypeOf<typeof JobTemplateSpec>;

export const CronJobSpec = message("CronJobSpec", "When to run what.", {
  schedule: required(1, string, "When, in cron form."),
  timeZone: pointer(8, string, "Time zone of the schedule; the controller's own when unset."),
  startingDeadlineSeconds: pointer(2, int64, "How late a run may begin before it is skipped."),
  concurrencyPolicy: optional(
    3,
    named("ConcurrencyPolicy", string),
    "What if the last run still goes on: Allow, Forbid or Replace.",
    {
      ...openEnum("Allow", "Forbid", "Replace"),
      ...hiddenDefault("Allow"),
    },
  ),
  suspend: pointer(4, bool, "Holds further runs back.", hiddenDefault(false)),
  jobTemplate: embedded(5, JobTemplateSpec, "What the jobs look like.", { published: "required" }),
  successfulJobsHistoryLimit: pointer(6, int32, "How many succeeded jobs are kept.", hiddenDefault(3)),
  failedJobsHistoryLimit: pointer(7, int32, "How many failed jobs are kept.", hiddenDefault(1)),
});
export type CronJobSpec = TypeOf<typeof CronJobSpec>;

export const CronJobStatus = message("CronJobStatus", "When a cron job ran.", {
  active: optional(1, list(ObjectReference), "Jobs running now.", atomicList),
  lastScheduleTime: pointer(4, time, "When it last ran."),
  lastSuccessfulTime: pointer(5, time, "When it last succeeded."),
});
export type CronJobStatus = TypeOf<typeof CronJobStatus>;

export const CronJob = kind("CronJob", "Runs jobs by the clock.", {
  metadata: embedded(1, ObjectMeta, "Name, labels and whatever else every object carries."),
  spec: embedded(2, CronJobSpec, "When to run what."),
  status: embedded(3, CronJobStatus, "When it ran."),
});
export type CronJob = TypeOf<typeof CronJob>;
