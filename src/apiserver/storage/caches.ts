// The resources of a server with their caches. One watch per store feeds all caches over it.
import type { Clock } from "#base";
import type { Dialect } from "#dialect";
import { Resource, type StorageMedia, type Strategy } from "#registry";
import type { Store } from "#store";
import { DirectSource, type InStoreOptions, StoreReflector } from "#watchcache";
import { encodedSince } from "./stored-encoding.ts";

export interface CacheOptions {
  readonly dialect: Dialect;
  readonly store: Store;
  /** Returns the store of a resource that has a separate one. */
  readonly storeOf?: ((strategy: Strategy) => Store | undefined) | undefined;
  readonly storePrefix: string;
  readonly storageMedia: StorageMedia;
  readonly strategies: readonly Strategy[];
  readonly clock: Clock;
  /**
   * Identifies the build of the program: values stored by other builds are decoded before they are served.
   */
  readonly program: string;
  /** Reports whether a resource is read directly from the store. */
  readonly uncached?: ((strategy: Strategy) => boolean) | undefined;
  readonly onError: (message: string, fields: Record<string, unknown>) => void;
}

export interface Caches {
  readonly resources: readonly Resource[];
  /** The reflector of the main store. */
  readonly reflector: StoreReflector;
  reflectorOf(resource: Resource): StoreReflector;
  /** Reports whether the objects of all stores are loaded. */
  ready(): boolean;
  /** Resolves once the caches hold everything written before the call. */
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
    if (!known) reflectors.set(of, (known = newReflector(of)));
    return known;
  };
  const newReflector = (of: Store): StoreReflector =>
    new StoreReflector({
      store: of,
      prefix: `${storePrefix}/`,
      clock,
      signal: stopping.signal,
      onRestart: (error) =>
        onError("the watch of the store ended; restarting it", { error: (error as Error).message }),
      onUnreadable: (prefix, count, error) =>
        onError("stored objects cannot be decoded; requests for them fail", {
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

/**
 * Returns the options for kinds with very many objects, which are not held in memory if the store can read
 * them synchronously.
 */
function inStore(resource: Resource): InStoreOptions | undefined {
  const { strategy, store } = resource;
  const values = strategy.veryMany ? store.local?.(resource.prefix) : undefined;
  if (!values) return undefined;
  // All such objects are namespaced, and the namespace is the start of the key.
  const fields = [...resource.selectable].filter((field) => field !== "metadata.namespace");
  return { values, fields };
}

/**
 * Resources that request handling reads are always cached: authorization reads roles and bindings, admission
 * reads webhooks and policies, fairness reads flow schemas and priority levels, and allocation reads
 * services.
 */
const alwaysCached = ({ hub: { kind } }: Strategy): boolean =>
  groupsRead.has(kind.group) || (kind.group === "" && kind.kind === "Service");
const groupsRead = new Set(["rbac.authorization", "admissionregistration", "flowcontrol.apiserver"]);

/** Definitions and API services are always stored as JSON, as in the original. */
const alwaysJson = ({ hub: { kind } }: Strategy): boolean =>
  kind.group === "apiextensions" || kind.group === "apiregistration";
