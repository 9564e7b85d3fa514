// Starts a whole server from settled flags: store, caches, credentials, pipeline, listener; and stops it
// again.
import { type Clock, type Log, createLog, systemClock } from "#base";
import { type Dialect, type DialectName, dialectNamed } from "#dialect";
import { type Call, type PlainListener, type Reply, inject, listenPlain } from "#http";
import { type Gates, knownGates, resolveGates } from "#options";
import { builtInStrategies, serviceWith } from "#registry";
import type { Store } from "#store";
import { isServed } from "./catalog.ts";
import { accessFor } from "./access.ts";
import type { ApiCall } from "./api-call.ts";
import { claimDialect } from "./bootstrap.ts";
import { plainHandler } from "./debug/socket.ts";
import { identitiesFor } from "./identity.ts";
import type { OwnCredentials } from "./library/credentials.ts";
import { background } from "./lifecycle/background.ts";
import { healthChecks } from "./lifecycle/health-checks.ts";
import type { Edge } from "./lifecycle/lifecycle.ts";
import { postStartHooks } from "./lifecycle/upkeeps.ts";
import { openApi } from "./openapi/handler.ts";
import { rootPaths } from "./paths.ts";
import { admissionPlugins } from "./plugins.ts";
import { type Core, buildCore, buildFront } from "./server.ts";
import { openIdHandler } from "./service-account-tokens.ts";
import { type SecurePort, externalAddress, openSecurePort, publicAddress } from "./serving/secure-port.ts";
import { servedApis } from "./serving/served-apis.ts";
import { servingFor } from "./serving/serving.ts";
import { freshServices } from "./services/fresh-services.ts";
import { ownEndpoints } from "./services/own-endpoints.ts";
import { serviceAllocator } from "./services/service-pool.ts";
import { type ApiserverSettings, settleFlags } from "./settings-of.ts";
import { virtualGroups } from "./specials.ts";
import { openStoreFor } from "./storage/open-store.ts";

export interface StartOptions {
  readonly dialect: Dialect;
  readonly settings: ApiserverSettings;
  /** Settled along with them; otherwise worked out from them. */
  readonly gates?: Gates;
  /** Opened by the caller; otherwise made from the settings. */
  readonly store?: Store;
  readonly clock?: Clock;
  readonly log?: Log;
  /** False serves in process only. */
  readonly listen?: boolean;
  /** Credentials kept in memory, used where the settings name no files. */
  readonly own?: OwnCredentials;
  /** How long a store elsewhere is waited for; a minute unless said. */
  readonly storePatienceMilliseconds?: number;
  /** Progress for an operator who waits. */
  readonly onPhase?: (phase: string) => void;
}

export interface StartedServer {
  readonly url: string;
  readonly handle: (call: Call) => Promise<Reply>;
  readonly inject: (request: Parameters<typeof inject>[1]) => ReturnType<typeof inject>;
  readonly core: Core;
  readonly certificate: string | undefined;
  /** As the settings say: readiness fails at once, the delay passes, requests drain, then the rest is cut. */
  shutDown(): Promise<void>;
  /** As fast as requests in flight allow; watches end at once. */
  stop(): Promise<void>;
}

export async function start(options: StartOptions): Promise<StartedServer> {
  const { dialect, settings } = options;
  const clock = options.clock ?? systemClock;
  const log = options.log ?? createLog();
  const closing = new AbortController();
  const gates = options.gates ?? resolveGates(knownGates, settings.featureGates);
  const allocator = serviceAllocator({
    ranges: settings.serviceClusterIpRange,
    ports: settings.serviceNodePortRange,
  });
  const services = serviceWith(allocator);
  const strategies = builtInStrategies.map((each) => (each.hub === services.hub ? services : each));
  options.onPhase?.("opening the store");
  const storePrefix = settings.storePrefix.replace(/\/$/, "");
  const store = await openStoreFor(
    {
      settings,
      dialect,
      strategies,
      storePrefix,
      clock,
      log,
      patienceMilliseconds: options.storePatienceMilliseconds,
      signal: closing.signal,
    },
    options.store,
  );
  await claimDialect(store, storePrefix, dialect);
  const core = buildCore({
    dialect,
    store,
    storePrefix,
    storageMedia: settings.storageMediaType === dialect.wire.protobufMediaType ? "protobuf" : "json",
    strategies,
    settings: { allowPrivileged: settings.allowPrivileged, eventTtlSeconds: settings.eventTtl / 1000 },
    clock,
    uncached: settings.watchCache
      ? new Set(settings.watchCacheSizes.filter(({ size }) => size === 0).map(({ resource }) => resource))
      : "all",
    minRequestTimeoutSeconds: settings.minRequestTimeout,
    deleteCollectionWorkers: settings.deleteCollectionWorkers,
    watchList: gates.enabled("WatchList"),
    onError: (message, fields) => log.error(message, fields),
  });
  options.onPhase?.("loading objects");
  await core.start();
  const shared = settings.storeServers.some((server) => /^https?:/.test(server));
  allocator.attach({
    services: core.resources.get("/services")!,
    signal: closing.signal,
    reached: (revision) => core.feed.reached(revision),
    ...(shared && { shared: { store, prefix: `${storePrefix}/promises/services/` } }),
  });
  const hooks = postStartHooks(core, { settings, gates, ownAddress: allocator.ownAddress });
  for (const each of hooks) await each.start();
  const access = accessFor(core, settings);
  const served = ({ target }: ApiCall): boolean => isServed(front.catalog, target);
  const serving = servingFor({
    dialect,
    settings,
    enabled: (gate) => gates.enabled(gate),
    clock,
    log,
    served,
  });
  const { lifecycle } = serving;
  const identities = identitiesFor(core, settings, options.own, serving.metrics, closing.signal);
  const plugins = [freshServices(core), ...admissionPlugins(core, settings, access)];
  const health = healthChecks({
    dialect,
    clock,
    log,
    lifecycle,
    probe: () => store.progress(),
    healthTimeoutMilliseconds: settings.storeHealthcheckTimeout,
    readyTimeoutMilliseconds: settings.storeReadycheckTimeout,
    liveGraceMilliseconds: settings.livezGracePeriod,
    startUp: hooks.map(({ check }) => check),
    caughtUp: () => core.feed.ready(),
  });
  const front = buildFront(core, {
    authenticator: identities.authenticator,
    authorizer: access.authorizer,
    plugins,
    specials: virtualGroups(core, {
      plugins,
      authorizer: access.authorizer,
      identities,
      settings,
      stopping: closing.signal,
    }),
    paths: [
      rootPaths(() => front.catalog, health, serving.shownPaths),
      openApi(() => front.catalog, dialect),
      openIdHandler(
        identities,
        settings.serviceAccountJwksUri,
        externalAddress(settings),
        core.options.onError,
      ),
      ...serving.paths,
    ],
    health,
    healthObserver: serving.healthObserver,
    steps: serving.steps,
    serves: servedApis(settings.runtimeConfig, dialect),
    watchEvents: (group, version, kind) => serving.requests.watchEvents(group, version, kind),
    serverAddress: () => externalAddress(settings),
    closing: closing.signal,
  });
  const running = Promise.all([
    background({ core, settings, clock, log, metrics: serving.metrics, signal: closing.signal }),
    ...hooks.map((each) => each.keep(clock, closing.signal)),
    ...(settings.endpointReconcilerType === "none"
      ? []
      : [
          ownEndpoints({
            core,
            clock,
            address: publicAddress(settings),
            port: settings.securePort,
            shared,
          }).keep(closing.signal),
        ]),
  ]);
  let port: SecurePort | undefined;
  let debugSocket: PlainListener | undefined;
  const close = async (): Promise<void> => {
    closing.abort();
    serving.stop();
    await Promise.all([port?.listener.close(), debugSocket?.close()]);
    await running;
    await core.stop();
    if (!options.store) await store.close();
  };
  if (options.listen !== false) {
    options.onPhase?.("opening the secure port");
    const { own } = options;
    try {
      port = await openSecurePort({
        settings,
        clock,
        log,
        handle: front.handle,
        signal: closing.signal,
        ...(own && { pair: () => own.servingPair(clock.now()) }),
      });
      if (settings.debugSocketPath)
        debugSocket = await listenPlain({
          path: settings.debugSocketPath,
          handle: plainHandler(serving.profiling),
          now: () => clock.now(),
        });
    } catch (error) {
      // A server that cannot listen leaves nothing running behind.
      await close();
      throw error;
    }
  }
  const edge: Edge = port?.listener ?? { drain: () => undefined, connections: () => 0 };
  return {
    url: port?.url ?? "",
    handle: front.handle,
    inject: (request) =>
      inject(front.handle, { trusted: { name: "system:admin", groups: ["system:masters"] }, ...request }),
    core,
    certificate: port?.certificate,
    shutDown: async () => {
      await lifecycle.shutDown(edge);
      await close();
    },
    stop: async () => {
      await lifecycle.stopSoon(edge);
      await close();
    },
  };
}

export { dialectNamed, settleFlags };
export type { DialectName };
