// What the runtime holds, kept current: two lists a second, and a closer look only at what changed since. Our own actions look
// at once, so that nobody waits for the next round.
import type { Clock, Log } from "#base";
import { type Container, type ContainerRuntime, type PodSandbox, containerState } from "#cri";
import type { Dialect } from "#dialect";
import { readMarks, markNames } from "./marks.ts";
import { type ObservedContainer, type ObservedPod, type ObservedSandbox, nothingObserved, observedContainer, observedSandbox } from "./observed.ts";
import { terminationMessage } from "./termination-message.ts";

export interface PodName {
  readonly uid: string;
  readonly name: string;
  readonly namespace: string;
}

export interface RuntimeView {
  /** What was last seen of a pod. */
  get(uid: string): ObservedPod | undefined;
  /** All pods seen. */
  pods(): IterableIterator<ObservedPod>;
  /** Looks at one pod now. */
  observe(pod: PodName, signal?: AbortSignal): Promise<ObservedPod>;
  /** Looks at all pods now; those that changed are told. */
  relist(): Promise<void>;
  /** Follows the runtime until the signal is aborted. */
  follow(signal: AbortSignal): Promise<void>;
  lastRelistAt(): number;
}

export interface RuntimeViewOptions {
  readonly runtime: ContainerRuntime;
  readonly clock: Clock;
  readonly log: Log;
  readonly dialect: Dialect;
  readonly onChange: (observed: ObservedPod) => void;
  readonly periodMilliseconds?: number;
  /** How a container's last words are read. */
  readonly lastWords?: typeof terminationMessage;
}

interface Held {
  observed: ObservedPod;
  signature: string;
  /** When looking began, in looks; an older look never replaces a newer one. */
  look: number;
}

interface Lists {
  readonly sandboxes: readonly PodSandbox[];
  readonly containers: readonly Container[];
}

export function runtimeView({ runtime, clock, log, dialect, onChange, periodMilliseconds = 1000, lastWords = terminationMessage }: RuntimeViewOptions): RuntimeView {
  const names = markNames(dialect);
  const held = new Map<string, Held>();
  const containers = new Map<string, { readonly state: number; readonly observed: ObservedContainer }>();
  const sandboxes = new Map<string, { readonly state: number; readonly observed: ObservedSandbox }>();
  let looks = 0;
  let relistedAt = clock.now();
  let failing = false;

  async function containerOf(listed: Container, signal?: AbortSignal): Promise<ObservedContainer | undefined> {
    const known = containers.get(listed.id);
    if (known?.state === listed.state) return known.observed;
    const status = await gone(runtime.containerStatus(listed.id, false, signal));
    if (!status) return undefined;
    const said = status.status.state !== containerState.exited ? "" : await lastWords(status.status, readMarks(status.status.annotations, dialect));
    const observed = observedContainer(status.status, listed.podSandboxId, said, dialect);
    containers.set(listed.id, { state: status.status.state, observed });
    return observed;
  }
  async function sandboxOf(listed: PodSandbox, signal?: AbortSignal): Promise<ObservedSandbox | undefined> {
    const known = sandboxes.get(listed.id);
    if (known?.state === listed.state) return known.observed;
    const report = await gone(runtime.podSandboxStatus(listed.id, false, signal));
    if (!report) return undefined;
    const observed = observedSandbox(report.status);
    sandboxes.set(listed.id, { state: report.status.state, observed });
    return observed;
  }

  /** Looks closer at a pod's lists and keeps what is found, unless a later look was faster. */
  async function keep(pod: PodName, lists: Lists, look: number, signal?: AbortSignal): Promise<ObservedPod> {
    const found: ObservedPod = {
      ...pod,
      sandboxes: newestFirst(await Promise.all(lists.sandboxes.map((listed) => sandboxOf(listed, signal)))),
      containers: newestFirst(await Promise.all(lists.containers.map((listed) => containerOf(listed, signal)))),
    };
    const before = held.get(pod.uid);
    if (before && before.look > look) return before.observed;
    forgetDetails(before?.observed, found);
    if (lists.sandboxes.length === 0 && lists.containers.length === 0) held.delete(pod.uid);
    else held.set(pod.uid, { observed: found, signature: signatureOf(lists), look });
    return found;
  }
  function forgetDetails(before: ObservedPod | undefined, now: ObservedPod): void {
    for (const { id } of before?.containers ?? []) if (!now.containers.some((container) => container.id === id)) containers.delete(id);
    for (const { id } of before?.sandboxes ?? []) if (!now.sandboxes.some((sandbox) => sandbox.id === id)) sandboxes.delete(id);
  }

  async function observe(pod: PodName, signal?: AbortSignal): Promise<ObservedPod> {
    const look = ++looks;
    const labelSelector = { [names.podUid]: pod.uid };
    const [ofSandboxes, ofContainers] = await Promise.all([runtime.listPodSandboxes({ labelSelector }, signal), runtime.listContainers({ labelSelector }, signal)]);
    return keep({ uid: pod.uid, name: pod.name, namespace: pod.namespace }, { sandboxes: ofSandboxes, containers: ofContainers }, look, signal);
  }

  async function relist(): Promise<void> {
    const look = ++looks;
    const [ofSandboxes, ofContainers] = await Promise.all([runtime.listPodSandboxes(), runtime.listContainers()]);
    const groups = new Map<string, { readonly pod: PodName; readonly sandboxes: PodSandbox[]; readonly containers: Container[] }>();
    const groupOf = (labels: Readonly<Record<string, string>>) => {
      const uid = labels[names.podUid];
      // Whatever does not carry our marks is not ours to touch.
      if (uid === undefined) return undefined;
      let group = groups.get(uid);
      if (!group) groups.set(uid, (group = { pod: { uid, name: labels[names.podName] ?? "", namespace: labels[names.podNamespace] ?? "" }, sandboxes: [], containers: [] }));
      return group;
    };
    for (const sandbox of ofSandboxes) groupOf(sandbox.labels)?.sandboxes.push(sandbox);
    for (const container of ofContainers) groupOf(container.labels)?.containers.push(container);
    for (const group of groups.values()) {
      const before = held.get(group.pod.uid);
      if (before && (before.look > look || before.signature === signatureOf(group))) continue;
      onChange(await keep(group.pod, group, look));
    }
    for (const [uid, { observed, look: lookedAt }] of held) {
      if (groups.has(uid) || lookedAt > look) continue;
      held.delete(uid);
      forgetDetails(observed, nothingObserved(observed));
      onChange(nothingObserved(observed));
    }
    relistedAt = clock.now();
  }

  async function follow(signal: AbortSignal): Promise<void> {
    const events = followEvents(signal);
    while (!signal.aborted) {
      try {
        await relist();
        if (failing) log.info("the container runtime answers again");
        failing = false;
      } catch (error) {
        if (!failing) log.error("the container runtime does not answer", { error: (error as Error).message });
        failing = true;
      }
      await clock.sleep(periodMilliseconds, signal).catch(() => undefined);
    }
    await events;
  }

  /** Where the runtime tells what happens, that pod is looked at at once; the lists remain, for what was missed. */
  async function followEvents(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        for await (const event of runtime.containerEvents(signal)) {
          const labels = event.podSandboxStatus?.labels ?? {};
          const uid = labels[names.podUid];
          if (uid === undefined) continue;
          onChange(await observe({ uid, name: labels[names.podName] ?? "", namespace: labels[names.podNamespace] ?? "" }, signal));
        }
      } catch (error) {
        if ((error as { code?: unknown }).code === "UNIMPLEMENTED") return;
      }
      await clock.sleep(5 * periodMilliseconds, signal).catch(() => undefined);
    }
  }

  return {
    get: (uid) => held.get(uid)?.observed,
    pods: () => [...held.values()].map(({ observed }) => observed).values(),
    observe,
    relist,
    follow,
    lastRelistAt: () => relistedAt,
  };
}

/** What was there when listed may be gone when looked at. */
async function gone<T>(asked: Promise<T>): Promise<T | undefined> {
  try {
    return await asked;
  } catch (error) {
    if ((error as { code?: unknown }).code === "NOT_FOUND") return undefined;
    throw error;
  }
}

const newestFirst = <T extends { readonly createdAt: number }>(items: readonly (T | undefined)[]): T[] =>
  items.filter((item) => item !== undefined).toSorted((a, b) => b.createdAt - a.createdAt);

const signatureOf = ({ sandboxes, containers }: Lists): string =>
  [...sandboxes.map(({ id, state }) => `s${id}${state}`), ...containers.map(({ id, state }) => `c${id}${state}`)].toSorted().join();
