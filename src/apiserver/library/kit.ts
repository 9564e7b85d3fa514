// The test kit: clients that meet trouble on purpose, and a memory store that can be set back or split.
import type { Clock } from "#base";
import { type ApiClient, type FaultyTransport, type Transport, apiClient, withFaults } from "#client";
import type { Dialect } from "#dialect";
import type { MemoryStore } from "#store";
import type { Caller, RunningServer } from "../library.ts";

/** A state of the memory store to come back to. */
export interface Snapshot {
  readonly revision: number;
}

export interface Kit {
  readonly clock: Clock;
  /** A client of its own, as anybody; the administrator when nobody is named. */
  client(as?: Caller): ApiClient;
  /** The same, with a script of faults that only this client meets. */
  faultyClient(as?: Caller): { readonly client: ApiClient; readonly faults: FaultyTransport };
  /** The newest revision: it grows with every change, and only then. */
  revision(): Promise<number>;
  /** Remembers how everything is. Costs a few words per object, not a copy. */
  snapshot(): Promise<Snapshot>;
  /** Sets everything back. It is done by writes: revisions go on rising, and watchers see each change. */
  rewind(to: Snapshot): Promise<void>;
  /** A second server, with the same past and a future of its own. The caller stops it. */
  fork(): Promise<RunningServer>;
}

export interface KitParts {
  readonly dialect: Dialect;
  readonly clock: Clock;
  readonly connect: (as?: Caller) => Transport;
  readonly memory: MemoryStore | undefined;
  /** Resolves when readers see everything that has been written. */
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
      const state = inMemory().fork({ clock: standing });
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

/** Time does not pass in a snapshot: nothing in it expires. */
const standing: Clock = {
  now: () => 0,
  sleep: () => new Promise(() => undefined),
  after: () => () => undefined,
};
