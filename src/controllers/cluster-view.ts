// What the loops see of the cluster: one local copy per kind, shared by all who ask for it.
import type { Clock, Log } from "#base";
import {
  type AnyObject,
  type ApiClient,
  type Informer,
  type InformerEvent,
  type KindSchema,
  type ResourceKind,
  informer,
} from "#client";
import type { TypeOf } from "#schema";
import { unlessStopped } from "./unless-stopped.ts";

export type Seen<S extends KindSchema> = TypeOf<S> & AnyObject;

export interface ClusterView {
  /** Follows a kind; those who come later are told of what is there already. */
  follow<S extends KindSchema>(
    kind: ResourceKind<S>,
    onEvent: (event: InformerEvent<Seen<S>>) => void,
  ): Informer<Seen<S>>;
  /** Resolves when every kind that is followed has been listed; rejects when the signal comes first. */
  synced(): Promise<void>;
  /** Resolves when all have ended, after the signal. */
  stopped(): Promise<void>;
  /** When the server could not be reached last; 0 when it always could. */
  lastTrouble(): number;
}

export interface ViewOptions {
  readonly client: ApiClient;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly log: Log;
}

interface Shared {
  readonly informer: Informer<AnyObject>;
  readonly listeners: ((event: InformerEvent<AnyObject>) => void)[];
}

export function clusterView({ client, clock, signal, log }: ViewOptions): ClusterView {
  const followed = new Map<ResourceKind, Shared>();
  let lastTrouble = 0;
  const start = (kind: ResourceKind): Shared => {
    const listeners: Shared["listeners"] = [];
    const informed = informer<AnyObject>({
      client: client.of(kind),
      clock,
      signal,
      onEvent: (event) => listeners.forEach((listener) => listener(event)),
      onTrouble: (error) => {
        lastTrouble = clock.now();
        log.verbose(2, "a watch was interrupted and goes on", { kind: kind.plural, error: error.message });
      },
    });
    return { informer: informed, listeners };
  };
  return {
    follow: (kind, onEvent) => {
      const shared = followed.get(kind) ?? start(kind);
      followed.set(kind, shared);
      for (const object of shared.informer.items()) onEvent({ type: "added", object: object as never });
      shared.listeners.push(onEvent as Shared["listeners"][number]);
      return shared.informer as Informer<never>;
    },
    synced: async () =>
      void (await unlessStopped(
        Promise.all([...followed.values()].map(({ informer: { synced } }) => synced)),
        signal,
      )),
    stopped: async () =>
      void (await Promise.all([...followed.values()].map(({ informer: each }) => each.stopped))),
    lastTrouble: () => lastTrouble,
  };
}
