// The storage of a server: the main store and the stores of individual resources, encrypted if configured,
// and the caches of all resources over them.
import { type Clock, type Log, type Metrics, builtFrom } from "#base";
import type { Dialect } from "#dialect";
import type { Dial, GrpcObserver } from "#http";
import type { Strategy } from "#registry";
import type { Store } from "#store";
import { claimDialect } from "../bootstrap/namespaces.ts";
import { cacheMetrics } from "../metrics/cache-metrics.ts";
import { dataKeyMetrics, encryptionMetrics } from "../metrics/encryption-metrics.ts";
import { storeMeasuring } from "../metrics/measured-store.ts";
import { remoteStoreMetrics } from "../metrics/remote-store-metrics.ts";
import type { ApiserverSettings } from "../options/settings.ts";
import type { Opened } from "../serving/opened.ts";
import type { Reloads } from "../serving/reloads.ts";
import { type Caches, cachedResources } from "./caches.ts";
import { type Encryption, openEncryption } from "./encryption.ts";
import { openStoreFor } from "./open-store.ts";
import { openOverrides } from "./overrides.ts";
import { uncachedResources } from "./uncached.ts";

export interface StorageOptions {
  readonly dialect: Dialect;
  readonly settings: ApiserverSettings;
  readonly strategies: readonly Strategy[];
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  /** Whether KMS v2 providers are allowed. */
  readonly kmsV2: boolean;
  /** Observes calls to a remote store. */
  readonly followCall?: GrpcObserver["follow"];
  readonly reloads: Reloads;
  /** Dials the remote store; it is connected to directly if absent. */
  readonly dial: Dial | undefined;
  /** Opened by the caller, who also closes it. */
  readonly given: Store | undefined;
  readonly waitMilliseconds: number | undefined;
  readonly onPhase: ((phase: string) => void) | undefined;
  readonly onError: (message: string, fields: Record<string, unknown>) => void;
  /** Receives what is opened here. */
  readonly opened: Opened;
}

export interface Storage {
  readonly store: Store;
  /** Stores of individual resources. */
  readonly otherStores: readonly Store[];
  /** The common prefix of all keys. */
  readonly prefix: string;
  readonly caches: Caches;
  readonly encryption: Encryption | undefined;
  /** Whether other servers may write to the same store. */
  readonly shared: boolean;
}

/** Opens the storage; resolves once the caches are filled. */
export async function openStorage(options: StorageOptions): Promise<Storage> {
  const { dialect, settings, strategies, clock, log, metrics, given, onError, opened } = options;
  options.onPhase?.("opening the store");
  const prefix = settings.storePrefix;
  const encryption = encryptionFor(options, prefix);
  const { dial, waitMilliseconds } = options;
  const remote = {
    patienceMilliseconds: waitMilliseconds,
    dial,
    ...remoteStoreMetrics(metrics, options.followCall),
  };
  const opening = { settings, dialect, encryption, clock, log, ...remote };
  const measured = storeMeasuring(prefix, metrics);
  const store = measured(await openStoreFor(opening, given));
  if (!given) opened.add(() => store.close());
  const overrides = await openOverrides({
    overrides: settings.storeServersOverrides,
    strategies,
    dialect,
    log,
    open: async (storeServers) =>
      measured(await openStoreFor({ ...opening, settings: { ...settings, storeServers } })),
  });
  opened.add(() => Promise.all(overrides.stores.map((each) => each.close())));
  await claimDialect(store, prefix, dialect);
  const caches = cachedResources({
    dialect,
    store,
    storeOf: overrides.storeOf,
    storePrefix: prefix,
    storageMedia: settings.storageMediaType === dialect.wire.protobufMediaType ? "protobuf" : "json",
    strategies,
    clock,
    // The releases are included because they determine which fields objects and the rules of definitions have.
    program: [...Object.values(builtFrom()), settings.release, settings.expressionRelease].join(" "),
    uncached: uncachedResources(settings, strategies, dialect, log),
    onError,
  });
  cacheMetrics(metrics, () => caches.resources);
  opened.add(() => caches.stop());
  options.onPhase?.("loading objects");
  await caches.start();
  return {
    store,
    otherStores: overrides.stores,
    prefix,
    caches,
    encryption,
    shared: settings.storeServers.some((address) => /^https?:/.test(address)),
  };
}

function encryptionFor(options: StorageOptions, storePrefix: string): Encryption | undefined {
  const { dialect, settings, strategies, clock, log, metrics, reloads, opened } = options;
  const observer = {
    ...dataKeyMetrics(metrics, clock),
    ...encryptionMetrics(metrics, { clock, marker: dialect.names.encryptionMarkers[0] }),
  };
  if (settings.encryptionProviderConfig === "") return undefined;
  return openEncryption({
    file: settings.encryptionProviderConfig,
    reload: settings.encryptionProviderConfigAutomaticReload,
    kmsV2: options.kmsV2,
    dialect,
    strategies,
    storePrefix,
    clock,
    log,
    reloads,
    observer,
    signal: opened.signal,
  });
}
