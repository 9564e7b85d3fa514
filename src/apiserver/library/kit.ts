// Test utilities: clients with injected faults, and snapshots and forks of a memory store.
import type { Clock } from "#base";
import { type ApiClient, type FaultyTransport, type Transport, apiClient, withFaults } from "#client";
import type { Dialect } from "#dialect";
import type { MemoryStore } from "#store";
import type { Caller, RunningServer } from "../library.ts";

/** A saved state of the memory store. */
export interface Snapshot {
  readonly revision: number;
}

export interface Kit {
  readonly clock: Clock;
  /** Returns a separate client with the given identity; the administrator by default. */
  client(as?: Caller): ApiClient;
  /** Like `client`, with a script of faults that affect only this client. */
  faultyClient(as?: Caller): { readonly client: ApiClient; readonly faults: FaultyTransport };
  /** Returns the latest revision, which increases with every change and only then. */
  revision(): Promise<number>;
  /** Saves the current state. Costs a few words of memory per object rather than a copy. */
  snapshot(): Promise<Snapshot>;
  /** Restores a saved state by writing: revisions keep rising, and watchers see each change. */
  rewind(to: Snapshot): Promise<void>;
  /**
   * Starts a second server with a copy of the current state, independent from then on. The caller stops it.
   */
  fork(): Promise<RunningServer>;
}

export interface KitParts {
  readonly dialect: Dialect;
  readonly clock: Clock;
  readonly connect: (as?: Caller) => Transport;
  readonly memory: MemoryStore | undefined;
  /** Resolves once readers see everything written so far. */
  readonly caughtUp: () => Promise<void>;
  readonly fork: (store: MemoryStore) => Promise<RunningServer>;
}

export function kitOf({ dialect, clock, connect, memory, caughtUp, fork }: KitParts): Kit {
  const states = new WeakMap<Snapshot, MemoryStore>();
  const inMemory = (): MemoryStore => {
    if (!memory) throw new Error('only a server with store: "memory" can be looked at, set back or forked');
    return memory;
  };
  return {
    clock,
    client: (as) => apiClient(connect(as), dialect),
    faultyClient: (as) => {
      const faults = withFaults(connect(as), { clock });
      return { client: apiClient(faults, dialect), faults };
    },
    revision: async () => (await inMemory().status()).revision,
    snapshot: async () => {
      const state = inMemory().fork({ clock: frozenClock });
      const snapshot = { revision: (await state.status()).revision };
      states.set(snapshot, state);
      return snapshot;
    },
    rewind: async (to) => {
      const state = states.get(to);
      if (!state) throw new Error("this snapshot was taken of another server");
      await inMemory().rewind(state);
      await caughtUp();
    },
    fork: async () => await fork(inMemory().fork()),
  };
}

/** A clock that stands still: nothing in a snapshot expires. */
const frozenClock: Clock = {
  now: () => 0,
  monotonic: () => 0,
  sleep: () => new Promise(() => undefined),
  after: () => () => undefined,
};
