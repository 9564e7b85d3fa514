// The cluster as controllers and the scheduler see it: one shared informer per kind and scope, started on
// first use, with indexes.
import type { Clock, Log } from "#base";
import {
  type AnyObject,
  type ApiClient,
  type Informer,
  type InformerEvent,
  type KindSchema,
  type ListParameters,
  type ResourceClient,
  type ResourceKind,
  informer,
} from "#client";
import { apiVersionOf } from "#dialect";
import type { TypeOf } from "#schema";
import { abortable } from "./abortable.ts";
import { type Index, objectIndex } from "./object-index.ts";

export type Seen<S extends KindSchema> = TypeOf<S> & AnyObject;
export type Scope = Pick<ListParameters, "namespace" | "labelSelector" | "fieldSelector">;

export interface SharedInformer<T> extends Pick<Informer<T>, "synced" | "get" | "items"> {
  /** Returns a lookup of objects by computed keys. Callers that use the same name share one index. */
  index(name: string, keysOf: (object: T) => readonly string[]): (key: string) => readonly T[];
  inNamespace(namespace: string): readonly T[];
  /** Objects whose managing controller has this uid. */
  controlledBy(uid: string): readonly T[];
  /** Monotonic time of the last failed list or watch of this collection; 0 if none has failed. */
  lastFailure(): number;
}

export interface ClusterView {
  /**
   * Follows a kind. A late subscriber receives added events for the objects that are already in the cache.
   */
  follow<S extends KindSchema>(
    kind: ResourceKind<S>,
    onEvent?: (event: InformerEvent<Seen<S>>) => void,
    scope?: Scope,
  ): SharedInformer<Seen<S>>;
  /** Returns the informer of a kind that some caller already follows without a scope. */
  existing(groupVersion: string, plural: string): FollowedKind | undefined;
  /**
   * Resolves when every kind followed through this view has been listed; rejects if the signal aborts first.
   */
  synced(): Promise<void>;
  /** Monotonic time of the latest failure among the kinds followed through this view. */
  lastFailure(): number;
  /**
   * Returns a view over the same informers whose `synced` and `lastFailure` cover only kinds followed through
   * it.
   */
  scoped(): ClusterView;
  /** Resolves when all informers have stopped, after the signal aborted. */
  stopped(): Promise<void>;
}

/** A kind that is already followed, for callers that do not know its schema. */
export interface FollowedKind {
  readonly informer: SharedInformer<AnyObject>;
  listen(onEvent: (event: InformerEvent<AnyObject>) => void): () => void;
}

export interface ViewOptions {
  readonly client: ApiClient;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly log: Log;
}

interface Followed extends FollowedKind {
  readonly informer: SharedInformer<AnyObject>;
  readonly stopped: Promise<void>;
}

/** Returns a view over all informers; controllers get `scoped()` copies of it. */
export function clusterView(options: ViewOptions): ClusterView {
  const followed = new Map<string, Followed>();
  const { client } = options;
  const typeOf = ({ schema }: ResourceKind): string => apiVersionOf(client.dialect, schema.kind);
  const view = (): ClusterView => {
    const own = new Set<Followed>();
    return {
      follow: (kind, onEvent, scope = {}) => {
        const key = JSON.stringify([typeOf(kind), kind.plural, scope]);
        const shared = followed.get(key) ?? startInformer(client.of(kind), kind.plural, scope, options);
        followed.set(key, shared);
        own.add(shared);
        if (onEvent) shared.listen(onEvent as (event: InformerEvent<AnyObject>) => void);
        return shared.informer as SharedInformer<never>;
      },
      existing: (groupVersion, plural) => followed.get(JSON.stringify([groupVersion, plural, {}])),
      synced: async () =>
        void (await abortable(
          Promise.all([...own].map(({ informer: { synced } }) => synced)),
          options.signal,
        )),
      lastFailure: () => Math.max(0, ...[...own].map(({ informer: each }) => each.lastFailure())),
      scoped: view,
      stopped: async () => void (await Promise.all([...followed.values()].map((each) => each.stopped))),
    };
  };
  return view();
}

/** Starts an informer that supports several listeners. */
export function startInformer(
  resource: Pick<ResourceClient<AnyObject>, "list" | "watch">,
  plural: string,
  scope: Scope,
  { clock, signal, log }: Omit<ViewOptions, "client">,
): Followed {
  const listeners = new Set<(event: InformerEvent<AnyObject>) => void>();
  const indexes = new Map<string, Index<AnyObject>>();
  let lastFailure = 0;
  const started = informer<AnyObject>({
    client: resource,
    scope,
    clock,
    signal,
    onEvent: (event) => {
      // No controller reads managedFields, and they make up a third of many objects.
      delete event.object.metadata.managedFields;
      for (const each of indexes.values()) each.apply(event);
      for (const listener of listeners) {
        try {
          listener(event);
        } catch (error) {
          log.error("event handler failed", { kind: plural, error: (error as Error).message });
        }
      }
    },
    onError: (error) => {
      lastFailure = clock.monotonic();
      log.verbose(2, "watch interrupted", { kind: plural, error: error.message });
    },
  });
  const index = (name: string, keysOf: (object: AnyObject) => readonly string[]) => {
    let existing = indexes.get(name);
    if (!existing) {
      indexes.set(name, (existing = objectIndex(keysOf)));
      for (const object of started.items()) existing.apply({ type: "added", object });
    }
    return existing.get;
  };
  return {
    stopped: started.stopped,
    listen: (onEvent) => {
      for (const object of started.items()) onEvent({ type: "added", object });
      listeners.add(onEvent);
      return () => void listeners.delete(onEvent);
    },
    informer: {
      synced: started.synced,
      get: started.get,
      items: started.items,
      index,
      inNamespace: (namespace) => index("namespace", ({ metadata }) => [metadata.namespace ?? ""])(namespace),
      controlledBy: (uid) =>
        index("controller", ({ metadata }) =>
          (metadata.ownerReferences ?? []).filter(({ controller }) => controller).map((each) => each.uid),
        )(uid),
      lastFailure: () => lastFailure,
    },
  };
}
