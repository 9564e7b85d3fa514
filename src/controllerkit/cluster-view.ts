// What controllers and scheduler see of the cluster: one informer per kind and scope, started when it is first
// asked for and shared by all who ask, with indexes kept beside it.
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
  /** Objects by any key; an index is kept once however many ask for its name. */
  index(name: string, keysOf: (object: T) => readonly string[]): (key: string) => readonly T[];
  inNamespace(namespace: string): readonly T[];
  /** Objects whose managing controller has this uid. */
  controlledBy(uid: string): readonly T[];
  /** When this collection could last not be listed or watched; 0 when it always could. */
  lastFailure(): number;
}

export interface ClusterView {
  /** Follows a kind; those who come later are told of what is there already. */
  follow<S extends KindSchema>(
    kind: ResourceKind<S>,
    onEvent?: (event: InformerEvent<Seen<S>>) => void,
    scope?: Scope,
  ): SharedInformer<Seen<S>>;
  /** The informer of a kind that is followed whole already, whoever asked for it. */
  existing(groupVersion: string, plural: string): FollowedKind | undefined;
  /** Resolves when every kind followed through this view is listed; rejects when the signal comes first. */
  synced(): Promise<void>;
  /** The latest failure of the kinds followed through this view. */
  lastFailure(): number;
  /** The same informers, but `synced` and `lastFailure` speak only of kinds that are followed through it. */
  scoped(): ClusterView;
  /** Resolves when all informers have ended, after the signal. */
  stopped(): Promise<void>;
}

/** A kind that is followed already, for those who do not know its schema. */
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

/** One view over all informers; controllers get `scoped()` copies of it. */
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

/** Starts an informer that many can listen to. */
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
      // Nobody here asks who wrote which field, and it is a third of many objects.
      delete event.object.metadata.managedFields;
      for (const each of indexes.values()) each.apply(event);
      for (const listener of listeners) {
        try {
          listener(event);
        } catch (error) {
          log.error("a controller failed on an event", { kind: plural, error: (error as Error).message });
        }
      }
    },
    onTrouble: (error) => {
      lastFailure = clock.now();
      log.verbose(2, "watch interrupted", { kind: plural, error: error.message });
    },
  });
  const index = (name: string, keysOf: (object: AnyObject) => readonly string[]) => {
    let known = indexes.get(name);
    if (!known) {
      indexes.set(name, (known = objectIndex(keysOf)));
      for (const object of started.items()) known.apply({ type: "added", object });
    }
    return known.get;
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
