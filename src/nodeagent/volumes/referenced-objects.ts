// Config maps and secrets referenced by pods of this node: requested each time, cached, or watched, as
// configured.
import { ConfigMap, type Pod, Secret } from "#api";
import { ApiError, type Clock, type Log } from "#base";
import { type AnyObject, type ApiClient, type Informer, type ResourceKind, informer } from "#client";
import { everyContainerOf, namespaceOf, uidOf } from "../pod.ts";
import type { ReferencedObjects } from "../interfaces.ts";

export interface ReferencedObjectsOptions {
  readonly client: ApiClient | undefined;
  readonly clock: Clock;
  readonly log: Log;
  readonly strategy: "Get" | "Cache" | "Watch";
  /** How long an object is cached, for the strategy Cache. */
  readonly keepMilliseconds?: number;
  /** Called with the affected pods when a referenced object changed; only for the strategy Watch. */
  readonly onChange?: (podUids: readonly string[]) => void;
}

type Sort = "configmaps" | "secrets";
type Held = (ConfigMap | Secret) & AnyObject;

interface Followed {
  readonly pods: Set<string>;
  readonly stop: AbortController;
  readonly informer: Informer<Held>;
  isSynced: boolean;
}

const kinds: Readonly<Record<Sort, ResourceKind>> = {
  configmaps: { schema: ConfigMap, plural: "configmaps", namespaced: true },
  secrets: { schema: Secret, plural: "secrets", namespaced: true },
};
const defaultKeepMilliseconds = 60_000;
const syncPatienceMilliseconds = 1000;

export function referencedObjects(options: ReferencedObjectsOptions): ReferencedObjects & { close(): void } {
  const { client, clock, log, strategy } = options;
  const followed = new Map<string, Followed>();
  const kept = new Map<string, { readonly at: number; readonly object: Held | undefined }>();
  const byPod = new Map<string, readonly string[]>();
  const keyOf = (sort: Sort, namespace: string, name: string): string => `${sort}/${namespace}/${name}`;
  return {
    configMap: async (namespace, name) => (await get("configmaps", namespace, name)) as ConfigMap | undefined,
    secret: async (namespace, name) => (await get("secrets", namespace, name)) as Secret | undefined,
    watch: (pod) => {
      if (!client || strategy === "Get") return;
      const uid = uidOf(pod);
      const wanted = referencesOf(pod).map(([sort, name]) => keyOf(sort, namespaceOf(pod), name));
      const before = byPod.get(uid) ?? [];
      byPod.set(uid, wanted);
      if (strategy === "Watch") for (const key of wanted) follow(key, client).pods.add(uid);
      else if (before.length === 0) for (const key of wanted) kept.delete(key);
      leave(
        uid,
        before.filter((key) => !wanted.includes(key)),
      );
    },
    forget: (uid) => {
      leave(uid, byPod.get(uid) ?? []);
      byPod.delete(uid);
    },
    close: () => {
      for (const { stop } of followed.values()) stop.abort();
      followed.clear();
    },
  };

  async function get(sort: Sort, namespace: string, name: string): Promise<Held | undefined> {
    if (!client) throw new Error(`${sort} require an API server`);
    const key = keyOf(sort, namespace, name);
    const watched = followed.get(key);
    if (watched) {
      if (!watched.isSynced)
        await Promise.race([watched.informer.synced, clock.sleep(syncPatienceMilliseconds)]);
      if (watched.isSynced) return watched.informer.get(namespace, name);
    }
    const last = strategy === "Cache" ? kept.get(key) : undefined;
    if (last && clock.monotonic() - last.at < (options.keepMilliseconds ?? defaultKeepMilliseconds))
      return last.object;
    const object = await client
      .of(kinds[sort])
      .get(name, { namespace })
      .catch((error: unknown) => {
        if (error instanceof ApiError && error.code === 404) return undefined;
        throw error;
      });
    if (strategy === "Cache" && [...byPod.values()].some((keys) => keys.includes(key)))
      kept.set(key, { at: clock.monotonic(), object: object as Held | undefined });
    return object as Held | undefined;
  }

  function follow(key: string, api: ApiClient): Followed {
    const known = followed.get(key);
    if (known) return known;
    const [sort = "", namespace = "", name = ""] = key.split("/");
    const stop = new AbortController();
    const pods = new Set<string>();
    const follower: Followed = {
      pods,
      stop,
      isSynced: false,
      informer: informer<Held>({
        client: api.of(kinds[sort as Sort]) as never,
        scope: { namespace, fieldSelector: `metadata.name=${name}` },
        clock,
        signal: stop.signal,
        onEvent: () => {
          if (follower.isSynced) options.onChange?.([...pods]);
        },
        onError: (error) =>
          log.verbose(2, "failed to watch referenced object", { object: key, error: error.message }),
      }),
    };
    void follower.informer.synced.then(() => (follower.isSynced = true));
    followed.set(key, follower);
    return follower;
  }

  function leave(uid: string, keys: readonly string[]): void {
    for (const key of keys) {
      const watched = followed.get(key);
      watched?.pods.delete(uid);
      if (watched?.pods.size === 0) {
        watched.stop.abort();
        followed.delete(key);
      }
      if (![...byPod].some(([other, held]) => other !== uid && held.includes(key))) kept.delete(key);
    }
  }
}

/** Returns each config map and secret a pod references, once. */
export function referencesOf(pod: Pod): (readonly [sort: Sort, name: string])[] {
  const found = new Map<string, readonly [Sort, string]>();
  const add = (sort: Sort, name: string | undefined): void => {
    if (name) found.set(`${sort}/${name}`, [sort, name]);
  };
  for (const { env, envFrom } of everyContainerOf(pod)) {
    for (const { valueFrom } of env ?? []) {
      add("configmaps", valueFrom?.configMapKeyRef?.name);
      add("secrets", valueFrom?.secretKeyRef?.name);
    }
    for (const { configMapRef, secretRef } of envFrom ?? []) {
      add("configmaps", configMapRef?.name);
      add("secrets", secretRef?.name);
    }
  }
  for (const { configMap, secret, projected } of pod.spec.volumes ?? []) {
    add("configmaps", configMap?.name);
    add("secrets", secret?.secretName);
    for (const part of projected?.sources ?? []) {
      add("configmaps", part.configMap?.name);
      add("secrets", part.secret?.name);
    }
  }
  for (const { name } of pod.spec.imagePullSecrets ?? []) add("secrets", name);
  return [...found.values()];
}
