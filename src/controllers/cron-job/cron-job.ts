// CronJob: creates a job for each scheduled time, subject to deadline and concurrency policy.
import type { CronJob, CronJobStatus, Job, ObjectReference } from "#api";
import { type CronSchedule, exponentialBuckets, parseCron, timeInZone, timeOfMillis } from "#base";
import { type AnyObject, kinds } from "#client";
import {
  type Controller,
  type ControllerContext,
  controllerOf,
  controllerReference,
  ignoreReasons,
  isAlreadyExists,
  isNamespaceTerminating,
  orUndefined,
  queueFor,
  recorderFor,
  writeStatus,
} from "#controllerkit";
import { keyOf, splitKey, timeOf } from "../pods.ts";

type SeenCronJob = CronJob & AnyObject;
type SeenJob = Job & AnyObject;
type Requeue = { readonly requeueAfterMilliseconds: number } | void;

/** Delay after the scheduled time, to allow for clock skew. */
const slackMilliseconds = 100;

const finishedAs = ({ status }: Job): "Complete" | "Failed" | undefined =>
  (status.conditions ?? []).find(
    ({ type, status: is }) => (type === "Complete" || type === "Failed") && is === "True",
  )?.type as "Complete" | "Failed" | undefined;

/** Returns the latest missed start time, and whether suspiciously many were missed. */
export function dueTime(
  schedule: CronSchedule,
  { earliest, now, deadlineSeconds }: { earliest: number; now: number; deadlineSeconds: number | undefined },
): { readonly at: number | undefined; readonly tooMany: boolean } {
  const from = deadlineSeconds === undefined ? earliest : Math.max(earliest, now - deadlineSeconds * 1000);
  const first = schedule.next(from);
  if (first === undefined || first > now) return { at: undefined, tooMany: false };
  const second = schedule.next(first);
  if (second === undefined || second > now) return { at: first, tooMany: false };
  const missed = Math.floor((now - first) / Math.max(1000, second - first)) + 1;
  return { at: lastTime(schedule, first, now), tooMany: missed > 100 };
}

/** Returns the last time until now, in a few steps however many there are since the first. */
function lastTime({ next, periodMilliseconds: period }: CronSchedule, first: number, now: number): number {
  if (period !== undefined) return first + Math.floor((now - first) / period) * period;
  let [before, last] = [first, now];
  while (last - before > 1) {
    const middle = Math.floor((before + last) / 2);
    if ((next(middle) ?? Infinity) > now) last = middle;
    else before = middle;
  }
  return last;
}

/**
 * Returns the next time after now. `@every` counts from the last time that was due, or else from the earliest.
 */
export function timeAfter(schedule: CronSchedule, earliest: number, now: number): number | undefined {
  const { at = earliest } = dueTime(schedule, { earliest, now, deadlineSeconds: undefined });
  return schedule.next(Math.min(at, now));
}

/** Returns the time from which schedules count. */
const earliestOf = ({ status, metadata }: SeenCronJob): number =>
  timeOf(status.lastScheduleTime) || timeOf(metadata.creationTimestamp);

function nextTime(cronJob: SeenCronJob, now: number): number | undefined {
  const { schedule, timeZone } = cronJob.spec;
  try {
    return timeAfter(parseCron(schedule, timeZone ?? undefined), earliestOf(cronJob), now);
  } catch {
    return undefined;
  }
}

export function cronJobController(context: ControllerContext): Controller {
  const { client, clock, view, dialect, gates } = context;
  const events = recorderFor(context, "cronjob-controller");
  const resource = client.of(kinds.cronJobs);
  const jobClient = client.of(kinds.jobs);
  const creationSkew = context.metrics
    .histogram({
      name: "cronjob_controller_job_creation_skew_duration_seconds",
      help: "Time in seconds from the scheduled time of a job to its creation.",
      buckets: exponentialBuckets(1, 2, 10),
      stability: "STABLE",
    })
    .with();
  const queue = queueFor(context, "cronjob", sync);
  const cronJobs = view.follow(kinds.cronJobs, (event) => {
    const delay = event.type === "updated" ? millisecondsToNewSchedule(event.old, event.object) : undefined;
    if (delay !== undefined) queue.addAfter(keyOf(event.object), delay);
    else if (event.type !== "deleted") queue.add(keyOf(event.object));
  });
  const jobs = view.follow(kinds.jobs, ({ object }) => {
    const reference = controllerOf(object);
    if (reference?.kind === "CronJob") queue.add(`${object.metadata.namespace}/${reference.name}`);
  });
  return { stopped: queue.stopped };

  /** A changed schedule starts with its next time; times it would have had before are not made up for. */
  function millisecondsToNewSchedule({ spec: old }: SeenCronJob, cronJob: SeenCronJob): number | undefined {
    const { spec } = cronJob;
    if (old.schedule === spec.schedule && old.timeZone === spec.timeZone) return undefined;
    const next = nextTime(cronJob, clock.now());
    return next === undefined ? undefined : next - clock.now() + slackMilliseconds;
  }

  async function sync(key: string): Promise<Requeue> {
    const [namespace, name] = splitKey(key);
    const seen = cronJobs.get(namespace, name);
    if (!seen) return;
    const mine = jobs.controlledBy(seen.metadata.uid!);
    const status = await updateActive(seen, mine);
    await cleanUp(seen, mine);
    const cronJob = await writeStatus(resource, seen, status);
    if (cronJob.metadata.deletionTimestamp || cronJob.spec.suspend) return;
    return await startDue(cronJob);
  }

  /** Removes finished and missing jobs from the active list. */
  async function updateActive(cronJob: SeenCronJob, mine: readonly SeenJob[]): Promise<CronJobStatus> {
    let active = [...(cronJob.status.active ?? [])];
    let { lastSuccessfulTime } = cronJob.status;
    const isListed = ({ metadata }: SeenJob): boolean => active.some(({ uid }) => uid === metadata.uid);
    for (const job of mine) {
      const outcome = finishedAs(job);
      const { name } = job.metadata;
      if (!isListed(job) && !outcome) {
        const fresh = await resource.get(cronJob.metadata.name!, { namespace: cronJob.metadata.namespace! });
        if (fresh.status.active?.some(({ uid }) => uid === job.metadata.uid)) continue;
        events.event(
          cronJob,
          "Warning",
          "UnexpectedJob",
          `Saw a job that the controller did not create or forgot: ${name}`,
        );
      } else if (isListed(job) && outcome) {
        active = active.filter(({ uid }) => uid !== job.metadata.uid);
        events.event(cronJob, "Normal", "SawCompletedJob", `Saw completed job: ${name}, status: ${outcome}`);
      }
      const completed = job.status.completionTime;
      if (outcome === "Complete" && completed && timeOf(completed) > timeOf(lastSuccessfulTime))
        lastSuccessfulTime = completed;
    }
    for (const reference of active) {
      if (mine.some(({ metadata }) => metadata.uid === reference.uid)) continue;
      const present = await orUndefined(jobClient.get(reference.name!, { namespace: reference.namespace! }));
      if (present?.metadata.uid === reference.uid) continue;
      // This controller may have deleted it a moment ago.
      const { status } = await resource.get(cronJob.metadata.name!, {
        namespace: cronJob.metadata.namespace!,
      });
      active = active.filter((each) => each !== reference);
      if (!status.active?.some(({ uid }) => uid === reference.uid)) continue;
      events.event(cronJob, "Normal", "MissingJob", `Active job went missing: ${reference.name}`);
    }
    const { active: _, ...rest } = cronJob.status;
    return {
      ...rest,
      ...(active.length > 0 && { active }),
      ...(lastSuccessfulTime && { lastSuccessfulTime }),
    };
  }

  /** Deletes finished jobs beyond the history limits, oldest first. */
  async function cleanUp(cronJob: SeenCronJob, mine: readonly SeenJob[]): Promise<void> {
    const { successfulJobsHistoryLimit, failedJobsHistoryLimit } = cronJob.spec;
    const limits = { Complete: successfulJobsHistoryLimit, Failed: failedJobsHistoryLimit };
    for (const [outcome, limit] of Object.entries(limits)) {
      if (typeof limit !== "number") continue;
      const finished = mine
        .filter((job) => finishedAs(job) === outcome)
        .toSorted(
          (a, b) =>
            timeOf(a.status.startTime) - timeOf(b.status.startTime) ||
            (a.metadata.name! < b.metadata.name! ? -1 : 1),
        );
      // A job whose deletion is denied, which an event reports, must not keep the next one from being started.
      for (const job of finished.slice(0, Math.max(0, finished.length - limit)))
        await deleteJob(cronJob, job.metadata).catch(() => undefined);
    }
  }

  async function deleteJob(
    cronJob: SeenCronJob,
    { name, namespace }: { name?: string | undefined; namespace?: string | undefined },
  ): Promise<void> {
    try {
      await ignoreReasons(
        ["NotFound"],
        jobClient.delete(name!, { namespace: namespace!, propagation: "Background" }),
      );
      events.event(cronJob, "Normal", "SuccessfulDelete", `Deleted job ${name}`);
    } catch (error) {
      events.event(cronJob, "Warning", "FailedDelete", `Deleted job: ${(error as Error).message}`);
      throw error;
    }
  }

  async function startDue(cronJob: SeenCronJob): Promise<Requeue> {
    const now = clock.now();
    const { spec, status, metadata } = cronJob;
    if (spec.schedule.includes("TZ")) {
      const page = `https://${dialect.data.labelDomain}/docs/concepts/workloads/controllers/cron-jobs/`;
      const text = `CRON_TZ or TZ used in schedule "${spec.schedule}" is not officially supported, see ${page} for more details`;
      events.event(cronJob, "Warning", "UnsupportedSchedule", text);
    }
    let schedule: CronSchedule;
    try {
      schedule = parseCron(spec.schedule, spec.timeZone ?? undefined);
    } catch (error) {
      const isZone = (error as Error).message.startsWith("unknown time zone");
      if (isZone)
        events.event(
          cronJob,
          "Warning",
          "UnknownTimeZone",
          `invalid timeZone: "${spec.timeZone}": ${(error as Error).message}`,
        );
      else
        events.event(
          cronJob,
          "Warning",
          "UnparseableSchedule",
          `unparseable schedule: "${spec.schedule}" : ${(error as Error).message}`,
        );
      return;
    }
    if (schedule.next(now) === undefined) {
      // E.g. 31 February: no such time exists, which the reference detects when it compares the next two
      // times.
      const text = `invalid schedule: ${spec.schedule} : time difference between two schedules is less than 1 second`;
      events.event(cronJob, "Warning", "InvalidSchedule", text);
      return;
    }
    const deadlineSeconds = spec.startingDeadlineSeconds ?? undefined;
    const earliest = earliestOf(cronJob);
    const { at, tooMany } = dueTime(schedule, { earliest, now, deadlineSeconds });
    const requeueForNext = (): Requeue => {
      const next = timeAfter(schedule, earliest, now);
      return next === undefined ? undefined : { requeueAfterMilliseconds: next - now + slackMilliseconds };
    };
    if (tooMany) {
      const text =
        "too many missed start times. Set or decrease .spec.startingDeadlineSeconds or check clock skew";
      events.event(cronJob, "Warning", "TooManyMissedTimes", text);
    }
    if (at === undefined) return requeueForNext();
    const name = `${metadata.name}-${Math.floor(at / 60_000)}`;
    const isStarted =
      status.active?.some((each) => each.name === name) || timeOf(status.lastScheduleTime) === at;
    if (isStarted) return requeueForNext();
    const active = status.active ?? [];
    if (spec.concurrencyPolicy === "Forbid" && active.length > 0) {
      const text = "Not starting job because prior execution is running and concurrency policy is Forbid";
      events.event(cronJob, "Normal", "JobAlreadyActive", text);
      return requeueForNext();
    }
    let kept: readonly ObjectReference[] = active;
    if (spec.concurrencyPolicy === "Replace") {
      for (const reference of active) await deleteJob(cronJob, reference);
      kept = [];
    }
    const job = await createJob(cronJob, name, at);
    if (!job) return;
    const reference = {
      apiVersion: job.apiVersion,
      kind: job.kind,
      name: job.metadata.name!,
      namespace: job.metadata.namespace!,
      uid: job.metadata.uid!,
      resourceVersion: job.metadata.resourceVersion!,
    };
    await writeStatus(resource, cronJob, {
      ...status,
      active: [...kept, reference],
      lastScheduleTime: timeOfMillis(at),
    });
    return requeueForNext();
  }

  async function createJob(
    cronJob: SeenCronJob,
    name: string,
    scheduledAt: number,
  ): Promise<SeenJob | undefined> {
    const namespace = cronJob.metadata.namespace!;
    const { jobTemplate, timeZone } = cronJob.spec;
    const { metadata, spec } = jobTemplate;
    const noted = gates.enabled("CronJobsScheduledAnnotation") && {
      [dialect.names.annotations.cronJobScheduled]: timeInZone(scheduledAt, timeZone ?? "UTC"),
    };
    try {
      const job = await jobClient.create({
        metadata: {
          name,
          namespace,
          ...(metadata.labels && { labels: metadata.labels }),
          ...((metadata.annotations || noted) && { annotations: { ...metadata.annotations, ...noted } }),
          ownerReferences: [controllerReference(cronJob)],
        },
        spec,
      });
      creationSkew.observe((timeOf(job.metadata.creationTimestamp) - scheduledAt) / 1000);
      events.event(cronJob, "Normal", "SuccessfulCreate", `Created job ${name}`);
      return job;
    } catch (error) {
      if (isNamespaceTerminating(error)) return undefined;
      if (isAlreadyExists(error)) {
        const present = await jobClient.get(name, { namespace });
        return controllerOf(present)?.uid === cronJob.metadata.uid ? present : undefined;
      }
      events.event(cronJob, "Warning", "FailedCreate", `Error creating job: ${(error as Error).message}`);
      throw error;
    }
  }
}
