// Starts a whole server from settled flags: store, caches, credentials, pipeline, listener; and stops it again.
import { admissionChain } from "#admission";
import { openAudit } from "#audit";
import { AbortListeners, type Clock, type Log, createLog, systemClock } from "#base";
import type { Dialect } from "#dialect";
import { type Call, type PlainListener, type Reply, inject, listenPlain } from "#http";
import { type Gates, knownGates, resolveGates } from "#options";
import { type ServerObjects, resourceHandles, serverWriter, serviceWith } from "#registry";
import { apiServiceStrategy, definitionStrategy, serviceResolver } from "#extensions";
import type { Store } from "#store";
import { authorizersFor } from "./authorization/authorizers.ts";
import { claimDialect } from "./bootstrap/namespaces.ts";
import { aggregationController } from "./bootstrap/aggregation-controller.ts";
import { definitionController } from "./bootstrap/definition-controller.ts";
import {
  catalog,
  discovery,
  dynamicCatalog,
  isServed,
  openApi,
  recordedForm,
  router,
  servedApis,
  servesVersion,
  versionsSwitchedOn,
} from "#endpoints";
import { plainHandler } from "./debug/socket.ts";
import {
  type Edge,
  attributesOf,
  authorizeOrThrow,
  filterDurations,
  filters,
  logUnexpected,
  requestHandler,
} from "#filters";
import { measuredAllocator } from "./metrics/allocator-metrics.ts";
import { cacheMetrics } from "./metrics/cache-metrics.ts";
import { dataKeyMetrics } from "./metrics/encryption-metrics.ts";
import { aggregationMetrics, clientMetrics, discoveryMetrics } from "./metrics/extension-metrics.ts";
import { remoteStoreMetrics } from "./metrics/remote-store-metrics.ts";
import { storeMeasuring } from "./metrics/measured-store.ts";
import { workMetrics } from "./metrics/work-metrics.ts";
import { admissionMetrics } from "./metrics/admission-metrics.ts";
import { healthReply } from "./health/health.ts";
import { authenticationFor } from "./authentication/authenticators.ts";
import type { OwnCredentials } from "./library/credentials.ts";
import { background } from "./storage/background.ts";
import { healthChecks } from "./health/health-checks.ts";
import { startedChecks } from "./health/started-checks.ts";
import { postStartHooks } from "./bootstrap/post-start-hooks.ts";
import { openIdHandler } from "./authentication/openid.ts";
import { rootPaths } from "./serving/root-paths.ts";
import { noConfigs, readPluginConfigs } from "./admission/config-file.ts";
import { admissionPlugins } from "./admission/plugins.ts";
import { policyTypeChecks } from "./admission/policy-types.ts";
import { askingPlugins } from "./admission/webhooks.ts";
import { ownEndpoints } from "./bootstrap/own-endpoints.ts";
import { serviceAllocator } from "./services/service-allocator.ts";
import { type SecurePort, externalAddress, openSecurePort, publicAddress } from "./serving/secure-port.ts";
import { flowControlDumps, serverFlowControl } from "./serving/flow-control.ts";
import { readEgress } from "./serving/egress.ts";
import { configReloads } from "./serving/reloads.ts";
import { servingFor } from "./serving/serving.ts";
import { openTimeline, timelineGroups } from "./serving/timeline.ts";
import { readTracingConfiguration, serverTracing, slowTraceLog } from "./serving/tracing.ts";
import { auditSettings } from "./serving/audit-settings.ts";
import type { ApiserverSettings } from "./options/settings.ts";
import { virtualGroups } from "#virtual";
import { builtFrom } from "./built-from.ts";
import { cachedResources } from "./storage/caches.ts";
import { openEncryption } from "./storage/encryption.ts";
import { uncachedResources } from "./storage/uncached.ts";
import { openStoreFor } from "./storage/open-store.ts";
import { strategiesFor } from "./storage/strategies.ts";
import { openOverrides } from "./storage/overrides.ts";

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
  /** Resolves once the caches hold everything written before. */
  caughtUp(): Promise<void>;
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
  const serving = servingFor({
    dialect,
    settings,
    enabled: (gate) => gates.enabled(gate),
    gates: knownGates,
    clock,
    log,
    served: ({ target }) => isServed(served, target),
  });
  const { serviceClusterIpRange: ranges, serviceNodePortRange: ports } = settings;
  const allocator = measuredAllocator(serviceAllocator({ ranges, ports }), {
    metrics: serving.metrics,
    ranges,
    ports,
  });
  const services = serviceWith(allocator);
  const strategies = [
    ...strategiesFor(settings, gates, dialect).map((each) => (each.hub === services.hub ? services : each)),
    definitionStrategy(dialect),
    apiServiceStrategy(dialect),
  ];
  const tracingConfiguration =
    settings.tracingConfigFile === "" || !gates.enabled("APIServerTracing")
      ? undefined
      : readTracingConfiguration(settings.tracingConfigFile, dialect, (field) =>
          log.warn("the tracing configuration has a field that is not known; it is ignored", { field }),
        );
  const egress = readEgress(settings.egressSelectorConfigFile, dialect);
  const reloads = configReloads({ clock, log, metrics: serving.metrics, signal: closing.signal });
  const dataKeys = dataKeyMetrics(serving.metrics);
  options.onPhase?.("opening the store");
  const storePrefix = settings.storePrefix.replace(/\/$/, "");
  const encryption =
    settings.encryptionProviderConfig === ""
      ? undefined
      : openEncryption({
          file: settings.encryptionProviderConfig,
          reload: settings.encryptionProviderConfigAutomaticReload,
          dialect,
          strategies,
          storePrefix,
          clock,
          log,
          reloads,
          observer: dataKeys,
          signal: closing.signal,
        });
  const { storePatienceMilliseconds: patienceMilliseconds } = options;
  const remote = { patienceMilliseconds, dial: egress.etcd, ...remoteStoreMetrics(serving.metrics) };
  const storage = { settings, dialect, encryption, clock, log, ...remote };
  const measured = storeMeasuring(storePrefix, serving.metrics);
  const store = measured(await openStoreFor(storage, options.store));
  const overrides = await openOverrides({
    overrides: settings.storeServersOverrides,
    strategies,
    dialect,
    log,
    open: async (storeServers) =>
      measured(await openStoreFor({ ...storage, settings: { ...settings, storeServers } })),
  });
  await claimDialect(store, storePrefix, dialect);
  const onError = (message: string, fields: Record<string, unknown>): void => log.error(message, fields);
  const caches = cachedResources({
    dialect,
    store,
    storeOf: overrides.storeOf,
    storePrefix,
    storageMedia: settings.storageMediaType === dialect.wire.protobufMediaType ? "protobuf" : "json",
    strategies,
    clock,
    program: Object.values(builtFrom()).join(" "),
    uncached: uncachedResources(settings, strategies, dialect, log),
    onError,
  });
  cacheMetrics(serving.metrics, () => caches.resources);
  options.onPhase?.("loading objects");
  await caches.start();
  const registrySettings = {
    allowPrivileged: settings.allowPrivileged,
    eventTtlSeconds: settings.eventTtl / 1000,
    matchConditions: gates.enabled("AdmissionWebhookMatchConditions"),
    podResize: gates.enabled("InPlacePodVerticalScaling"),
    garbageCollection: settings.enableGarbageCollector,
  };
  const resources = resourceHandles(caches.resources);
  allocator.showUse(() => resources.services.listCached(""));
  const writer = serverWriter({ dialect, clock, settings: registrySettings });
  const server: ServerObjects = { dialect, clock, resources, writer, onError };
  const shared = settings.storeServers.some((address) => /^https?:/.test(address));
  const serviceObjects = resources.services.resource;
  const serviceReflector = caches.reflectorOf(serviceObjects);
  allocator.attach({
    services: serviceObjects,
    signal: closing.signal,
    refresh: async () => void (await serviceReflector.current()),
    reached: (revision) => serviceReflector.reached(revision),
    ...(shared && { shared: { store: serviceObjects.store, prefix: `${storePrefix}/promises/services/` } }),
  });
  const serviceSources = {
    service: (key: string) => resources.services.get(key),
    endpoints: (key: string) => resources.endpoints.get(key),
    toEndpoints: settings.enableAggregatorRouting,
    dial: egress.cluster,
  };
  const resolve = serviceResolver(serviceSources);
  const exchanged = clientMetrics(serving.metrics, log);
  const definitions = definitionController(server, caches, {
    store,
    storePrefix,
    cached: settings.watchCache,
    resolve,
    metrics: serving.metrics,
    exchanged,
  });
  await definitions.start();
  const flowControl =
    settings.enablePriorityAndFairness && gates.enabled("APIPriorityAndFairness")
      ? serverFlowControl({
          settings,
          resources: caches.resources,
          defined: definitions,
          clock,
          metrics: serving.metrics,
        })
      : undefined;
  const hooks = postStartHooks(server, { settings, gates, ownAddress: allocator.ownAddress, flowControl });
  const work = workMetrics(serving.metrics);
  for (const each of hooks) await each.start(work);
  const outside = { dial: egress.controlplane, cluster: egress.cluster, signal: closing.signal };
  const enabled = (gate: string): boolean => gates.enabled(gate);
  const access = authorizersFor(server, settings, { enabled, reloads }, outside);
  const { lifecycle } = serving;
  const observers = { metrics: serving.metrics, reloads };
  const identities = authenticationFor(server, settings, options.own, observers, outside);
  const { issuer, signing, verifying, objects, audiences, tokens } = identities;
  const configs = settings.admissionControlConfigFile
    ? readPluginConfigs(settings.admissionControlConfigFile, dialect)
    : noConfigs;
  const asking = askingPlugins(server, {
    configs,
    authorizer: access.authorizer,
    metrics: serving.metrics,
    exchanged,
    log,
    enabled: (gate) => gates.enabled(gate),
    catalog: () => served,
    egress,
  });
  const plugins = admissionPlugins(server, caches.resources, settings, access, asking, configs);
  const admission = admissionChain(plugins, admissionMetrics(serving.metrics));
  /** Everything that runs beside the requests has begun. */
  let started = false;
  const health = healthChecks({
    dialect,
    clock,
    log,
    lifecycle,
    probe: () => Promise.all([store, ...overrides.stores].map((each) => each.progress())),
    healthTimeoutMilliseconds: settings.storeHealthcheckTimeout,
    readyTimeoutMilliseconds: settings.storeReadycheckTimeout,
    liveGraceMilliseconds: settings.livezGracePeriod,
    startUp: [
      ...hooks.map(({ check }) => check),
      ...startedChecks(dialect, {
        aggregation: () => aggregation.registered(),
        definitions: () => definitions.loaded(),
        admission: () => caches.ready(),
        counting: () => started,
        leaseCollector: () => started,
        ...(settings.encryptionProviderConfigAutomaticReload && { encryptionReload: () => started }),
        ...(settings.proxyClientCertFile && { proxyCertificate: () => aggregation.registered() }),
      }),
    ],
    caughtUp: () => caches.ready(),
    encryption: encryption?.checks ?? [],
    refusedFiles: () => reloads.refused(),
  });
  const virtual = virtualGroups(server, {
    admission,
    authorizer: access.authorizer,
    explainer: access.explainer,
    tokens,
    issuing: {
      issuer,
      signing,
      objects,
      audiences,
      maximumSeconds: settings.serviceAccountMaxTokenExpiration / 1000,
      extend: settings.serviceAccountExtendTokenExpiration,
    },
    agents: {
      authorities: settings.nodeagentCertificateAuthority,
      certificate: settings.nodeagentClientCertificate,
      key: settings.nodeagentClientKey,
      addressTypes: settings.nodeagentPreferredAddressTypes,
      timeoutMilliseconds: settings.nodeagentTimeout,
      dial: egress.cluster,
    },
    storeHealth: () => store.read({ prefix: storePrefix, limit: 1 }),
    stopping: closing.signal,
  });
  const special = [...virtual, ...timelineGroups(settings.runtimeConfig, (call) => timeline.answer(call))];
  const builtIn = catalog(caches.resources, special, dialect, servedApis(settings.runtimeConfig, dialect));
  const aggregation = aggregationController(server, caches.resources, {
    settings,
    builtIn,
    definitions,
    resolve: serviceResolver({ ...serviceSources, needsEndpoints: true }),
    metrics: serving.metrics,
    stopping: closing.signal,
  });
  await aggregation.start();
  aggregationMetrics(serving.metrics, () => aggregation.availability());
  const served = dynamicCatalog(builtIn, definitions, aggregation);
  for (const version of versionsSwitchedOn(settings.runtimeConfig).filter(
    (each) => !servesVersion(builtIn, each),
  ))
    log.warn("--runtime-config switches on an API without resources; it is not served", { version });
  const { authorizer, explainer } = access;
  const external = externalAddress(settings);
  const { metrics } = serving;
  const { signal } = closing;
  const common = { dialect, store, resources: caches.resources, settings, clock, log, metrics, signal };
  const timeline = await openTimeline({ ...common, definitions, authorizer, given: options.store });
  const opened = openAudit({
    settings: auditSettings(settings),
    dialect,
    clock,
    log,
    metrics: serving.metrics,
    dial: egress.controlplane,
    followed: reloads.followed,
  });
  const audit = timeline.observed(opened);
  const tracing =
    tracingConfiguration &&
    serverTracing({ configuration: tracingConfiguration, dialect, clock, log, metrics: serving.metrics });
  const handle = requestHandler(
    filters({
      dialect,
      clock,
      log,
      lifecycle,
      metrics: serving.requests,
      authenticator: identities.authenticator,
      authorizer,
      explainer,
      unexpected: logUnexpected(onError),
      streamBytesPerSecond: settings.maxConnectionBytesPerSec,
      strictTransportDirectives: settings.strictTransportSecurityDirectives,
      goawayChance: settings.goawayChance,
      requestTimeoutMilliseconds: settings.requestTimeout,
      corsAllowedOrigins: settings.corsAllowedOrigins,
      inFlight: {
        reading: settings.maxRequestsInflight,
        writing: settings.maxMutatingRequestsInflight,
      },
      ...(flowControl && { flowControl }),
      compress: gates.enabled("APIResponseCompression"),
      tracing,
      audit: audit && {
        audit,
        jsonOf: (reply, call) => recordedForm(reply, call, served, dialect),
      },
    }),
    router(
      served,
      {
        admission,
        clock,
        settings: registrySettings,
        gates: { watchList: gates.enabled("WatchList") },
        mayCreate: (call) => authorizeOrThrow(authorizer, { ...attributesOf(call), verb: "create" }),
        minRequestTimeoutSeconds: settings.minRequestTimeout,
        deleteCollectionWorkers: settings.deleteCollectionWorkers,
        closing: new AbortListeners(closing.signal),
        watchEvents: (group, version, kind) => serving.requests.watchEvents(group, version, kind),
        slow: slowTraceLog(log),
      },
      [
        (call) => aggregation.handle(call),
        discovery(served, dialect, {
          serverAddress: () => external,
          aggregated: discoveryMetrics(serving.metrics),
        }).handle,
        (call) => healthReply(health, call, serving.healthObserver),
        rootPaths(() => served, health, serving.shownPaths),
        openApi(() => served, dialect),
        openIdHandler({
          issuer,
          verifying,
          jwksUri: settings.serviceAccountJwksUri,
          externalAddress: external,
          onError,
        }),
        ...timeline.paths,
        ...serving.paths,
        ...(flowControl ? [flowControlDumps(flowControl)] : []),
      ],
    ),
    filterDurations(serving.metrics),
  );
  const running = Promise.all([
    timeline.start(),
    background({ ...common, otherStores: overrides.stores }),
    ...hooks.map((each) => each.keep(clock, signal, work)),
    policyTypeChecks(server, plugins, served)?.(signal),
    definitions.run(signal),
    aggregation.run(signal),
    flowControl?.run(signal),
    ...(settings.endpointReconcilerType === "none"
      ? []
      : [
          ownEndpoints({
            server,
            store,
            storePrefix,
            clock,
            address: publicAddress(settings),
            port: settings.securePort,
            shared,
          }).keep(signal),
        ]),
  ]);
  started = true;
  let port: SecurePort | undefined;
  let debugSocket: PlainListener | undefined;
  const close = async (): Promise<void> => {
    closing.abort();
    serving.stop();
    await Promise.all([port?.listener.close(), debugSocket?.close()]);
    await running;
    await timeline.stop();
    await caches.stop();
    await audit?.sink.close();
    await tracing?.close();
    await Promise.all(overrides.stores.map((each) => each.close()));
    if (!options.store) await store.close();
  };
  if (options.listen !== false) {
    options.onPhase?.("opening the secure port");
    const { own } = options;
    try {
      port = await openSecurePort({
        ...common,
        handle,
        reloads,
        login: identities.login,
        onPageOpen: timeline.opened,
        audit,
        ...(own && { pair: () => own.servingPair(clock.now()) }),
      });
      if (settings.debugSocketPath)
        debugSocket = await listenPlain({
          path: settings.debugSocketPath,
          handle: plainHandler(serving.debugPaths),
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
    handle,
    inject: (request) =>
      inject(handle, { trusted: { name: "system:admin", groups: ["system:masters"] }, ...request }),
    caughtUp: () => caches.current(),
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
