// Mirror pods: objects in the API server that represent static pods, so that users can see them. They are
// created and deleted to match.
import { Node as NodeKind, Pod as PodKind, type Pod } from "#api";
import { ApiError, type Clock, type Log } from "#base";
import type { ApiClient, ResourceClient } from "#client";
import { isStatic, keyOf, nameOf, namespaceOf, uidOf } from "../pod.ts";

export interface Mirrors {
  /** Records a mirror pod seen in the API server, or its deletion. */
  seen(pod: Pod, gone: boolean): void;
  count(): number;
  /** Returns the mirror pod of a static pod. */
  of(pod: Pod): Pod | undefined;
  /** Reconciles the mirror pods soon. */
  wake(): void;
  /** Reconciles until the signal is aborted. */
  follow(signal: AbortSignal): Promise<void>;
}

export interface MirrorsOptions {
  readonly client: ApiClient;
  readonly clock: Clock;
  readonly log: Log;
  readonly nodeName: string;
  /** Returns the static pods that should run here. */
  readonly pods: () => readonly Pod[];
  /** Reports whether all sources have synced. */
  readonly ready: () => boolean;
  readonly onMirror: (pod: Pod) => void;
}

const periodMilliseconds = 10_000;

export function mirrors({ client, clock, log, nodeName, pods, ready, onMirror }: MirrorsOptions): Mirrors {
  const { dialect } = client;
  const { configMirror, configHash, configSource } = dialect.names.annotations;
  const objects = client.of({
    schema: PodKind,
    plural: "pods",
    namespaced: true,
  }) as unknown as ResourceClient<Pod>;
  const held = new Map<string, Pod>();
  let wake = (): void => undefined;

  async function round(): Promise<void> {
    if (!ready()) return;
    // The old pod of an edited static pod comes first: its mirror stays until it has ended.
    const wanted = new Map<string, Pod>();
    for (const pod of pods())
      if (isStatic(pod, dialect) && !wanted.has(keyOf(pod))) wanted.set(keyOf(pod), pod);
    for (const [key, mirror] of held) {
      const pod = wanted.get(key);
      const fits =
        pod &&
        mirror.metadata.annotations?.[configMirror] === hashOf(pod) &&
        !mirror.metadata.deletionTimestamp;
      if (!fits)
        await attempt(
          () =>
            objects.delete(nameOf(mirror), {
              namespace: namespaceOf(mirror),
              graceSeconds: 0,
              uid: uidOf(mirror),
            }),
          key,
        );
    }
    for (const [key, pod] of wanted) {
      if (held.has(key)) continue;
      await attempt(async () => {
        const made = await objects.create(await mirrorFor(pod));
        seen(made, false);
      }, key);
    }
  }
  async function attempt(what: () => Promise<void>, key: string): Promise<void> {
    try {
      await what();
    } catch (error) {
      if (error instanceof ApiError && (error.code === 404 || error.code === 409)) return;
      log.warn("failed to update mirror pod", { pod: key, error: (error as Error).message });
    }
  }

  const hashOf = (pod: Pod): string => pod.metadata.annotations?.[configHash] ?? uidOf(pod);

  async function mirrorFor(pod: Pod): Promise<Pod> {
    const { uid: _, creationTimestamp: __, ...metadata } = pod.metadata;
    const node = await client
      .of({ schema: NodeKind, plural: "nodes", namespaced: false })
      .get(nodeName)
      .catch(() => undefined);
    return {
      ...pod,
      metadata: {
        ...metadata,
        creationTimestamp: null,
        annotations: {
          ...metadata.annotations,
          [configMirror]: hashOf(pod),
          [configHash]: hashOf(pod),
          [configSource]: pod.metadata.annotations?.[configSource] ?? "file",
        },
        ...(node?.metadata.uid && {
          ownerReferences: [
            { apiVersion: "v1", kind: "Node", name: nodeName, uid: node.metadata.uid, controller: true },
          ],
        }),
      },
      status: {},
    };
  }

  const seen = (pod: Pod, gone: boolean): void => {
    if (gone) {
      if (uidOf(held.get(keyOf(pod)) ?? pod) === uidOf(pod)) held.delete(keyOf(pod));
      wake();
      return;
    }
    const isNew = !held.has(keyOf(pod));
    held.set(keyOf(pod), pod);
    if (isNew) onMirror(pod);
    if (pod.metadata.deletionTimestamp) wake();
  };
  return {
    seen,
    count: () => held.size,
    of: (pod) => {
      const mirror = held.get(keyOf(pod));
      return mirror && mirror.metadata.annotations?.[configMirror] === hashOf(pod) ? mirror : undefined;
    },
    wake: () => wake(),
    follow: async (signal) => {
      while (!signal.aborted) {
        const woken = new Promise<void>((resolve) => (wake = resolve));
        await round();
        await Promise.race([woken, clock.sleep(periodMilliseconds, signal)]).catch(() => undefined);
      }
    },
  };
}
