// Support for tests of several servers on one store. Each server has a separate proxy of the store, which can
// delay its watches and writes.
import { type Clock, silentLog, systemClock } from "#base";
import { type ApiClient, apiClient, inProcess } from "#client";
import { dialects } from "#dialect";
import { type Batch, MemoryStore, type Store, type Write } from "#store";
import { ownCredentials } from "./library/credentials.ts";
import { settingsFor } from "./library/settings.ts";
import { type StartedServer, start } from "./server.ts";

export interface OneOfSeveral {
  readonly client: ApiClient;
  readonly started: StartedServer;
  /** Withholds store events from this server, as if its watch hung. */
  holdWatch(): void;
  /** Delays matching writes of this server until they are released. */
  holdWrites(which: (write: Write) => boolean): void;
  letGo(): void;
}

export interface Several extends AsyncDisposable {
  readonly store: MemoryStore;
  readonly servers: readonly OneOfSeveral[];
}

/**
 * Starts servers at the same time on one empty memory store, which they treat as a remote store.
 */
export async function startSeveral(
  count: number,
  options: { readonly flags?: readonly string[]; readonly clock?: Clock } = {},
): Promise<Several> {
  const clock = options.clock ?? systemClock;
  const store = new MemoryStore({ clock });
  const own = ownCredentials();
  const servers = await Promise.all(
    Array.from({ length: count }, async (): Promise<OneOfSeveral> => {
      const window = windowOn(store);
      const { client, started } = await startOn(window.store, { ...options, clock }, own);
      return {
        client,
        started,
        holdWatch: window.holdWatch,
        holdWrites: window.holdWrites,
        letGo: window.letGo,
      };
    }),
  );
  return {
    store,
    servers,
    [Symbol.asyncDispose]: async () => {
      for (const { letGo, started } of servers) {
        letGo();
        await started.stop();
      }
      await store.close();
    },
  };
}

/** Starts one server on a store that it treats as a remote store. The caller stops it. */
export async function startOn(
  store: Store,
  options: { readonly flags?: readonly string[]; readonly clock?: Clock } = {},
  own = ownCredentials(),
): Promise<Pick<OneOfSeveral, "client" | "started">> {
  const dialect = dialects.orch;
  const settings = settingsFor(dialect, {
    store: { etcd: ["http://127.0.0.1:1"] },
    flags: options.flags ?? [],
  });
  const started = await start({
    dialect,
    settings,
    store,
    clock: options.clock ?? systemClock,
    log: silentLog,
    listen: false,
    own,
  });
  return {
    started,
    client: apiClient(
      inProcess(started.handle, { name: "admin", groups: ["system:masters", "system:authenticated"] }),
      dialect,
    ),
  };
}

function windowOn(
  store: Store,
): Pick<OneOfSeveral, "holdWatch" | "holdWrites" | "letGo"> & { readonly store: Store } {
  let watches: PromiseWithResolvers<void> | undefined;
  let writes: (PromiseWithResolvers<void> & { readonly which: (write: Write) => boolean }) | undefined;
  async function* held(batches: AsyncIterable<Batch>): AsyncGenerator<Batch, void, void> {
    for await (const batch of batches) {
      await watches?.promise;
      yield batch;
    }
  }
  return {
    store: {
      read: (range, at) => store.read(range, at),
      write: async (write) => {
        if (writes?.which(write)) await writes.promise;
        return await store.write(write);
      },
      watch: (range, after, signal) => held(store.watch(range, after, signal)),
      progress: () => store.progress(),
      compact: (through) => store.compact(through),
      status: () => store.status(),
      close: () => store.close(),
    },
    holdWatch: () => void (watches ??= Promise.withResolvers()),
    holdWrites: (which) => void (writes = { ...Promise.withResolvers(), which }),
    letGo: () => {
      watches?.resolve();
      writes?.resolve();
      watches = undefined;
      writes = undefined;
    },
  };
}
