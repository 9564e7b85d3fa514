// The status of a job. Where jobs may have other controllers, only changes that keep the status consistent
// are accepted, each rule being checked only if one of its fields changes: an object that violates one
// remains writable.
import type { Job } from "#api";
import { type FieldError, duplicate, invalidValue, omitted, required } from "#base";
import type { RegistrySettings } from "../../strategy.ts";
import { firstCommonIndex, parseIndexRanges } from "./index-ranges.ts";
import { same } from "./unchanged.ts";
import { counterErrors } from "./workload.ts";

const counters = ["active", "succeeded", "failed", "ready", "terminating"] as const;
const conditionsField = "status.conditions";

export function jobStatusErrors(job: Job, old: Job, settings: RegistrySettings): FieldError[] {
  const { podReplacement, jobSuccess, managedJobs } = settings;
  const errors = [...counterErrors(job.status, counters), ...uncountedErrors(job.status)];
  if (managedJobs) errors.push(...strictErrors(job, old));
  if (podReplacement || jobSuccess || managedJobs)
    errors.push(...successErrors(job, old, Boolean(podReplacement || managedJobs)));
  return errors;
}

const holds = ({ status }: Job, type: string): boolean =>
  (status.conditions ?? []).some((each) => each.type === type && each.status === "True");
const isFinished = (job: Job): boolean => holds(job, "Complete") || holds(job, "Failed");

const conditionError = (detail: string): FieldError => invalidValue(conditionsField, omitted, detail);

function uncountedErrors({ uncountedTerminatedPods: pods }: Job["status"]): FieldError[] {
  const seen = new Set<string>();
  return (["succeeded", "failed"] as const).flatMap((key) =>
    (pods?.[key] ?? []).flatMap((uid, position) => {
      const at = `status.uncountedTerminatedPods.${key}[${position}]`;
      const errors =
        uid === "" ? [invalidValue(at, uid, "must not be empty")] : seen.has(uid) ? [duplicate(at, uid)] : [];
      seen.add(uid);
      return errors;
    }),
  );
}

/** Rules of the condition SuccessCriteriaMet. */
function successErrors(job: Job, old: Job, ofAnyJob: boolean): FieldError[] {
  const isMet = holds(job, "SuccessCriteriaMet");
  const wasMet = holds(old, "SuccessCriteriaMet");
  const { completionMode, successPolicy } = job.spec;
  const errors: FieldError[] = [];
  if (isMet && !ofAnyJob && !wasMet && completionMode !== "Indexed")
    errors.push(conditionError("cannot set SuccessCriteriaMet to NonIndexed Job"));
  if (isMet && holds(job, "Failed"))
    errors.push(conditionError("cannot set SuccessCriteriaMet=True and Failed=true conditions"));
  if (isMet && holds(job, "FailureTarget"))
    errors.push(conditionError("cannot set SuccessCriteriaMet=True and FailureTarget=true conditions"));
  if (isMet && !ofAnyJob && !wasMet && !successPolicy)
    errors.push(conditionError("cannot set SuccessCriteriaMet=True for Job without SuccessPolicy"));
  if (successPolicy && !isMet && holds(job, "Complete"))
    errors.push(
      conditionError("cannot set Complete=True for Job with SuccessPolicy unless SuccessCriteriaMet=True"),
    );
  if (wasMet && !isMet) errors.push(conditionError("cannot disable the SuccessCriteriaMet=True condition"));
  if (holds(old, "Complete") && !wasMet && isMet)
    errors.push(
      conditionError("cannot set SuccessCriteriaMet=True for Job already has Complete=true conditions"),
    );
  return errors;
}

function strictErrors(job: Job, old: Job): FieldError[] {
  const { spec, status } = job;
  const before = old.status;
  const turns = (type: string): boolean => holds(job, type) !== holds(old, type);
  const changes = (key: keyof Job["status"]): boolean => !same(status[key], before[key]);
  const finished = isFinished(job);
  const finishes = finished !== isFinished(old);
  const complete = holds(job, "Complete");
  const errors: FieldError[] = [];
  const reject = (wrong: unknown, ...found: FieldError[]): void => {
    if (wrong) errors.push(...found);
  };
  const invalid = (key: keyof Job["status"], detail: string): FieldError =>
    invalidValue(`status.${key}`, status[key] ?? 0, detail);

  if (turns("Complete") || turns("Failed"))
    reject(
      complete && holds(job, "Failed"),
      conditionError("cannot set Complete=True and Failed=true conditions"),
    );
  if (turns("Complete") || turns("FailureTarget"))
    reject(
      complete && holds(job, "FailureTarget"),
      conditionError("cannot set Complete=True and FailureTarget=true conditions"),
    );
  if (turns("Complete") || changes("completionTime")) {
    reject(
      status.completionTime && !complete,
      invalid("completionTime", "cannot set completionTime when there is no Complete=True condition"),
    );
    reject(
      !status.completionTime && complete,
      required("status.completionTime", "completionTime is required for Complete jobs"),
    );
  }
  if ((changes("startTime") || changes("completionTime")) && status.startTime && status.completionTime)
    reject(
      Date.parse(status.completionTime) < Date.parse(status.startTime),
      invalid("completionTime", "completionTime cannot be set before startTime"),
    );
  if (turns("Failed") || changes("failedIndexes"))
    reject(
      holds(job, "Failed") && !holds(job, "FailureTarget"),
      conditionError("cannot set Failed=True condition without the FailureTarget=true condition"),
    );
  if (turns("Complete") || turns("SuccessCriteriaMet"))
    reject(
      complete && !holds(job, "SuccessCriteriaMet"),
      conditionError("cannot set Complete=True condition without the SuccessCriteriaMet=true condition"),
    );
  if (finishes || changes("active"))
    reject(finished && (status.active ?? 0) > 0, invalid("active", "active>0 is invalid for finished job"));
  if ((finishes || changes("startTime")) && !(spec.suspend && spec.completions === 0))
    reject(
      finished && !status.startTime,
      required("status.startTime", "startTime is required for finished job"),
    );
  const uncounted = status.uncountedTerminatedPods;
  if (finishes || changes("uncountedTerminatedPods"))
    reject(
      finished && (uncounted?.failed?.length || uncounted?.succeeded?.length),
      invalid("uncountedTerminatedPods", "uncountedTerminatedPods needs to be empty for finished job"),
    );
  errors.push(...indexErrors(job, changes));
  if (finishes || changes("terminating"))
    reject(
      finished && (status.terminating ?? 0) > 0,
      invalid("terminating", "terminating>0 is invalid for finished job"),
    );
  if (changes("ready") || changes("active"))
    reject(
      (status.ready ?? 0) > (status.active ?? 0),
      invalid("ready", "cannot set more ready pods than active"),
    );
  for (const type of ["Failed", "Complete", "FailureTarget"])
    reject(
      holds(old, type) && !holds(job, type),
      conditionError(`cannot disable the terminal ${type}=True condition`),
    );
  reject(
    (status.failed ?? 0) < (before.failed ?? 0),
    invalid("failed", "cannot decrease the failed counter"),
  );
  if (spec.completionMode !== "Indexed" || spec.completions !== spec.parallelism)
    reject(
      (status.succeeded ?? 0) < (before.succeeded ?? 0),
      invalid("succeeded", "cannot decrease the succeeded counter"),
    );
  if (status.completionTime && before.completionTime)
    reject(changes("completionTime"), invalid("completionTime", "completionTime cannot be mutated"));
  if (before.startTime && !isResuming(job, old))
    reject(
      changes("startTime") && !spec.suspend,
      required("status.startTime", "startTime cannot be removed for unsuspended job"),
    );
  return errors;
}

const isResuming = (job: Job, old: Job): boolean =>
  holds(old, "Suspended") &&
  (job.status.conditions ?? []).some(({ type, status }) => type === "Suspended" && status === "False");

function indexErrors({ spec, status }: Job, changes: (key: keyof Job["status"]) => boolean): FieldError[] {
  const { completions, backoffLimitPerIndex: limit } = spec;
  const { completedIndexes: completed = "", failedIndexes: failed } = status;
  const errors: FieldError[] = [];
  const parsed = (text: string) => parseIndexRanges(text, completions ?? 0);
  const checkFormat = (key: "completedIndexes" | "failedIndexes", text: string): void => {
    const ranges = completions === undefined ? [] : parsed(text);
    if (typeof ranges === "string")
      errors.push(invalidValue(`status.${key}`, text, `error parsing ${key}: ${ranges}`));
  };
  if (changes("completedIndexes")) checkFormat("completedIndexes", completed);
  if (changes("failedIndexes") && limit !== undefined && failed !== undefined)
    checkFormat("failedIndexes", failed);
  if (changes("completedIndexes") && completed !== "" && spec.completionMode !== "Indexed")
    errors.push(
      invalidValue(
        "status.completedIndexes",
        completed,
        "cannot set non-empty completedIndexes when non-indexed completion mode",
      ),
    );
  if (failed === undefined) return errors;
  if (changes("failedIndexes") && limit === undefined)
    errors.push(
      invalidValue(
        "status.failedIndexes",
        failed,
        "cannot set non-null failedIndexes when backoffLimitPerIndex is null",
      ),
    );
  if (!(changes("failedIndexes") || changes("completedIndexes")) || completions === undefined) return errors;
  const [done, lost] = [parsed(completed), parsed(failed)];
  const common =
    typeof done === "string" || typeof lost === "string" ? undefined : firstCommonIndex(done, lost);
  if (common !== undefined)
    errors.push(
      invalidValue(
        "status.failedIndexes",
        failed,
        `failedIndexes and completedIndexes overlap at index: ${common}`,
      ),
    );
  return errors;
}
