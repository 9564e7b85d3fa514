// A local copy of a collection, kept current: list, then watch, and start over where the server has forgotten.
import { ApiError, type Clock, systemClock } from "#base";
import type { AnyObject, ListParameters, ResourceClient } from "./client.ts";

export type InformerEvent<T> =
  | { readonly type: "added"; readonly object: T }
  | { readonly type: "updated"; readonly object: T; readonly old: T }
  | { readonly type: "deleted"; readonly object: T };

export interface InformerOptions<T> {
  readonly client: ResourceClient<T>;
  readonly scope?: Pick<ListParameters, "namespace" | "labelSelector" | "fieldSelector">;
  readonly clock?: Clock;
  readonly signal: AbortSignal;
  readonly onEvent: (event: InformerEvent<T>) => void;
  /** Told about trouble with the server; the informer goes on trying. */
  readonly onTrouble?: (error: Error) => void;
  readonly pageSize?: number;
}

export interface Informer<T> {
  /** Resolves once the first list has been delivered. */
  readonly synced: Promise<void>;
  get(namespace: string | undefined, name: string): T | undefined;
  items(): IterableIterator<T>;
  /** Resolves when the informer has stopped. */
  readonly stopped: Promise<void>;
}

const longestWaitMilliseconds = 10_000;
const keyOf = ({ metadata }: AnyObject): string => `${metadata.namespace ?? ""}/${metadata.name}`;

/** Follows a collection until the signal is aborted. Every object is told once per version it was seen in. */
export function informer<T extends AnyObject>(options: InformerOptions<T>): Informer<T> {
  const clock = options.clock ?? systemClock;
  const held = new Map<string, T>();
  const { promise: synced, resolve } = Promise.withResolvers<void>();
  const put = (object: T): void => {
    const key = keyOf(object);
    const old = held.get(key);
    if (old?.metadata.resourceVersion === object.metadata.resourceVersion && old?.metadata.uid === object.metadata.uid) return;
    held.set(key, object);
    if (old && old.metadata.uid !== object.metadata.uid) {
      options.onEvent({ type: "deleted", object: old });
      options.onEvent({ type: "added", object });
    } else options.onEvent(old ? { type: "updated", object, old } : { type: "added", object });
  };
  const drop = (object: T): void => {
    const key = keyOf(object);
    if (held.delete(key)) options.onEvent({ type: "deleted", object });
  };
  const stopped = follow();
  return { synced, stopped, get: (namespace, name) => held.get(`${namespace ?? ""}/${name}`), items: () => held.values() };

  async function follow(): Promise<void> {
    let version: string | undefined;
    for (let failures = 0; !options.signal.aborted; ) {
      try {
        version ??= await relist();
        resolve();
        version = await watch(version);
        failures = 0;
      } catch (error) {
        if (options.signal.aborted) return;
        if (error instanceof ApiError && error.code === 410) version = undefined;
        else {
          options.onTrouble?.(error as Error);
          failures++;
          const wait = Math.min(200 * 2 ** Math.min(failures, 10), longestWaitMilliseconds);
          await clock.sleep(wait * (0.5 + Math.random()), options.signal).catch(() => undefined);
        }
      }
    }
  }

  /** Lists everything in pages of one snapshot, and tells what appeared, changed or vanished. */
  async function relist(): Promise<string> {
    const seen = new Set<string>();
    let token: string | undefined;
    let version = "";
    do {
      const page = await options.client.list({ ...options.scope, limit: options.pageSize ?? 500, ...(token && { continue: token }) });
      version = page.resourceVersion;
      for (const object of page.items) {
        seen.add(keyOf(object));
        put(object);
      }
      token = page.continue;
    } while (token);
    for (const [key, object] of held) if (!seen.has(key)) drop(object);
    return version;
  }

  /** Follows changes until the server ends the stream; gives the version to go on from. */
  async function watch(from: string): Promise<string> {
    let version = from;
    const timeoutSeconds = Math.round(300 * (1 + Math.random()));
    for await (const event of options.client.watch({ ...options.scope, resourceVersion: from, bookmarks: true, timeoutSeconds, signal: options.signal })) {
      if (event.type === "ERROR") throw new ApiError(event.object.code ?? 500, event.object.reason ?? "", event.object.message ?? "the watch failed");
      version = event.object.metadata.resourceVersion!;
      if (event.type === "ADDED" || event.type === "MODIFIED") put(event.object);
      else if (event.type === "DELETED") drop(event.object);
    }
    return version;
  }
}
