// Terminates a pod in two actions: its containers are stopped within the grace period, then everything it
// left on the node is removed.
import type { Pod } from "#api";
import { hasRunningContainers } from "../containers/observed.ts";
import { LeftoverError } from "../interfaces.ts";
import { hostPortsOf } from "../node/host-ports.ts";
import { logFolderOf } from "../plan/sandbox-config.ts";
import { isDeleted, isStatic, keyOf, referenceTo, uidOf } from "../pod.ts";
import { hasInitialized, terminatedStatus } from "../status/compute.ts";
import { KillError, removePod, stopContainers, stopSandboxes } from "../sync/stop.ts";
import { type PodEntry, type PodWorkersOptions, podName } from "./entry.ts";
import { type PodStatuses, pastDeadline } from "./pod-status.ts";
import {
  type Ending,
  type StopReason,
  type Terminated,
  type Terminating,
  usesContainerGrace,
} from "./state.ts";
import type { ActionResult } from "./worker.ts";

export interface Termination {
  /** Stops the containers. */
  terminate(entry: PodEntry, state: Terminating, signal: AbortSignal): Promise<ActionResult>;
  /** Removes what is left; resolves to true when the pod can be forgotten. */
  clear(entry: PodEntry, state: Terminated, signal: AbortSignal): Promise<boolean>;
}

export function termination(options: PodWorkersOptions, statuses: PodStatuses): Termination {
  const { context, writer } = options;
  const { log, cache, probes, events, dialect } = context;

  /**
   * Emits an event when a pod cannot be stopped. As in the kubelet, there is no event of a failure to remove what
   * has stopped.
   */
  async function reportFailure(
    pod: Pod,
    signal: AbortSignal,
    end: () => Promise<unknown>,
    isReported: (error: unknown) => boolean = () => true,
  ): Promise<void> {
    try {
      await end();
    } catch (error) {
      if (!signal.aborted && isReported(error)) {
        const message = `error killing pod: ${(error as Error).message}`;
        events.event(referenceTo(pod), "Warning", "FailedKillPod", message);
      }
      throw error;
    }
  }

  /**
   * Logs foreign files without failing: they do not keep a pod from being cleared, and housekeeping handles
   * them.
   */
  const ignoreLeftovers =
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
   * Releases the pod's cgroup after a failure, which kills processes that the runtime lost track of and that
   * keep it from removing their container.
   */
  const releaseCgroupAndRethrow =
    (uid: string) =>
    async (error: unknown): Promise<never> => {
      await context.cgroups.release(uid).catch(() => undefined);
      throw error;
    };

  async function removeLeftovers(entry: PodEntry, pod: Pod, signal: AbortSignal): Promise<void> {
    await context.files.removeLogs(logFolderOf(pod, context.settings.logFolder));
    await reportFailure(
      pod,
      signal,
      async () => removePod(context, await cache.fresh(podName(pod), signal), signal),
      (error) => error instanceof KillError,
    );
    // An interrupted action may have left objects that have not been observed yet.
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
      await reportFailure(pod, signal, async () => {
        const seconds = usesContainerGrace(reason) ? undefined : graceSeconds;
        await stopContainers(context, pod, observed, seconds, entry.memory, signal);
        // An empty sandbox is harmless and is stopped when the pod is cleared, unless the last action's
        // result is unknown or the sandbox holds host ports.
        if (!certain || hostPortsOf(pod).length > 0)
          await stopSandboxes(context, observed, entry.memory, { signal });
      });
      const running = observed.containers.filter(({ state }) => state !== "exited");
      const after = await cache.refreshParts(podName(pod), { containers: running }, signal);
      if (hasRunningContainers(after)) throw new Error("containers still run after they were stopped");
      const isPastDeadline = reason.kind === "deleted" && (statuses.deadline(pod, before) ?? 1) <= 0;
      if (isPastDeadline) events.event(referenceTo(pod), "Normal", pastDeadline.reason, pastDeadline.message);
      statuses.update(entry, pod, after, {
        over: true,
        ...ended,
        ...(isPastDeadline && { ended: pastDeadline }),
      });
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
      // Resources are released before the status is published: a client that sees the pod ended may create
      // the next one, which must not find CPUs or devices taken.
      for (const contributor of context.contributors ?? []) contributor.release?.(uid);
      statuses.publish(entry, pod, entry.status!, false);
      // A second pass serves pods whose API object has been removed in the meantime; volumes are released by
      // then.
      if (!cleared) await context.volumes.release(uid).catch(ignoreLeftovers(pod));
      // A pod without sandbox or containers can be rediscovered only by its directory, so that is removed
      // last.
      if (mustClear && !cache.has(uid))
        await context.files.removeLogs(logFolderOf(pod, context.settings.logFolder));
      if (mustClear) await context.files.remove(uid).catch(ignoreLeftovers(pod));
      // Nothing of the pod runs or is mounted, so its API object may be removed. What is left is harmless,
      // and is found by its labels if the agent dies here.
      let failure: Error | undefined;
      if (isDeleted(pod) && writer && !isStatic(pod, dialect) && !orphaned)
        await writer.remove(pod).catch((error: Error) => (failure = error));
      // A pod ended by the node leaves no logs or image layers behind, since the node may need their disk
      // space. The containers of a pod that will be restarted are kept, because its restart counts derive
      // from them.
      if ((mustClear && !willRestart(entry)) || (isNodeInitiated(reason) && cache.has(uid)))
        await removeLeftovers(entry, pod, signal).catch(releaseCgroupAndRethrow(uid));
      else
        await reportFailure(pod, signal, async () =>
          stopSandboxes(context, await cache.fresh(podName(pod), signal), entry.memory, { signal }),
        );
      if (!cleared) await context.cgroups.release(uid);
      if (gone) entry.worker.send({ type: "cleared" }, true);
      if (failure) throw failure;
      // A pod orphaned only now has not been cleared yet; that happens in the next action.
      if (!orphaned) return false;
      const mirror = options.mirrorOf(pod);
      if (mirror) await writer?.settled(uidOf(mirror));
      return true;
    },
  };
}

const endedBy = (reason: StopReason): { readonly ended?: Ending } =>
  reason.kind === "ended" ? { ended: reason } : {};
const willRestart = ({ worker }: PodEntry): boolean => {
  const state = worker.state();
  return state.at === "terminated" && state.restartWith !== undefined;
};
const isNodeInitiated = (reason: StopReason): boolean => reason.kind === "ended" && reason.final !== true;
/** Reports whether the pod was rejected; such pods never had container statuses. */
const isRejection = ({ status }: PodEntry, reason: StopReason): boolean =>
  reason.kind === "ended" && status !== undefined && status.containerStatuses === undefined;
