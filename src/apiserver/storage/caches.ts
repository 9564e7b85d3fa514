// The resources of a server with their caches: one watch of the store reflects into all of them.
import type { Clock } from "#base";
import type { Dialect } from "#dialect";
import { Resource, type StorageMedia, type Strategy } from "#registry";
import type { Store } from "#store";
import { DirectSource, type InStoreOptions, StoreReflector } from "#watchcache";
import { encodedSince } from "./stored-encoding.ts";

export interface CacheOptions {
  readonly dialect: Dialect;
  readonly store: Store;
  /** The stores of resources that are kept elsewhere. */
  readonly storeOf?: ((strategy: Strategy) => Store | undefined) | undefined;
  readonly storePrefix: string;
  readonly storageMedia: StorageMedia;
  readonly strategies: readonly Strategy[];
  readonly clock: Clock;
  /** Which build of the program this is: what others have stored is decoded before it is served. */
  readonly program: string;
  /** Which resources are read straight from the store. */
  readonly uncached?: ((strategy: Strategy) => boolean) | undefined;
  readonly onError: (message: string, fields: Record<string, unknown>) => void;
}

export interface Caches {
  readonly resources: readonly Resource[];
  /** Of the store that holds everything else. */
  readonly reflector: StoreReflector;
  reflectorOf(resource: Resource): StoreReflector;
  /** Whether everything is loaded from all stores. */
  ready(): boolean;
  /** Resolves when everything written before is known here. */
  current(): Promise<void>;
  start(): Promise<void>;
  stop(): Promise<void>;
}

export function cachedResources(options: CacheOptions): Caches {
  const { dialect, store, storePrefix, clock, uncached, onError } = options;
  const stopping = new AbortController();
  const reflectors = new Map<Store, StoreReflector>();
  const reflectorFor = (of: Store): StoreReflector => {
    let known = reflectors.get(of);
    if (!known) reflectors.set(of, (known = reflecting(of)));
    return known;
  };
  const reflecting = (of: Store): StoreReflector =>
    new StoreReflector({
      store: of,
      prefix: `${storePrefix}/`,
      clock,
      signal: stopping.signal,
      onRestart: (error) =>
        onError("the watch of the store ended; it is restarted", { error: (error as Error).message }),
      onUnreadable: (prefix, count, error) =>
        onError("stored objects cannot be read; whoever asks for them gets an error", {
          prefix,
          count,
          error: error.message,
        }),
    });
  const resources = options.strategies.map((strategy) => {
    const media = alwaysJson(strategy) ? "json" : options.storageMedia;
    const own = options.storeOf?.(strategy) ?? store;
    const resource = new Resource(strategy, { dialect, store: own, storePrefix, media });
    const direct = !alwaysCached(strategy) && uncached?.(strategy);
    resource.source = direct
      ? new DirectSource(own, resource.prefix, resource.reader)
      : reflectorFor(own).cache(resource.prefix, resource.reader, {
          indexedFields: strategy.indexedFields,
          inStore: inStore(resource),
        });
    return resource;
  });
  const reflector = reflectorFor(store);
  const all = [...reflectors.values()];
  return {
    resources,
    reflector,
    reflectorOf: (resource) => reflectorFor(resource.store),
    ready: () => all.every((each) => each.ready()),
    current: async () => void (await Promise.all(all.map((each) => each.current()))),
    start: async () => {
      for (const of of reflectors.keys()) {
        const since = await encodedSince(of, options.program);
        for (const resource of resources) if (resource.store === of) resource.encodedSince(since);
      }
      await Promise.all(all.map((each) => each.start()));
    },
    stop: async () => {
      stopping.abort();
      await Promise.all(all.map((each) => each.stopped()));
    },
  };
}

/** Kinds with very many objects leave them in the store, where it can be read at once. */
function inStore(resource: Resource): InStoreOptions | undefined {
  const { strategy, store } = resource;
  const values = strategy.veryMany ? store.local?.(resource.prefix) : undefined;
  if (!values) return undefined;
  // Everything is in a namespace, and keys begin with it.
  const fields = [...resource.selectable].filter((field) => field !== "metadata.namespace");
  return { values, fields };
}

/**
 * What the server itself looks at when requests come is always cached: authorization reads roles and bindings,
 * admission webhooks and policies, fairness flow schemas and levels, allocation services.
 */
const alwaysCached = ({ hub: { kind } }: Strategy): boolean =>
  groupsRead.has(kind.group) || (kind.group === "" && kind.kind === "Service");
const groupsRead = new Set(["rbac.authorization", "admissionregistration", "flowcontrol.apiserver"]);

/** Definitions and API services are stored as JSON whatever is asked for, as the original stores them. */
const alwaysJson = ({ hub: { kind } }: Strategy): boolean =>
  kind.group === "apiextensions" || kind.group === "apiregistration";
