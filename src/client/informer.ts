// A local copy of a collection, kept current by list and watch, with a new list when the server has compacted
// the revision.
import { ApiError, type Clock, systemClock } from "#base";
import type { AnyObject, ListParameters, ResourceClient } from "./client.ts";

export type InformerEvent<T> =
  | { readonly type: "added"; readonly object: T }
  | { readonly type: "updated"; readonly object: T; readonly old: T }
  | { readonly type: "deleted"; readonly object: T };

export interface InformerOptions<T> {
  readonly client: Pick<ResourceClient<T>, "list" | "watch">;
  readonly scope?: Pick<ListParameters, "namespace" | "labelSelector" | "fieldSelector">;
  readonly clock?: Clock;
  readonly signal: AbortSignal;
  readonly onEvent: (event: InformerEvent<T>) => void;
  /** Called with errors of the server and those thrown by `onEvent`; the informer continues. */
  readonly onError?: (error: Error) => void;
  readonly pageSize?: number;
}

export interface Informer<T> {
  /** Resolves once the first list has been delivered; never if the informer is stopped before. */
  readonly synced: Promise<void>;
  get(namespace: string | undefined, name: string): T | undefined;
  items(): IterableIterator<T>;
  /** Resolves when the informer has stopped. */
  readonly stopped: Promise<void>;
}

const maxBackoffMilliseconds = 10_000;
/**
 * A watch that ends sooner without events counts as a failure: retrying at once would overload the server.
 */
const minWatchMilliseconds = 1_000;
const keyOf = ({ metadata }: AnyObject): string => `${metadata.namespace ?? ""}/${metadata.name}`;
/** Reports that the requested revision, or the rest of a list, has been compacted. */
export const isExpired = (error: unknown): boolean => error instanceof ApiError && error.code === 410;

/**
 * Follows a collection until the signal is aborted. Each observed version of an object is delivered once,
 * never an older one after a newer one.
 */
export function informer<T extends AnyObject>(options: InformerOptions<T>): Informer<T> {
  const clock = options.clock ?? systemClock;
  const objects = new Map<string, T>();
  const { promise: synced, resolve } = Promise.withResolvers<void>();
  /** The revision to resume from; undefined if a new list is required. */
  let version: string | undefined;
  const stopped = follow();
  return {
    synced,
    stopped,
    get: (namespace, name) => objects.get(`${namespace ?? ""}/${name}`),
    items: () => objects.values(),
  };

  async function follow(): Promise<void> {
    for (let failures = 0; !options.signal.aborted;) {
      const began = clock.monotonic();
      const from = version;
      let failure: Error | undefined;
      try {
        version ??= await relist();
        resolve();
        await watch();
        if (version === from && clock.monotonic() - began < minWatchMilliseconds)
          failure = new Error("the server ended the watch at once");
      } catch (error) {
        if (options.signal.aborted) return;
        if (isExpired(error)) version = undefined;
        // Relisting is normal, unless it happens repeatedly.
        if (!isExpired(error) || from === undefined) failure = error as Error;
      }
      // Progress made before the failure resets the backoff.
      if (version !== from && version !== undefined) failures = 0;
      if (!failure) continue;
      options.onError?.(failure);
      await clock.sleep(backoff(++failures, failure), options.signal).catch(() => undefined);
    }
  }

  /** Lists everything in pages of one snapshot, and delivers added, changed and deleted objects. */
  async function relist(): Promise<string> {
    let pages: readonly (readonly T[])[];
    let at: string;
    try {
      [pages, at] = await listPages(options.pageSize ?? 500);
    } catch (error) {
      if (!isExpired(error)) throw error;
      // The snapshot was compacted between two pages: list again without paging.
      [pages, at] = await listPages(undefined);
    }
    const seen = new Set<string>();
    for (const page of pages) {
      for (const object of page) {
        seen.add(keyOf(object));
        put(object);
      }
    }
    for (const [key, object] of objects) if (!seen.has(key)) drop(object);
    return at;
  }

  async function listPages(limit: number | undefined): Promise<[readonly (readonly T[])[], string]> {
    const pages: (readonly T[])[] = [];
    let token: string | undefined;
    let at = "";
    do {
      const page = await options.client.list({
        ...options.scope,
        ...(limit !== undefined && { limit }),
        ...(token && { continue: token }),
      });
      pages.push(page.items);
      at = page.resourceVersion;
      token = page.continue;
    } while (token && !options.signal.aborted);
    options.signal.throwIfAborted();
    return [pages, at];
  }

  /** Watches until the server ends the stream. */
  async function watch(): Promise<void> {
    const timeoutSeconds = Math.round(300 * (1 + Math.random()));
    for await (const event of options.client.watch({
      ...options.scope,
      resourceVersion: version!,
      bookmarks: true,
      timeoutSeconds,
      signal: options.signal,
    })) {
      if (event.type === "ERROR")
        throw new ApiError(
          event.object.code ?? 500,
          event.object.reason ?? "",
          event.object.message ?? "the watch failed",
        );
      if (event.type === "ADDED" || event.type === "MODIFIED") put(event.object);
      else if (event.type === "DELETED") drop(event.object);
      version = event.object.metadata.resourceVersion!;
    }
  }

  function put(object: T): void {
    const key = keyOf(object);
    const old = objects.get(key);
    if (
      old?.metadata.resourceVersion === object.metadata.resourceVersion &&
      old?.metadata.uid === object.metadata.uid
    )
      return;
    objects.set(key, object);
    if (old && old.metadata.uid !== object.metadata.uid) {
      deliver({ type: "deleted", object: old });
      deliver({ type: "added", object });
    } else deliver(old ? { type: "updated", object, old } : { type: "added", object });
  }

  function drop(object: T): void {
    if (objects.delete(keyOf(object))) deliver({ type: "deleted", object });
  }

  function deliver(event: InformerEvent<T>): void {
    try {
      options.onEvent(event);
    } catch (error) {
      options.onError?.(error as Error);
    }
  }
}

/**
 * Exponential backoff with jitter, so that many clients do not retry at once; at least the server's
 * Retry-After.
 */
function backoff(failures: number, error: Error): number {
  const wait =
    Math.min(200 * 2 ** Math.min(failures - 1, 10), maxBackoffMilliseconds) * (0.5 + Math.random());
  const retryAfter = error instanceof ApiError ? (error.details?.retryAfterSeconds ?? 0) * 1000 : 0;
  return Math.max(wait, retryAfter);
}
