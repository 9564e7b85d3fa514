// Creation and deletion of a workload's pods, with the corresponding events.
import type { Pod } from "#api";
import { ApiError } from "#base";
import { type AnyObject, type ApiClient, type Draft, type EventRecorder, kinds } from "#client";
import { isNamespaceTerminating, isNotFound } from "#controllerkit";
import type { SeenPod } from "./pods.ts";

export interface PodControl {
  create(owner: AnyObject, pod: Draft<Pod>): Promise<SeenPod>;
  /** Returns false if the pod did not exist any more. */
  delete(owner: AnyObject, pod: AnyObject): Promise<boolean>;
}

export function podControl(client: ApiClient, events: EventRecorder): PodControl {
  const pods = client.of(kinds.pods);
  return {
    create: async (owner, pod) => {
      try {
        const created = await pods.create(pod);
        events.event(owner, "Normal", "SuccessfulCreate", `Created pod: ${created.metadata.name}`);
        return created;
      } catch (error) {
        if (!isNamespaceTerminating(error))
          events.event(owner, "Warning", "FailedCreate", `Error creating: ${(error as Error).message}`);
        throw error;
      }
    },
    delete: async (owner, { metadata: { name, namespace, uid } }) => {
      try {
        await pods.delete(name!, { namespace: namespace!, uid: uid! });
      } catch (error) {
        if (isNotFound(error) || (error instanceof ApiError && error.reason === "Conflict")) return false;
        events.event(owner, "Warning", "FailedDelete", `Error deleting: ${(error as Error).message}`);
        throw error;
      }
      events.event(owner, "Normal", "SuccessfulDelete", `Deleted pod: ${name}`);
      return true;
    },
  };
}

/**
 * Runs `count` calls in batches of 1, 2, 4, ... and stops after a batch with failures, since further calls
 * would likely fail the same way. Returns the number of successes and the first error.
 */
export async function slowStart(
  count: number,
  call: (index: number) => Promise<unknown>,
): Promise<{ readonly succeeded: number; readonly error?: Error }> {
  let succeeded = 0;
  let size = 1;
  for (let started = 0; started < count; size *= 2) {
    const first = started;
    started += Math.min(size, count - started);
    const results = await Promise.allSettled(
      Array.from({ length: started - first }, (_, index) => call(first + index)),
    );
    const failed = results.filter((each) => each.status === "rejected");
    succeeded += results.length - failed.length;
    if (failed.length > 0) return { succeeded, error: failed[0]!.reason as Error };
  }
  return { succeeded };
}
