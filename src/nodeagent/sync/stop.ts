// Stops containers and pods: preStop hook, then SIGTERM, then SIGKILL, all within the grace period.
import { type Container, type Pod, isSidecar } from "#api";
import type { Clock } from "#base";
import { isNotFound } from "#cri";
import { type ObservedContainer, type ObservedPod, podIpsOf } from "../containers/observed.ts";
import { grpcErrorText } from "../errors.ts";
import type { ContainerStopReason } from "../plan/plan.ts";
import { everyContainerOf, initContainersOf, isHostNetwork, referenceTo } from "../pod.ts";
import { requestedGraceOf } from "../worker/state.ts";
import type { PodMemory, SyncContext } from "./context.ts";
import type { LimitOptions } from "./limiter.ts";

export interface ContainerEnd {
  readonly container: Pick<ObservedContainer, "id" | "name" | "state"> & {
    readonly runtimeLabels?: ObservedContainer["runtimeLabels"];
  };
  /** The time for the hook; what it leaves is for the container, unless the whole pod is stopped. */
  readonly graceSeconds: number;
  /** The stop timeout after the hook, when the whole pod is stopped. */
  readonly podSeconds?: number | undefined;
  readonly message: string;
  /** What must end first, for at most the grace period; the hook does not wait for it. */
  readonly after?: Promise<unknown>;
}

/** Minimum stop timeout of a single container, even if its hook used up the grace period. */
const minSeconds = 2;

/** Returns the grace period of a container stopped because of a probe or a change, not with the whole pod. */
export function graceFor(pod: Pod, container: Container | undefined, reason: ContainerStopReason): number {
  const own =
    reason === "LivenessProbe"
      ? container?.livenessProbe?.terminationGracePeriodSeconds
      : reason === "StartupProbe"
        ? container?.startupProbe?.terminationGracePeriodSeconds
        : undefined;
  return Number(own ?? requestedGraceOf(pod));
}

export async function stopContainer(
  context: SyncContext,
  pod: Pod,
  podIps: readonly string[],
  { container, graceSeconds, podSeconds, message, after }: ContainerEnd,
  memory: PodMemory,
  signal: AbortSignal,
): Promise<void> {
  const definition = everyContainerOf(pod).find(({ name }) => name === container.name);
  const deadline = context.clock.monotonic() + graceSeconds * 1000;
  const preStop = definition?.lifecycle?.preStop ?? container.runtimeLabels?.preStop;
  if (!memory.preStopDone.has(container.id)) {
    context.events.event(
      referenceTo(pod, container.name),
      "Normal",
      "Killing",
      message || `Stopping container ${container.name}`,
    );
    if (preStop && graceSeconds > 0 && container.state === "running") {
      memory.preStopDone.add(container.id);
      const podIp = (isHostNetwork(pod) ? context.node.hostIps() : podIps)[0] ?? "";
      const hook = context.hooks.run(
        preStop,
        { pod, container: definition ?? restored(container), containerId: container.id, podIp },
        signal,
      );
      await withinGrace(context, pod, container.name, hook, graceSeconds, signal);
    }
    memory.preStopDone.add(container.id);
  }
  const left = (): number => Math.ceil((deadline - context.clock.monotonic()) / 1000);
  let seconds = podSeconds ?? Math.max(minSeconds, left());
  if (after) {
    const from = context.clock.monotonic();
    await waitAtMost(context.clock, seconds, after, signal);
    seconds = Math.max(minSeconds, seconds - Math.floor((context.clock.monotonic() - from) / 1000));
  }
  try {
    await context.runtime.stopContainer(container.id, seconds, signal);
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}

/** Restores the part of a container's spec that its labels carry. */
const restored = ({ name, runtimeLabels }: ContainerEnd["container"]): Container => ({
  name,
  resources: {},
  ...(runtimeLabels?.ports && { ports: runtimeLabels.ports.map((port) => ({ ...port })) }),
});

/** Waits for a hook during the grace period; a failure is reported as an event and otherwise ignored. */
function withinGrace(
  context: SyncContext,
  pod: Pod,
  name: string,
  hook: Promise<void>,
  graceSeconds: number,
  signal: AbortSignal,
): Promise<void> {
  const failed = hook.then(
    () => undefined,
    (error: unknown) => {
      signal.throwIfAborted();
      context.log.verbose(2, "preStop hook failed", { container: name, error: (error as Error).message });
      context.events.event(referenceTo(pod, name), "Warning", "FailedPreStopHook", "PreStopHook failed");
    },
  );
  return waitAtMost(context.clock, graceSeconds, failed, signal);
}

/** Waits until the promise settles or the time has passed. */
async function waitAtMost(
  clock: Clock,
  seconds: number,
  done: Promise<unknown>,
  signal: AbortSignal,
): Promise<void> {
  const over = new AbortController();
  try {
    await Promise.race([done, clock.sleep(seconds * 1000, AbortSignal.any([signal, over.signal]))]);
  } finally {
    over.abort(new Error("the wait is over"));
    done.catch(() => undefined);
  }
}

/** Stops all containers, then the sandboxes, of a pod that will be restarted or has completed. */
export async function stopPod(
  context: SyncContext,
  pod: Pod,
  observed: ObservedPod,
  memory: PodMemory,
  signal: AbortSignal,
): Promise<void> {
  await stopContainers(context, pod, observed, undefined, memory, signal);
  await stopSandboxes(context, observed, memory, { signal });
}

/**
 * Stops all containers concurrently, sidecars after the others; `podSeconds` is each container's stop timeout
 * after its hook, if the pod's termination has set a grace period.
 */
export async function stopContainers(
  context: SyncContext,
  pod: Pod,
  observed: ObservedPod,
  podSeconds: number | undefined,
  memory: PodMemory,
  signal: AbortSignal,
): Promise<void> {
  const running = observed.containers.filter(
    ({ state }) => state === "running" || state === "unknown" || state === "created",
  );
  const graceSeconds = requestedGraceOf(pod);
  const end = (container: ObservedContainer, before: readonly End[]): End => {
    const after = before.length > 0 && Promise.allSettled(before.map(({ ended }) => ended));
    const ended = stopContainer(
      context,
      pod,
      podIpsOf(observed),
      { container, graceSeconds, podSeconds, message: "", ...(after && { after }) },
      memory,
      signal,
    );
    return { step: "KillContainer", name: container.name, ended };
  };
  const { sidecars, others } = inTerminationOrder(pod, running);
  const ends = others.map((container) => end(container, []));
  const isRegular = ({ name }: End): boolean =>
    pod.spec.containers?.some((each) => each.name === name) ?? false;
  const before = ends.filter(isRegular);
  for (const container of sidecars) before.push(end(container, [...before]));
  await allEnded([...new Set([...ends, ...before])]);
}

/**
 * Sidecars are stopped one by one in reverse start order, once the regular containers have ended; they do not
 * wait for init and ephemeral containers.
 */
function inTerminationOrder(
  pod: Pod,
  containers: readonly ObservedContainer[],
): { readonly sidecars: readonly ObservedContainer[]; readonly others: readonly ObservedContainer[] } {
  const order = initContainersOf(pod)
    .filter(isSidecar)
    .map(({ name }) => name);
  const placeOf = ({ name }: ObservedContainer): number => order.indexOf(name);
  return {
    sidecars: containers.filter((each) => placeOf(each) >= 0).toSorted((a, b) => placeOf(b) - placeOf(a)),
    others: containers.filter((each) => placeOf(each) < 0),
  };
}

/** Stops a pod's sandboxes, including their network. Resolves with the observed pod afterwards. */
export async function stopSandboxes(
  { runtime, teardownLimit, cache }: SyncContext,
  observed: ObservedPod,
  { stopped }: PodMemory,
  limitOptions: LimitOptions,
): Promise<ObservedPod> {
  const up = observed.sandboxes.filter(({ id, ready }) => ready || !stopped.has(id));
  if (up.length === 0) return observed;
  const stop = async (id: string): Promise<void> => {
    await runtime.stopPodSandbox(id, limitOptions.signal);
    stopped.add(id);
  };
  await allEnded(
    up.map(({ id }) => ({
      step: "KillPodSandbox",
      name: observed.uid,
      ended: teardownLimit.run(() => stop(id), limitOptions),
    })),
  );
  return cache.refreshParts(observed, { stopped: up }, limitOptions.signal);
}

/**
 * Stops and removes what is left of a pod in the runtime, its sandboxes last. Runs at low priority: pods that
 * are still terminating come first.
 */
export async function removePod(
  { runtime, teardownLimit }: SyncContext,
  observed: ObservedPod,
  signal: AbortSignal,
): Promise<void> {
  await teardownLimit.run(
    async () => {
      await allEnded(
        observed.sandboxes
          .filter(({ ready }) => ready)
          .map(({ id }) => ({
            step: "KillPodSandbox",
            name: observed.uid,
            ended: runtime.stopPodSandbox(id, signal),
          })),
      );
      await allDone(observed.containers.map(({ id }) => runtime.removeContainer(id, signal)));
      await allDone(observed.sandboxes.map(({ id }) => runtime.removePodSandbox(id, signal)));
    },
    { lowPriority: true, signal },
  );
}

/** Containers or sandboxes could not be stopped. */
export class KillError extends Error {
  override readonly name = "KillError";
}

interface End {
  readonly step: "KillContainer" | "KillPodSandbox";
  /** The name of the container or the uid of the pod. */
  readonly name: string;
  readonly ended: Promise<void>;
}

/** Waits for all, then throws the failures, worded as in the kubelet. */
async function allEnded(ends: readonly End[]): Promise<void> {
  const results = await Promise.allSettled(ends.map(({ ended }) => ended));
  const failures = results.flatMap((result, position) => {
    const { step, name } = ends[position]!;
    return result.status === "rejected"
      ? [
          `failed to "${step}" for ${JSON.stringify(name)} with ${step}Error: ${JSON.stringify(grpcErrorText(result.reason))}`,
        ]
      : [];
  });
  if (failures.length > 0)
    throw new KillError(failures.length === 1 ? failures[0] : `[${failures.join(", ")}]`);
}

/** Waits for all, then throws the first error. */
async function allDone(promises: readonly Promise<void>[]): Promise<void> {
  const failed = (await Promise.allSettled(promises)).find(({ status }) => status === "rejected");
  if (failed?.status === "rejected") throw failed.reason;
}
