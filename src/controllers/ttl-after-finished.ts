// Deletes finished jobs when their time to live has expired.
import type { Job } from "#api";
import { exponentialBuckets } from "#base";
import { kinds } from "#client";
import {
  type Controller,
  type ControllerContext,
  ignoreReasons,
  orUndefined,
  queueFor,
} from "#controllerkit";
import { keyOf, splitKey, timeOf } from "./pods.ts";

/** Returns the time in milliseconds at which the job may be deleted; undefined if it must be kept. */
export function expiryOf({ spec, status, metadata }: Job): number | undefined {
  const seconds = spec.ttlSecondsAfterFinished;
  if (typeof seconds !== "number" || metadata.deletionTimestamp) return undefined;
  const finished = (status.conditions ?? []).find(
    ({ type, status: is }) => (type === "Complete" || type === "Failed") && is === "True",
  );
  return finished ? timeOf(finished.lastTransitionTime) + seconds * 1000 : undefined;
}

export function ttlAfterFinishedController(context: ControllerContext): Controller {
  const { client, clock, view } = context;
  const resource = client.of(kinds.jobs);
  const deletionDelay = context.metrics
    .histogram({
      name: "ttl_after_finished_controller_job_deletion_duration_seconds",
      help: "Time in seconds from the expiry of a job to its deletion.",
      buckets: exponentialBuckets(0.1, 2, 14),
      stability: "ALPHA",
    })
    .with();
  const queue = queueFor(context, "ttl_jobs_to_delete", work);
  const jobs = view.follow(kinds.jobs, ({ type, object }) => {
    if (type !== "deleted" && expiryOf(object) !== undefined) queue.add(keyOf(object));
  });
  return { stopped: queue.stopped };

  async function work(key: string): Promise<{ requeueAfterMilliseconds: number } | void> {
    const [namespace, name] = splitKey(key);
    const remainingTime = (job: Job | undefined): number | undefined => {
      const expiry = job && expiryOf(job);
      return expiry === undefined ? undefined : expiry - clock.now();
    };
    const cached = remainingTime(jobs.get(namespace, name));
    if (cached === undefined) return;
    if (cached > 0) return { requeueAfterMilliseconds: cached };
    // The informer cache may be stale: the TTL may have been extended.
    const fresh = await orUndefined(resource.get(name, { namespace }));
    const remaining = remainingTime(fresh);
    if (remaining === undefined) return;
    if (remaining > 0) return { requeueAfterMilliseconds: remaining };
    const { uid, resourceVersion } = fresh!.metadata;
    await ignoreReasons(
      ["NotFound"],
      resource.delete(name, {
        namespace,
        propagation: "Foreground",
        uid: uid!,
        resourceVersion: resourceVersion!,
      }),
    );
    deletionDelay.observe(Math.max(0, -(remainingTime(fresh) ?? 0)) / 1000);
  }
}
