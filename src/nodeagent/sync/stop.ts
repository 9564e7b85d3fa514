// Ends containers and pods: the hook first, then a friendly word, then force, all within the grace period.
import { type Container, type Pod, isSidecar } from "#api";
import type { Clock } from "#base";
import { isNotFound } from "#cri";
import { type ObservedContainer, type ObservedPod, podIpsOf } from "../containers/observed.ts";
import { grpcErrorText } from "../errors.ts";
import type { ContainerStopReason } from "../plan/plan.ts";
import { everyContainerOf, initContainersOf, isHostNetwork, referenceTo } from "../pod.ts";
import { askedGraceOf } from "../worker/state.ts";
import type { PodMemory, SyncContext } from "./context.ts";
import type { LimitOptions } from "./limiter.ts";

export interface ContainerEnd {
  readonly container: Pick<ObservedContainer, "id" | "name" | "state"> & {
    readonly runtimeLabels?: ObservedContainer["runtimeLabels"];
  };
  /** What the hook may take; what it leaves is for the container, unless the whole pod ends. */
  readonly graceSeconds: number;
  /** What the container has after its hook, when the whole pod ends. */
  readonly podSeconds?: number | undefined;
  readonly message: string;
  /** What must end before it, as long as its time lasts; its hook does not wait. */
  readonly after?: Promise<unknown>;
}

/** Nobody who ends a single container cuts it shorter, its hook least of all. */
const leastSeconds = 2;

/** The seconds a container has that a probe or a change ends, not the whole pod. */
export function graceFor(pod: Pod, container: Container | undefined, reason: ContainerStopReason): number {
  const own =
    reason === "LivenessProbe"
      ? container?.livenessProbe?.terminationGracePeriodSeconds
      : reason === "StartupProbe"
        ? container?.startupProbe?.terminationGracePeriodSeconds
        : undefined;
  return Number(own ?? askedGraceOf(pod));
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
  const deadline = context.clock.now() + graceSeconds * 1000;
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
  const left = (): number => Math.ceil((deadline - context.clock.now()) / 1000);
  let seconds = podSeconds ?? Math.max(leastSeconds, left());
  if (after) {
    const from = context.clock.now();
    await waitAtMost(context.clock, seconds, after, signal);
    seconds = Math.max(leastSeconds, seconds - Math.floor((context.clock.now() - from) / 1000));
  }
  try {
    await context.runtime.stopContainer(container.id, seconds, signal);
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}

/** As much of a container's definition as its labels tell. */
const restored = ({ name, runtimeLabels }: ContainerEnd["container"]): Container => ({
  name,
  resources: {},
  ...(runtimeLabels?.ports && { ports: runtimeLabels.ports.map((port) => ({ ...port })) }),
});

/** Waits for a hook as long as the grace period lasts; its failure is told, and changes nothing. */
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

/** Waits until it is done or the time is over. */
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
    over.abort(new Error("nobody waits any more"));
    done.catch(() => undefined);
  }
}

/** Ends all containers, then the sandboxes, of a pod that goes on. */
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
 * Ends all containers side by side, sidecars after the others; `podSeconds` is what each has after its hook,
 * if the end of the pod has set a time.
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
  const graceSeconds = askedGraceOf(pod);
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
  for (const container of sidecars) ends.push(end(container, [...ends]));
  await allEnded(ends);
}

/** Sidecars end one by one, the last that started first, when all that they serve have ended. */
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

/** Ends what holds a pod's containers together, its network with it. Says what the pod looks like then. */
export async function stopSandboxes(
  { runtime, teardownLimit, cache }: SyncContext,
  observed: ObservedPod,
  { stopped }: PodMemory,
  passage: LimitOptions,
): Promise<ObservedPod> {
  const up = observed.sandboxes.filter(({ id, ready }) => ready || !stopped.has(id));
  if (up.length === 0) return observed;
  const stop = async (id: string): Promise<void> => {
    await runtime.stopPodSandbox(id, passage.signal);
    stopped.add(id);
  };
  await allEnded(
    up.map(({ id }) => ({
      step: "KillPodSandbox",
      name: observed.uid,
      ended: teardownLimit.run(() => stop(id), passage),
    })),
  );
  return cache.refreshParts(observed, { stopped: up }, passage.signal);
}

/**
 * Ends and removes what is left of a pod in the runtime, its sandboxes last. Nobody waits for it: pods that
 * still run down go first.
 */
export async function removePod(
  { runtime, teardownLimit }: SyncContext,
  observed: ObservedPod,
  signal: AbortSignal,
): Promise<void> {
  await teardownLimit.run(
    async () => {
      await allDone(
        observed.sandboxes.filter(({ ready }) => ready).map(({ id }) => runtime.stopPodSandbox(id, signal)),
      );
      await allDone(observed.containers.map(({ id }) => runtime.removeContainer(id, signal)));
      await allDone(observed.sandboxes.map(({ id }) => runtime.removePodSandbox(id, signal)));
    },
    { lowPriority: true, signal },
  );
}

interface End {
  readonly step: "KillContainer" | "KillPodSandbox";
  /** Of what it is the end. */
  readonly name: string;
  readonly ended: Promise<void>;
}

/** Waits for all, then throws what failed of it, in the words that clients know. */
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
  if (failures.length > 0) throw new Error(failures.length === 1 ? failures[0] : `[${failures.join(", ")}]`);
}

/** Waits for all, then throws the first error. */
async function allDone(promises: readonly Promise<void>[]): Promise<void> {
  const failed = (await Promise.allSettled(promises)).find(({ status }) => status === "rejected");
  if (failed?.status === "rejected") throw failed.reason;
}
