// Test fixture: small objects in a memory store, and both sources of them.
import {
  type Clock,
  type Selector,
  parseFieldSelector,
  parseLabelSelector,
  selectEverything,
  selector,
  virtualClock,
} from "#base";
import { type Entry, type MemoryStore, type Revision, openMemory } from "#store";
import { DirectSource } from "./direct.ts";
import { StoreReflector } from "./store-reflector.ts";
import { type CachedObject, withRevision } from "./cached-object.ts";
import type { HistoryBounds } from "./history.ts";
import type { ResourceCache } from "./resource-cache.ts";
import type { ListResult, ObjectSource, WatchQuery, FrameSink } from "./source.ts";

export const prefix = "/test/things/";

export interface Thing {
  readonly labels?: Record<string, string>;
  readonly color?: string;
  readonly data?: string;
}

/** An object `n/a` with labels, one field "color", and some data. */
export function encodedThing(key: string, { labels = {}, color = "", data = "" }: Thing): Uint8Array {
  const [namespace, name] = key.split("/");
  return Buffer.from(
    JSON.stringify({
      kind: "Thing",
      apiVersion: "v1",
      metadata: { name, namespace, uid: `uid-${key}`, labels },
      color,
      data,
    }),
  );
}

export function readThing(entry: Entry): CachedObject {
  const { metadata, color } = JSON.parse(Buffer.from(entry.value).toString()) as {
    metadata: { name: string; namespace: string; labels: Record<string, string> };
    color: string;
  };
  const { name, namespace, labels } = metadata;
  return withRevision(entry.key, entry.revision, entry.value, { name, namespace, labels, fields: { color } });
}

export interface Bench {
  readonly store: MemoryStore;
  readonly source: ObjectSource;
  readonly clock: ReturnType<typeof virtualClock>;
  put(key: string, thing?: Thing): Promise<Revision>;
  remove(key: string): Promise<Revision>;
  /** Resolves when the source has seen all writes so far. */
  settle(): Promise<void>;
  close(): Promise<void>;
}

export interface CachedBench extends Bench {
  readonly source: ResourceCache;
  readonly feed: StoreReflector;
  readonly restarts: string[];
}

function writer(store: MemoryStore): Pick<Bench, "put" | "remove"> {
  return {
    put: async (key, thing = {}) => {
      const outcome = await store.write({
        key: prefix + key,
        value: encodedThing(key, thing),
        expect: "any",
      });
      if (!outcome.done) throw new Error("unexpected");
      return outcome.revision;
    },
    remove: async (key) => {
      const outcome = await store.write({ key: prefix + key, value: null, expect: "any" });
      if (!outcome.done) throw new Error("unexpected");
      return outcome.revision;
    },
  };
}

export async function openDirect(): Promise<Bench> {
  const store = await openMemory();
  const source = new DirectSource(store, prefix, readThing);
  return {
    store,
    source,
    clock: virtualClock(),
    ...writer(store),
    settle: turns,
    close: () => store.close(),
  };
}

export async function openCached(
  options: {
    readonly bounds?: HistoryBounds;
    readonly store?: MemoryStore;
    readonly clock?: Clock;
    /** Whether objects stay in the store. */
    readonly inStore?: boolean;
  } = {},
): Promise<CachedBench> {
  const store = options.store ?? (await openMemory());
  const clock = virtualClock();
  const stop = new AbortController();
  const restarts: string[] = [];
  const feed = new StoreReflector({
    store,
    prefix: "/test/",
    clock,
    signal: stop.signal,
    onRestart: (error) => restarts.push((error as Error).name),
    ...(options.bounds && { bounds: options.bounds }),
  });
  const inStore = options.inStore ? { values: store.local(), fields: ["metadata.name", "color"] } : undefined;
  const source = feed.cache(prefix, readThing, { inStore });
  await feed.start();
  return {
    store,
    source,
    feed,
    clock,
    restarts,
    ...writer(store),
    settle: async () => {
      await feed.current();
      await turns();
    },
    close: async () => {
      stop.abort();
      await feed.stopped();
      await store.close();
    },
  };
}

/** Runs all pending tasks. */
export async function turns(count = 10): Promise<void> {
  for (let turn = 0; turn < count; turn++) await new Promise((resolve) => setImmediate(resolve));
}

export const by = (labels: string, fields = ""): Selector =>
  labels === "" && fields === ""
    ? selectEverything
    : selector(parseLabelSelector(labels), parseFieldSelector(fields));

export const keysOf = ({ items }: Pick<ListResult, "items">): string[] =>
  items.map(({ key, revision }) => `${key.slice(prefix.length)}@${revision}`);

export interface Watch {
  /** Such as `ADDED n/a@5`, in order. */
  readonly seen: string[];
  readonly over: () => boolean;
  /** Number of frames of each delivery. */
  readonly sizes: number[];
  stop(): void;
}

/** Starts a watch that records its deliveries. */
export async function watchOf(
  source: ObjectSource,
  query: Partial<WatchQuery> = {},
  more: Partial<FrameSink> = {},
): Promise<Watch> {
  const controller = new AbortController();
  const seen: string[] = [];
  const sizes: number[] = [];
  let ended = false;
  const watcher: FrameSink = {
    deliver: (frames) => {
      sizes.push(frames.length);
      for (const { type, item } of frames)
        seen.push(`${type} ${item.key.slice(prefix.length)}@${revisionIn(item)}`);
    },
    ended: () => (ended = true),
    ...more,
  };
  await source.watch(
    { below: "", selector: selectEverything, from: "state", signal: controller.signal, ...query },
    watcher,
  );
  return { seen, sizes, over: () => ended, stop: () => controller.abort() };
}

/** Returns the content of the bytes, which must match that of the item. */
export function revisionIn(item: CachedObject): string {
  const { metadata } = JSON.parse(item.json.toString()) as { metadata: { resourceVersion: string } };
  return metadata.resourceVersion === String(item.revision)
    ? metadata.resourceVersion
    : `${metadata.resourceVersion}≠${item.revision}`;
}
