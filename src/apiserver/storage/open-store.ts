// The store that the settings ask for: embedded, in memory or etcd, with its values encrypted where a file
// says so.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type Clock, type Log, makeFolder } from "#base";
import { type Dialect, groupName } from "#dialect";
import { GrpcError } from "#http";
import type { Strategy } from "#registry";
import { type EncryptionProvider, type Store, encrypted, identity, openStore } from "#store";
import type { ApiserverSettings } from "../options/settings.ts";
import { type EncryptionTable, type ResourceId, parseEncryptionConfig } from "./encryption-config.ts";

export interface StoreOptions {
  readonly settings: ApiserverSettings;
  readonly dialect: Dialect;
  readonly strategies: readonly Strategy[];
  readonly storePrefix: string;
  readonly clock: Clock;
  readonly log: Log;
  /** How long a store elsewhere is waited for. */
  readonly patienceMilliseconds?: number | undefined;
  /** Aborted when the server closes. */
  readonly signal: AbortSignal;
}

/** `given` takes the place of the store that the settings name. */
export async function openStoreFor(options: StoreOptions, given?: Store): Promise<Store> {
  const { settings } = options;
  const store =
    given ??
    (settings.storeServers[0]?.startsWith("memory:") === false
      ? await remoteStore(options)
      : await localStore(options));
  if (settings.encryptionProviderConfig === "") return store;
  try {
    return encrypted(store, providersByKey(options));
  } catch (error) {
    if (!given) await store.close();
    throw error;
  }
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

const usualPatienceMilliseconds = 60_000;
const pauseMilliseconds = 1000;

/** A store elsewhere may come up after us: it is waited for, but not for ever. */
async function remoteStore({
  settings,
  clock,
  log,
  patienceMilliseconds = usualPatienceMilliseconds,
}: StoreOptions): Promise<Store> {
  const { storeServers: endpoints, storeCafile, storeCertfile, storeKeyfile } = settings;
  // Read anew for every connection, so that files may be replaced.
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
      ...(storeCafile + storeCertfile !== "" && { tls }),
      leaseReuseSeconds: settings.leaseReuseDurationSeconds,
    },
  });
  const until = clock.now() + patienceMilliseconds;
  for (let attributes = 0; ; attributes++, await clock.sleep(pauseMilliseconds)) {
    try {
      await store.progress();
      return store;
    } catch (error) {
      if (!isAway(error) || clock.now() >= until) {
        await store.close();
        if (!isAway(error)) throw error;
        throw new Error(
          `the store at ${endpoints.join(", ")} cannot be reached: ${(error as Error).message}`,
          { cause: error },
        );
      }
      if (attributes % 10 === 0)
        log.warn("the store cannot be reached yet; trying again", { error: (error as Error).message });
    }
  }
}

const isAway = (error: unknown): boolean =>
  error instanceof GrpcError && (error.code === "UNAVAILABLE" || error.code === "DEADLINE_EXCEEDED");

const asTheyAre: readonly EncryptionProvider[] = [identity];
const lookEveryMilliseconds = 60_000;

/** Keys lie below `<prefix>/<place>/`, and each place belongs to one resource. */
function providersByKey({
  settings,
  dialect,
  strategies,
  storePrefix,
  clock,
  log,
  signal,
}: StoreOptions): (key: string) => readonly EncryptionProvider[] {
  const places = new Map<string, ResourceId>(
    strategies.map(({ resource, storagePath, hub }) => [
      storagePath ?? resource,
      { resource, group: groupName(dialect, hub.kind) },
    ]),
  );
  const file = settings.encryptionProviderConfig;
  const read = (): string => readFileSync(file, "utf8");
  let text = read();
  let table: EncryptionTable = parseEncryptionConfig(text, file, dialect);
  const look = (): void => {
    try {
      const now = read();
      if (now !== text) {
        table = parseEncryptionConfig(now, file, dialect);
        text = now;
        log.info("the encryption configuration was read again", { file });
      }
    } catch (error) {
      log.error("a changed encryption configuration cannot be used; the one before is kept", {
        error: (error as Error).message,
      });
    }
    cancel = clock.after(lookEveryMilliseconds, look);
  };
  let cancel = (): void => undefined;
  if (settings.encryptionProviderConfigAutomaticReload) cancel = clock.after(lookEveryMilliseconds, look);
  signal.addEventListener("abort", () => cancel(), { once: true });
  const start = storePrefix.length + 1;
  return (key) => {
    const [first = "", second = ""] = key.slice(start).split("/", 2);
    const id = places.get(`${first}/${second}`) ?? places.get(first);
    return (id && table(id)) ?? asTheyAre;
  };
}
