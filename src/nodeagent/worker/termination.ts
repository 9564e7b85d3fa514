// The end of a pod in two actions: its containers end within the grace period, then nothing of it is left on
// the node.
import type { Pod } from "#api";
import { hasRunningContainers } from "../containers/observed.ts";
import { LeftoverError } from "../interfaces.ts";
import { hostPortsOf } from "../node/host-ports.ts";
import { logFolderOf } from "../plan/sandbox-config.ts";
import { isDeleted, isStatic, keyOf, referenceTo, uidOf } from "../pod.ts";
import { hasInitialized, terminatedStatus } from "../status/compute.ts";
import { removePod, stopContainers, stopSandboxes } from "../sync/stop.ts";
import { type PodEntry, type PodWorkersOptions, podName } from "./entry.ts";
import { type PodStatuses, pastDeadline } from "./pod-status.ts";
import { type Ending, type StopReason, type Terminated, type Terminating, endsByItself } from "./state.ts";
import type { Done } from "./worker.ts";

export interface Termination {
  /** Ends the containers. */
  terminate(entry: PodEntry, state: Terminating, signal: AbortSignal): Promise<Done>;
  /** Removes what is left; true when the pod can be forgotten. */
  clear(entry: PodEntry, state: Terminated, signal: AbortSignal): Promise<boolean>;
}

export function termination(options: PodWorkersOptions, statuses: PodStatuses): Termination {
  const { context, writer } = options;
  const { log, cache, probes, events, dialect } = context;

  /** Tells when a pod cannot be ended. */
  async function reported(pod: Pod, signal: AbortSignal, end: () => Promise<unknown>): Promise<void> {
    try {
      await end();
    } catch (error) {
      if (!signal.aborted) {
        const message = `error killing pod: ${(error as Error).message}`;
        events.event(referenceTo(pod), "Warning", "FailedKillPod", message);
      }
      throw error;
    }
  }

  /** Foreign files are no reason to keep a pod; housekeeping looks after the folder. */
  const leftBehind =
    (pod: Pod) =>
    (error: unknown): void => {
      if (!(error instanceof LeftoverError)) throw error;
      log.warn("foreign files left in pod directory", {
        pod: keyOf(pod),
        uid: uidOf(pod),
        error: error.message,
      });
    };

  /**
   * A process that the runtime has lost sight of keeps it from removing the container: it ends with the pod's
   * control group.
   */
  const alsoReleasing =
    (uid: string) =>
    async (error: unknown): Promise<never> => {
      await context.cgroups.release(uid).catch(() => undefined);
      throw error;
    };

  async function removeLeftovers(entry: PodEntry, pod: Pod, signal: AbortSignal): Promise<void> {
    await context.files.removeLogs(logFolderOf(pod, context.settings.logFolder));
    await reported(pod, signal, async () =>
      removePod(context, await cache.fresh(podName(pod), signal), signal),
    );
    // An action that was cut short may have left something that nobody has seen.
    const left = entry.outcome === "known" ? undefined : await cache.refresh(podName(pod), signal);
    if (left && (left.sandboxes.length > 0 || left.containers.length > 0)) {
      await removePod(context, left, signal);
      await cache.refresh(podName(pod), signal);
    }
    cache.forget(podName(pod));
    context.objects.forget(uidOf(pod));
    context.restarts.forget(`${uidOf(pod)}/`);
  }

  return {
    terminate: async (entry, { pod, graceSeconds, reason }, signal) => {
      const ended = endedBy(reason);
      probes.stopping(uidOf(pod));
      const { outcome } = entry;
      const certain = outcome === "known";
      const observed =
        (certain ? cache.cached(uidOf(pod)) : undefined) ?? (await cache.refresh(podName(pod), signal));
      entry.outcome = "unknown";
      const before = statuses.update(entry, pod, observed, { over: false, ...ended });
      entry.worker.send({ type: "initialized", done: hasInitialized(pod, before) }, true);
      statuses.publish(entry, pod, before, true);
      await reported(pod, signal, async () => {
        const seconds = endsByItself(reason) ? undefined : graceSeconds;
        await stopContainers(context, pod, observed, seconds, entry.memory, signal);
        // An empty sandbox is in nobody's way and is ended when the pod is gone, unless it may not be empty or
        // holds something of the node's.
        if (!certain || hostPortsOf(pod).length > 0)
          await stopSandboxes(context, observed, entry.memory, { signal });
      });
      const running = observed.containers.filter(({ state }) => state !== "exited");
      const after = await cache.refreshParts(podName(pod), { containers: running }, signal);
      if (hasRunningContainers(after)) throw new Error("containers still run after they were stopped");
      const late = reason.kind === "deleted" && (statuses.deadline(pod, before) ?? 1) <= 0;
      if (late) events.event(referenceTo(pod), "Normal", pastDeadline.reason, pastDeadline.message);
      statuses.update(entry, pod, after, { over: true, ...ended, ...(late && { ended: pastDeadline }) });
      probes.forget(uidOf(pod));
      entry.outcome = outcome;
      return { next: { type: "stopped" } };
    },

    clear: async (entry, { pod, reason, orphaned, wasInitialized, cleared }, signal) => {
      const uid = uidOf(pod);
      const gone = orphaned === true || isDeleted(pod);
      const mustClear = gone && !cleared;
      if (!isRejection(entry, reason)) {
        const status =
          entry.status ??
          statuses.update(entry, pod, await cache.fresh(podName(pod), signal), {
            over: true,
            ...endedBy(reason),
          });
        entry.status = terminatedStatus(pod, status, isStatic(pod, dialect), wasInitialized);
      }
      // Whoever hears that the pod has ended may send the next one, which must not find CPUs or devices taken.
      for (const contributor of context.contributors ?? []) contributor.release?.(uid);
      statuses.publish(entry, pod, entry.status!, false);
      // The second time is for a pod whose object is gone as well: of the rest nothing is left by then.
      if (!cleared) await context.volumes.release(uid).catch(leftBehind(pod));
      // What the runtime never had is found by its folder alone, which therefore goes last.
      if (mustClear && !cache.has(uid))
        await context.files.removeLogs(logFolderOf(pod, context.settings.logFolder));
      if (mustClear) await context.files.remove(uid).catch(leftBehind(pod));
      // Nothing of it runs or is mounted: the object may go. What is left is in nobody's way, and is found by
      // its labels if we die here.
      let failure: Error | undefined;
      if (isDeleted(pod) && writer && !isStatic(pod, dialect) && !orphaned)
        await writer.remove(pod).catch((error: Error) => (failure = error));
      // What ends for the node's sake leaves no logs and layers behind either: it may be their room that the
      // node lacks. The containers of a pod that begins anew stay, and its restarts are counted from theirs.
      if ((mustClear && !beginsAnew(entry)) || (isForTheNode(reason) && cache.has(uid)))
        await removeLeftovers(entry, pod, signal).catch(alsoReleasing(uid));
      else
        await reported(pod, signal, async () =>
          stopSandboxes(context, await cache.fresh(podName(pod), signal), entry.memory, { signal }),
        );
      if (!cleared) await context.cgroups.release(uid);
      if (gone) entry.worker.send({ type: "cleared" }, true);
      if (failure) throw failure;
      // One that was orphaned a moment ago is not cleared yet: that comes next.
      if (!orphaned) return false;
      const mirror = options.mirrorOf(pod);
      if (mirror) await writer?.settled(uidOf(mirror));
      return true;
    },
  };
}

const endedBy = (reason: StopReason): { readonly ended?: Ending } =>
  reason.kind === "ended" ? { ended: reason } : {};
const beginsAnew = ({ worker }: PodEntry): boolean => {
  const state = worker.state();
  return state.at === "terminated" && state.restartWith !== undefined;
};
const isForTheNode = (reason: StopReason): boolean => reason.kind === "ended" && reason.final !== true;
/** Rejected pods never had containers to speak of. */
const isRejection = ({ status }: PodEntry, reason: StopReason): boolean =>
  reason.kind === "ended" && status !== undefined && status.containerStatuses === undefined;
