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
import { atomicList, gated, gatedValue, hiddenDefault, openEnum, patchMerge, setList } from "../extras.ts";
import { LabelSelector } from "../meta/label-selector.ts";
import { ObjectMeta } from "../meta/object-meta.ts";
import { ConditionStatus, PodConditionType, UID } from "../named-types.ts";
import { batch } from "../packages.ts";

const { message, kind, named } = batch;

export const PodFailurePolicyOnExitCodesRequirement = message(
  "PodFailurePolicyOnExitCodesRequirement",
  "Requirement on the exit codes of failed containers.",
  {
    containerName: required(
      1,
      string,
      "Name of the container to check; if unset, all containers are checked.",
      {
        nullable: true,
        published: "optional",
      },
    ),
    operator: required(
      2,
      named("PodFailurePolicyOnExitCodesOperator", string),
      "Relation of an exit code to the values: In or NotIn.",
      openEnum("In", "NotIn"),
    ),
    values: required(3, list(int32), "Exit codes to compare with; 0 is not allowed with In.", setList),
  },
);
export type PodFailurePolicyOnExitCodesRequirement = TypeOf<typeof PodFailurePolicyOnExitCodesRequirement>;

export const PodFailurePolicyOnPodConditionsPattern = message(
  "PodFailurePolicyOnPodConditionsPattern",
  "Pattern of a pod condition.",
  {
    type: required(1, PodConditionType, "Type that the pod condition must have."),
    status: required(2, ConditionStatus, "Status that the pod condition must have; defaults to True."),
  },
);
export type PodFailurePolicyOnPodConditionsPattern = TypeOf<typeof PodFailurePolicyOnPodConditionsPattern>;

export const PodFailurePolicyRule = message(
  "PodFailurePolicyRule",
  "A rule on how a failed pod is handled; exactly one of the requirements is set.",
  {
    action: required(
      1,
      named("PodFailurePolicyAction", string),
      "Action to take: FailJob fails the job, Ignore does not count the failure, Count counts it as usual.",
      {
        ...openEnum("Count", "FailIndex", "FailJob", "Ignore"),
        ...gatedValue("FailIndex", "JobBackoffLimitPerIndex"),
      },
    ),
    onExitCodes: required(
      2,
      PodFailurePolicyOnExitCodesRequirement,
      "Requirement on the exit codes of the pod's containers.",
      {
        nullable: true,
        published: "optional",
      },
    ),
    onPodConditions: required(
      3,
      list(PodFailurePolicyOnPodConditionsPattern),
      "Patterns of pod conditions, one of which must match.",
      { ...atomicList, published: "optional" },
    ),
  },
);
export type PodFailurePolicyRule = TypeOf<typeof PodFailurePolicyRule>;

export const PodFailurePolicy = message(
  "PodFailurePolicy",
  "How failed pods influence the backoff limit and the job.",
  {
    rules: required(
      1,
      list(PodFailurePolicyRule),
      "Rules, evaluated in order; the first one that matches a failed pod applies.",
      atomicList,
    ),
  },
);
export type PodFailurePolicy = TypeOf<typeof PodFailurePolicy>;

export const SuccessPolicyRule = message(
  "SuccessPolicyRule",
  "A rule by which a job succeeds; at least one of the fields is set.",
  {
    succeededIndexes: pointer(
      1,
      string,
      "Indexes that must succeed, as comma-separated numbers and ranges such as 1,3-5,7.",
    ),
    succeededCount: pointer(
      2,
      int32,
      "Number of indexes that must succeed, of succeededIndexes if these are set.",
    ),
  },
);
export type SuccessPolicyRule = TypeOf<typeof SuccessPolicyRule>;

export const SuccessPolicy = message(
  "SuccessPolicy",
  "When a job succeeds although not all of its indexes have.",
  {
    rules: required(
      1,
      list(SuccessPolicyRule),
      "Rules, evaluated in order; the job succeeds once one of them is met.",
      atomicList,
    ),
  },
);
export type SuccessPolicy = TypeOf<typeof SuccessPolicy>;

export const JobSpec = message("JobSpec", "Specification of a job.", {
  parallelism: pointer(1, int32, "Maximum number of pods that run at the same time; defaults to 1."),
  completions: pointer(
    2,
    int32,
    "Number of pods that must succeed; if unset, the success of any pod completes the job.",
  ),
  activeDeadlineSeconds: pointer(
    3,
    int64,
    "Seconds from the start of the job after which it is terminated and marked as failed.",
  ),
  podFailurePolicy: optional(
    11,
    PodFailurePolicy,
    "How failed pods are handled; without it, each failure counts towards the backoff limit.",
  ),
  successPolicy: optional(
    16,
    SuccessPolicy,
    "When an Indexed job succeeds before all of its indexes have; the remaining pods are then terminated.",
    gated("JobSuccessPolicy"),
  ),
  backoffLimit: pointer(
    7,
    int32,
    "Number of pod failures that are retried before the job is marked as failed; defaults to 6.",
  ),
  backoffLimitPerIndex: pointer(
    12,
    int32,
    "Number of failures of one index that are retried before the index is marked as failed.",
    gated("JobBackoffLimitPerIndex"),
  ),
  maxFailedIndexes: pointer(
    13,
    int32,
    "Number of failed indexes above which the whole job is marked as failed; requires backoffLimitPerIndex.",
    gated("JobBackoffLimitPerIndex"),
  ),
  selector: optional(
    4,
    LabelSelector,
    "Label selector of the counted pods; normally generated by the system.",
  ),
  manualSelector: pointer(
    5,
    bool,
    "Whether the selector is set and kept unique by the user instead of being generated.",
  ),
  template: embedded(6, PodTemplateSpec, "Template of the pods that execute the job.", {
    published: "required",
  }),
  ttlSecondsAfterFinished: pointer(
    8,
    int32,
    "Seconds after which a finished job is deleted automatically; never if unset.",
  ),
  completionMode: pointer(
    9,
    named("CompletionMode", string),
    "How completions are tracked: NonIndexed (default), or Indexed to give each pod a completion index.",
    openEnum("Indexed", "NonIndexed"),
  ),
  suspend: pointer(
    10,
    bool,
    "Whether the job is suspended; suspending a job deletes its active pods. Defaults to false.",
  ),
  podReplacementPolicy: pointer(
    14,
    named("PodReplacementPolicy", string),
    "When pods are replaced: once they terminate or have failed (TerminatingOrFailed, the default), or " +
      "only once they have failed or succeeded (Failed, the only value with a pod failure policy).",
    { ...openEnum("Failed", "TerminatingOrFailed"), ...gated("JobPodReplacementPolicy") },
  ),
  managedBy: pointer(
    15,
    string,
    "The controller of the job, as a domain-prefixed path; the job controller ignores jobs of other " +
      "controllers.",
    gated("JobManagedBy"),
  ),
});
export type JobSpec = TypeOf<typeof JobSpec>;

export const UncountedTerminatedPods = message(
  "UncountedTerminatedPods",
  "Terminated pods that are not yet included in the status counters.",
  {
    succeeded: optional(1, list(UID), "UIDs of succeeded pods.", setList),
    failed: optional(2, list(UID), "UIDs of failed pods.", setList),
  },
);
export type UncountedTerminatedPods = TypeOf<typeof UncountedTerminatedPods>;

export const JobCondition = message("JobCondition", "A condition of a job.", {
  type: required(1, named("JobConditionType", string), "Type of the condition."),
  status: required(2, ConditionStatus, "Status of the condition: True, False or Unknown."),
  lastProbeTime: embedded(3, time, "Time at which the condition was last checked."),
  lastTransitionTime: embedded(4, time, "Time at which the status of the condition last changed."),
  reason: optional(5, string, "Machine-readable reason for the last transition, one CamelCase word."),
  message: optional(6, string, "Human-readable details of the last transition."),
});
export type JobCondition = TypeOf<typeof JobCondition>;

export const JobStatus = message("JobStatus", "Current status of a job.", {
  conditions: optional(
    1,
    list(JobCondition),
    "Observed conditions of the job, such as Complete, Failed or Suspended.",
    {
      ...patchMerge("type"),
      ...atomicList,
    },
  ),
  startTime: pointer(2, time, "Time at which the controller started the job, or last resumed it."),
  completionTime: pointer(3, time, "Time at which the job completed; set only if it succeeded."),
  active: optional(4, int32, "Number of pending and running pods."),
  succeeded: optional(5, int32, "Number of pods that succeeded."),
  failed: optional(6, int32, "Number of pods that failed."),
  terminating: pointer(
    11,
    int32,
    "Number of pods that are being deleted and have not finished.",
    gated("JobPodReplacementPolicy"),
  ),
  completedIndexes: optional(
    7,
    string,
    "Completed indexes of an Indexed job, as comma-separated numbers and ranges such as 1,3-5,7.",
  ),
  failedIndexes: pointer(
    10,
    string,
    "Failed indexes of a job with backoffLimitPerIndex, in the format of completedIndexes.",
    gated("JobBackoffLimitPerIndex"),
  ),
  uncountedTerminatedPods: optional(
    8,
    UncountedTerminatedPods,
    "Terminated pods that are not yet included in the status counters.",
  ),
  ready: pointer(9, int32, "Number of ready pods."),
});
export type JobStatus = TypeOf<typeof JobStatus>;

export const Job = kind("Job", "Runs pods until a specified number of them completes successfully.", {
  metadata: embedded(1, ObjectMeta, "Standard object metadata."),
  spec: embedded(2, JobSpec, "Specification of the desired behavior of the job."),
  status: embedded(3, JobStatus, "Current status of the job."),
});
export type Job = TypeOf<typeof Job>;

export const JobTemplateSpec = message("JobTemplateSpec", "Template from which jobs are created.", {
  metadata: embedded(
    1,
    ObjectMeta,
    "Standard object metadata of the created jobs, such as labels and annotations.",
  ),
  spec: embedded(2, JobSpec, "Specification of the created jobs."),
});
export type JobTemplateSpec = TypeOf<typeof JobTemplateSpec>;

export const CronJobSpec = message("CronJobSpec", "Specification of a cron job.", {
  schedule: required(1, string, "Schedule in cron format."),
  timeZone: pointer(
    8,
    string,
    "Time zone name of the schedule; defaults to that of the controller manager process.",
  ),
  startingDeadlineSeconds: pointer(
    2,
    int64,
    "Seconds for which a missed run may still be started; if unset, there is no deadline.",
  ),
  concurrencyPolicy: optional(
    3,
    named("ConcurrencyPolicy", string),
    "How to treat a run while the previous one is active: Allow (default), Forbid or Replace.",
    {
      ...openEnum("Allow", "Forbid", "Replace"),
      ...hiddenDefault("Allow"),
    },
  ),
  suspend: pointer(
    4,
    bool,
    "Whether subsequent runs are suspended; defaults to false and does not affect active jobs.",
    hiddenDefault(false),
  ),
  jobTemplate: embedded(5, JobTemplateSpec, "Template of the jobs to create.", { published: "required" }),
  successfulJobsHistoryLimit: pointer(
    6,
    int32,
    "Number of succeeded jobs to retain; defaults to 3.",
    hiddenDefault(3),
  ),
  failedJobsHistoryLimit: pointer(
    7,
    int32,
    "Number of failed jobs to retain; defaults to 1.",
    hiddenDefault(1),
  ),
});
export type CronJobSpec = TypeOf<typeof CronJobSpec>;

export const CronJobStatus = message("CronJobStatus", "Current status of a cron job.", {
  active: optional(1, list(ObjectReference), "References to the currently running jobs.", atomicList),
  lastScheduleTime: pointer(4, time, "Time at which a job was last scheduled successfully."),
  lastSuccessfulTime: pointer(5, time, "Time at which a job last completed successfully."),
});
export type CronJobStatus = TypeOf<typeof CronJobStatus>;

export const CronJob = kind("CronJob", "Creates jobs on a schedule.", {
  metadata: embedded(1, ObjectMeta, "Standard object metadata."),
  spec: embedded(2, CronJobSpec, "Specification of the desired behavior of the cron job."),
  status: embedded(3, CronJobStatus, "Current status of the cron job."),
});
export type CronJob = TypeOf<typeof CronJob>;
