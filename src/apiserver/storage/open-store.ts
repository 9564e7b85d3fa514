// Opens the store of the settings: embedded, in memory or etcd, with encryption of values if configured.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type Clock, type Log, makeFolder } from "#base";
import type { Dialect } from "#dialect";
import type { Dial, GrpcObserver } from "#http";
import { type Store, encrypted, openStore, unreachableStore } from "#store";
import type { ApiserverSettings } from "../options/settings.ts";
import type { Encryption } from "./encryption.ts";

export interface StoreOptions {
  readonly settings: ApiserverSettings;
  readonly dialect: Dialect;
  /** Absent if values are not encrypted. */
  readonly encryption?: Pick<Encryption, "providersFor" | "isPlain"> | undefined;
  readonly clock: Clock;
  readonly log: Log;
  /** How long to wait for a remote store. */
  readonly waitMilliseconds?: number | undefined;
  /** Dials the remote store; it is connected to directly if absent. */
  readonly dial?: Dial | undefined;
  /** Receives the number of writes that shared a lease of a remote store. */
  readonly leaseReplaced?: ((keys: number) => void) | undefined;
  /** Observes every call to a remote store. */
  readonly calls?: GrpcObserver | undefined;
}

/** Opens the store; `given` replaces the store of the settings. */
export async function openStoreFor(options: StoreOptions, given?: Store): Promise<Store> {
  const { settings } = options;
  const store =
    given ??
    (settings.storeServers[0]?.startsWith("memory:") === false
      ? await remoteStore(options)
      : await localStore(options));
  const { encryption } = options;
  if (!encryption) return store;
  return encrypted(store, (key) => encryption.providersFor(key), {
    markers: options.dialect.names.encryptionMarkers,
    isPlain: (prefix) => encryption.isPlain(prefix),
  });
}

async function localStore({ settings, clock, log }: StoreOptions): Promise<Store> {
  if (settings.storeServers.length > 0) return await openStore({ memory: true, clock });
  const dir = join(settings.dataDir, "store");
  try {
    makeFolder(dir);
  } catch (error) {
    throw new Error(
      `--data-dir=${settings.dataDir}: objects cannot be kept there: ${(error as Error).message}`,
      { cause: error },
    );
  }
  return await openStore({
    dir,
    damaged: (error) =>
      log.error("the store is damaged; nothing more is written to it", { error: error.message }),
  });
}

const defaultWaitMilliseconds = 60_000;
const retryMilliseconds = 1000;

/** A remote store may start after this server, so it is waited for, but only for a limited time. */
async function remoteStore({
  settings,
  clock,
  log,
  dial,
  leaseReplaced,
  calls,
  waitMilliseconds = defaultWaitMilliseconds,
}: StoreOptions): Promise<Store> {
  const { storeServers: endpoints, storeCafile, storeCertfile, storeKeyfile } = settings;
  // Read again for every connection, so that the files may be replaced.
  const tls = () => ({
    ...(storeCafile && { ca: readFileSync(storeCafile, "utf8") }),
    ...(storeCertfile && {
      cert: readFileSync(storeCertfile, "utf8"),
      key: readFileSync(storeKeyfile, "utf8"),
    }),
  });
  const store = await openStore({
    etcd: {
      endpoints,
      dial,
      ...(storeCafile + storeCertfile !== "" && { tls }),
      leaseReuseSeconds: settings.leaseReuseDurationSeconds,
      leaseReplaced,
      calls,
    },
  });
  const until = clock.monotonic() + waitMilliseconds;
  for (let attempts = 0; ; attempts++, await clock.sleep(retryMilliseconds)) {
    try {
      await store.progress();
      return store;
    } catch (error) {
      if (!unreachableStore(error) || clock.monotonic() >= until) {
        await store.close();
        if (!unreachableStore(error)) throw error;
        throw new Error(
          `the store at ${endpoints.join(", ")} cannot be reached: ${(error as Error).message}`,
          { cause: error },
        );
      }
      if (attempts % 10 === 0)
        log.warn("the store cannot be reached yet; trying again", { error: (error as Error).message });
    }
  }
}
