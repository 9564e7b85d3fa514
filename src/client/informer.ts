// A local copy of a collection, kept current: list, then watch, and start over where the server has
// forgotten.
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
  /** Told about trouble with the server, or thrown by `onEvent`; the informer goes on. */
  readonly onTrouble?: (error: Error) => void;
  readonly pageSize?: number;
}

export interface Informer<T> {
  /** Resolves once the first list has been delivered; never, when the informer is stopped before. */
  readonly synced: Promise<void>;
  get(namespace: string | undefined, name: string): T | undefined;
  items(): IterableIterator<T>;
  /** Resolves when the informer has stopped. */
  readonly stopped: Promise<void>;
}

const longestWaitMilliseconds = 10_000;
/** A watch that ends sooner and brought nothing is trouble: asking again at once would only make it worse. */
const shortestWatchMilliseconds = 1_000;
const keyOf = ({ metadata }: AnyObject): string => `${metadata.namespace ?? ""}/${metadata.name}`;
/** What was asked for is no longer there: a revision, or the rest of a list. */
export const isExpired = (error: unknown): boolean => error instanceof ApiError && error.code === 410;

/**
 * Follows a collection until the signal is aborted. Every object is told once per version it was seen in,
 * never an older one after a newer.
 */
export function informer<T extends AnyObject>(options: InformerOptions<T>): Informer<T> {
  const clock = options.clock ?? systemClock;
  const held = new Map<string, T>();
  const { promise: synced, resolve } = Promise.withResolvers<void>();
  /** Where to go on from; undefined when everything must be listed anew. */
  let version: string | undefined;
  const stopped = follow();
  return {
    synced,
    stopped,
    get: (namespace, name) => held.get(`${namespace ?? ""}/${name}`),
    items: () => held.values(),
  };

  async function follow(): Promise<void> {
    for (let failures = 0; !options.signal.aborted;) {
      const began = clock.now();
      const from = version;
      let trouble: Error | undefined;
      try {
        version ??= await relist();
        resolve();
        await watch();
        if (version === from && clock.now() - began < shortestWatchMilliseconds)
          trouble = new Error("the server ended the watch at once");
      } catch (error) {
        if (options.signal.aborted) return;
        if (isExpired(error)) version = undefined;
        // Having to list anew is ordinary, unless it happens over and over.
        if (!isExpired(error) || from === undefined) trouble = error as Error;
      }
      // Progress made before the trouble counts as success.
      if (version !== from && version !== undefined) failures = 0;
      if (!trouble) continue;
      options.onTrouble?.(trouble);
      await clock.sleep(pause(++failures, trouble), options.signal).catch(() => undefined);
    }
  }

  /** Lists everything in pages of one snapshot, and tells what appeared, changed or vanished. */
  async function relist(): Promise<string> {
    let pages: readonly (readonly T[])[];
    let at: string;
    try {
      [pages, at] = await listed(options.pageSize ?? 500);
    } catch (error) {
      if (!isExpired(error)) throw error;
      // The snapshot was forgotten between two pages: one answer cannot be torn apart.
      [pages, at] = await listed(undefined);
    }
    const seen = new Set<string>();
    for (const page of pages) {
      for (const object of page) {
        seen.add(keyOf(object));
        put(object);
      }
    }
    for (const [key, object] of held) if (!seen.has(key)) drop(object);
    return at;
  }

  async function listed(limit: number | undefined): Promise<[readonly (readonly T[])[], string]> {
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

  /** Follows changes until the server ends the stream. */
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
    const old = held.get(key);
    if (
      old?.metadata.resourceVersion === object.metadata.resourceVersion &&
      old?.metadata.uid === object.metadata.uid
    )
      return;
    held.set(key, object);
    if (old && old.metadata.uid !== object.metadata.uid) {
      tell({ type: "deleted", object: old });
      tell({ type: "added", object });
    } else tell(old ? { type: "updated", object, old } : { type: "added", object });
  }

  function drop(object: T): void {
    if (held.delete(keyOf(object))) tell({ type: "deleted", object });
  }

  function tell(event: InformerEvent<T>): void {
    try {
      options.onEvent(event);
    } catch (error) {
      options.onTrouble?.(error as Error);
    }
  }
}

/**
 * Longer after each failure, uneven so that many clients do not come back together, and no shorter than the
 * server asks.
 */
function pause(failures: number, error: Error): number {
  const wait =
    Math.min(200 * 2 ** Math.min(failures - 1, 10), longestWaitMilliseconds) * (0.5 + Math.random());
  const asked = error instanceof ApiError ? (error.details?.retryAfterSeconds ?? 0) * 1000 : 0;
  return Math.max(wait, asked);
}
