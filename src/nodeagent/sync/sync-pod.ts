// Reconciles one pod with its spec by executing the steps of the plan.
import { type Container, type Pod, type Secret, isSidecar } from "#api";
import { removeDeadContainer, surplusOfPod } from "../containers/dead-containers.ts";
import { type ObservedPod, podIpsOf } from "../containers/observed.ts";
import { fsErrorText, grpcErrorText } from "../errors.ts";
import { podDns } from "../plan/dns.ts";
import { type Plan, plan } from "../plan/plan.ts";
import { type Starts, retryMilliseconds, startsNow } from "../plan/starts.ts";
import { logFolderOf, sandboxConfig } from "../plan/sandbox-config.ts";
import {
  everyContainerOf,
  initContainersOf,
  isHostNetwork,
  longNameOf,
  nameOf,
  namespaceOf,
  referenceTo,
  uidOf,
} from "../pod.ts";
import type { PodMemory, SyncContext } from "./context.ts";
import { resizePod } from "../resize/resize-pod.ts";
import { startContainer } from "./start-container.ts";
import { graceFor, stopContainer, stopPod } from "./stop.ts";

export interface StartedContainer {
  readonly id: string;
  readonly sandboxId: string;
}

export interface SyncOutcome {
  /** Whether anything was changed, so that the pod should be observed again. */
  readonly acted: boolean;
  readonly started?: readonly StartedContainer[];
  /** Whether starting these containers was the only change; otherwise anything may have changed. */
  readonly simple?: boolean;
  /** When to sync again for steps that must wait. */
  readonly againMilliseconds?: number;
}

/** The pod cannot be synced at present, for example because its sandbox cannot be created. */
export class SyncError extends Error {
  override readonly name = "SyncError";
}

export async function syncPod(
  context: SyncContext,
  pod: Pod,
  observed: ObservedPod,
  memory: PodMemory,
  signal: AbortSignal,
): Promise<SyncOutcome> {
  const pruned = await prune(context, observed, signal);
  const todo = planned(context, pod, observed, memory);
  const updates =
    todo.newSandbox || todo.stopPod ? [] : (context.resize?.updates(pod, observed, memory.status) ?? []);
  if (isIdle(todo) && updates.length === 0) return { acted: false };
  const network = isHostNetwork(pod) ? undefined : context.networkError();
  if (network !== undefined) {
    context.events.event(referenceTo(pod), "Warning", "NetworkNotReady", `network is not ready: ${network}`);
    throw new SyncError(`network is not ready: ${network}`);
  }

  if (todo.newSandbox && observed.sandboxes.length > 0)
    context.events.event(
      referenceTo(pod),
      "Normal",
      "SandboxChanged",
      "Pod sandbox changed, it will be killed and re-created.",
    );
  if (todo.stopPod) {
    await stopPod(context, pod, observed, memory, signal);
    if (todo.newSandbox) await removeInitContainers(context, pod, observed, signal);
    if (!todo.newSandbox) return { acted: true };
  } else {
    for (const { container, reason, message } of todo.stop) {
      const definition = everyContainerOf(pod).find(({ name }) => name === container.name);
      await stopContainer(
        context,
        pod,
        podIpsOf(observed),
        { container, graceSeconds: graceFor(pod, definition, reason), message },
        memory,
        signal,
      );
    }
  }
  const restarted = todo.stop.some(({ reason }) => reason === "Resized");
  if (updates.length > 0 || restarted) await resizePod(context, pod, updates, { whole: restarted }, signal);
  // A container that keeps running is not observed again otherwise.
  if (updates.length > 0) {
    const containers = updates.map(({ id }) => ({ id, sandboxId: todo.sandboxId ?? "" }));
    await context.cache.refreshParts(nameParts(pod), { containers }, signal);
  }
  const wanted = wantedOf(todo);
  if (!todo.newSandbox && wanted.length === 0) return { acted: true };

  // Backoff is decided from the exits observed before: a container stopped just now restarts at once, unless
  // its predecessor failed, too.
  const starts = startsNow(pod, observed, wanted, {
    backOff: context.restarts,
    errors: memory.startErrors,
    now: context.clock.now(),
  });
  recordStarts(context, pod, starts, memory);
  const { due, againMilliseconds } = starts;
  if (!todo.newSandbox && due.length === 0)
    return {
      acted: todo.stop.length + updates.length > 0,
      ...(againMilliseconds !== undefined && { againMilliseconds }),
    };

  // The attempt number of a container stopped just now derives from its exit as reported by the runtime.
  const seen = todo.stop.length > 0 ? await context.cache.refresh(nameParts(pod), signal) : observed;
  context.objects.watch(pod);
  const cgroupParent = await context.cgroups.ensure(pod).catch((error: Error) => {
    context.events.event(
      referenceTo(pod),
      "Warning",
      "FailedCreatePodContainer",
      `unable to ensure pod container exists: ${error.message}`,
    );
    throw error;
  });
  await context.files.prepare(uidOf(pod)).catch((error: Error) => {
    const message = `error making pod data directories: ${fsErrorText(error)}`;
    context.events.event(referenceTo(pod), "Warning", "Failed", message);
    throw error;
  });
  const volumes = await context.volumes.mount(pod, signal);
  const secrets = await pullSecrets(context, pod);
  const dns = generated(context, pod, () =>
    podDns(pod, {
      ...context.settings,
      agent: context.dialect.cli.agent,
      host: context.settings.hostDns(),
    }),
  );
  if (todo.newSandbox)
    for (const { reason, message, nodeMessage } of dns.warnings) {
      const node = { kind: "Node", name: context.node.name, uid: context.node.name };
      if (nodeMessage !== undefined) context.events.event(node, "Warning", reason, nodeMessage);
      context.events.event(referenceTo(pod), "Warning", reason, message);
    }
  const users = await context.users?.of(pod).catch((error: unknown) => {
    throw sandboxError(context, pod, error);
  });
  const attempt = todo.newSandbox?.attempt ?? observed.sandboxes[0]?.attempt ?? 0;
  const sandbox = generated(context, pod, () =>
    sandboxConfig(pod, {
      dialect: context.dialect,
      owner: context.settings.owner,
      attempt,
      clusterDomain: context.settings.clusterDomain,
      dns: dns.config,
      cgroupParent,
      cpu: context.settings.cpu,
      logFolder: context.settings.logFolder,
      users,
      volumeGroups: [...volumes.values()].flatMap(({ group }) => (group ? [group] : [])),
    }),
  );

  let sandboxId = todo.sandboxId ?? "";
  let podIps = podIpsOf(observed);
  if (todo.newSandbox) {
    ({ sandboxId, podIps } = await newSandbox(context, pod, sandbox, signal));
  }
  const outcome = await startAll(
    context,
    pod,
    due,
    { observed: seen, sandboxId, sandbox, podIps, volumes, secrets },
    memory,
    signal,
    todo.startInit,
  );
  const waits = [againMilliseconds, outcome.againMilliseconds].filter((wait) => wait !== undefined);
  const isSimple =
    !pruned &&
    !todo.stopPod &&
    todo.stop.length + updates.length === 0 &&
    outcome.started.length === due.length;
  return {
    acted: true,
    started: outcome.started,
    simple: isSimple,
    ...(waits.length > 0 && { againMilliseconds: Math.min(...waits) }),
  };
}

/**
 * Reports whether the pod, as observed after an action, has containers to start that are not held back by an
 * error.
 */
export function hasStartable(
  context: SyncContext,
  pod: Pod,
  observed: ObservedPod,
  { started }: SyncOutcome,
  memory: PodMemory,
): boolean {
  if (!started?.every(({ id }) => observed.containers.some((container) => container.id === id))) return false;
  const todo = planned(context, pod, observed, memory);
  return !todo.newSandbox && wantedOf(todo).some(({ name }) => !memory.startErrors.has(name));
}

const planned = ({ probes, resize }: SyncContext, pod: Pod, observed: ObservedPod, memory: PodMemory): Plan =>
  plan(pod, observed, probes, resize?.resizing(pod, memory.status));

const wantedOf = ({ startEphemeral, startInit, start }: Plan): Container[] => [
  ...startEphemeral,
  ...startInit,
  ...start,
];

const isIdle = ({
  stopPod: stopping,
  newSandbox: making,
  stop,
  startInit,
  start,
  startEphemeral,
}: Plan): boolean =>
  !stopping &&
  !making &&
  stop.length === 0 &&
  startInit.length === 0 &&
  start.length === 0 &&
  startEphemeral.length === 0;

const nameParts = (pod: Pod) => ({ uid: uidOf(pod), name: nameOf(pod), namespace: namespaceOf(pod) });

async function newSandbox(
  context: SyncContext,
  pod: Pod,
  config: Parameters<SyncContext["runtime"]["runPodSandbox"]>[0],
  signal: AbortSignal,
): Promise<{ readonly sandboxId: string; readonly podIps: readonly string[] }> {
  let sandboxId: string;
  try {
    await context.files.prepareLogs(logFolderOf(pod, context.settings.logFolder));
    const handler = pod.spec.runtimeClassName ? await context.runtimeHandler(pod.spec.runtimeClassName) : "";
    sandboxId = await context.createLimit.run(() => context.runtime.runPodSandbox(config, handler, signal), {
      signal,
    });
  } catch (error) {
    signal.throwIfAborted();
    throw sandboxError(context, pod, error);
  }
  const parts = { sandboxes: [{ id: sandboxId }] };
  const observed = await context.cache
    .refreshParts(nameParts(pod), parts, signal)
    .catch((error: unknown): never => {
      signal.throwIfAborted();
      const message = `Unable to get pod sandbox status: ${grpcErrorText(error)}`;
      context.events.event(referenceTo(pod), "Warning", "FailedPodSandBoxStatus", message);
      throw new SyncError(message);
    });
  return { sandboxId, podIps: isHostNetwork(pod) ? context.node.hostIps() : podIpsOf(observed) };
}

function sandboxError({ events }: SyncContext, pod: Pod, error: unknown): SyncError {
  const message = `Failed to create pod sandbox: ${grpcErrorText(error)}`;
  events.event(referenceTo(pod), "Warning", "FailedCreatePodSandBox", message);
  return new SyncError(message);
}

/** Generates a config; a failure is reported as a sandbox error. */
function generated<T>(context: SyncContext, pod: Pod, describe: () => T): T {
  try {
    return describe();
  } catch (error) {
    throw sandboxError(context, pod, error);
  }
}

/** Reports containers in backoff, and records the exits of those that start. */
function recordStarts(
  context: SyncContext,
  pod: Pod,
  { waiting, restarts }: Starts,
  { startErrors }: PodMemory,
): void {
  for (const { container, message, event } of waiting) {
    context.events.event(referenceTo(pod, container.name), "Warning", "BackOff", event);
    startErrors.set(container.name, { reason: "CrashLoopBackOff", message });
  }
  for (const { key, endedAt } of restarts) context.restarts.record(key, endedAt);
}

async function startAll(
  context: SyncContext,
  pod: Pod,
  due: readonly Container[],
  facts: Parameters<typeof startContainer>[3],
  memory: PodMemory,
  signal: AbortSignal,
  inits: readonly Container[],
): Promise<Pick<SyncOutcome, "againMilliseconds"> & { readonly started: readonly StartedContainer[] }> {
  const started: StartedContainer[] = [];
  let again: number | undefined;
  let hasFailed = false;
  for (const container of due) {
    const outcome = await startContainer(context, pod, container, facts, memory, signal);
    if (outcome.started) {
      memory.startErrors.delete(container.name);
      started.push({ id: outcome.containerId, sandboxId: facts.sandboxId });
      continue;
    }
    memory.startErrors.set(container.name, { reason: outcome.reason, message: outcome.message });
    if (outcome.againMilliseconds !== undefined)
      again = Math.min(again ?? Infinity, outcome.againMilliseconds);
    else hasFailed = true;
    if (inits.includes(container) && !isSidecar(container)) break;
  }
  // Failures without a separate backoff are retried at the ordinary interval.
  if (hasFailed) again = Math.min(again ?? Infinity, retryMilliseconds);
  return { started, ...(again !== undefined && { againMilliseconds: again }) };
}

/**
 * Removes surplus dead containers: of each name only the last few are kept, for their exit status and logs.
 * Broken sandboxes are removed with the last of their containers. Failures are logged and do not stop the
 * sync. Reports whether anything was removed.
 */
async function prune(
  { runtime, files, clock, log, settings: { dead } }: SyncContext,
  observed: ObservedPod,
  signal: AbortSignal,
): Promise<boolean> {
  const surplus = surplusOfPod(observed, dead, clock.now());
  const kept = new Set(
    observed.containers.filter((container) => !surplus.includes(container)).map(({ sandboxId }) => sandboxId),
  );
  const broken = observed.sandboxes.slice(1).filter(({ id, ready }) => !ready && !kept.has(id));
  try {
    for (const container of surplus) await removeDeadContainer({ runtime, files }, container, signal);
    for (const { id } of broken) await runtime.removePodSandbox(id, signal);
  } catch (error) {
    signal.throwIfAborted();
    log.verbose(2, "failed to remove dead containers", {
      pod: `${observed.namespace}/${observed.name}`,
      error: (error as Error).message,
    });
  }
  return surplus.length > 0 || broken.length > 0;
}

/** Removes the init containers, so that they run again in a new sandbox regardless of earlier results. */
async function removeInitContainers(
  context: SyncContext,
  pod: Pod,
  observed: ObservedPod,
  signal: AbortSignal,
): Promise<void> {
  const names = new Set(initContainersOf(pod).map(({ name }) => name));
  for (const { id, name } of observed.containers)
    if (names.has(name)) await context.runtime.removeContainer(id, signal);
}

async function pullSecrets(context: SyncContext, pod: Pod): Promise<Secret[]> {
  const found: Secret[] = [];
  for (const { name } of pod.spec.imagePullSecrets ?? []) {
    if (!name) continue;
    let why = "it does not exist";
    try {
      const secret = await context.objects.secret(namespaceOf(pod), name);
      if (secret) {
        found.push(secret);
        continue;
      }
    } catch (error) {
      why = (error as Error).message;
    }
    context.log.warn("unable to retrieve pull secret, the image pull may not succeed", {
      pod: longNameOf(pod),
      secret: name,
      error: why,
    });
  }
  return found;
}
