// Starts a whole server from resolved settings (store, caches, credentials, handler chain, listener), and
// stops it again.
import { type WebhookExchange, admissionChain } from "#admission";
import { gatedFields } from "#api";
import { openAudit } from "#audit";
import { type Clock, type Log, createLog, minorOf, systemClock } from "#base";
import type { Dialect } from "#dialect";
import { type Call, type PlainListener, type Reply, inject, listenPlain } from "#http";
import { type Gates, gatesIn, resolveGates } from "#options";
import { type ServerObjects, resourceHandles, serverWriter, serviceWith } from "#registry";
import { apiServiceStrategy, serviceResolver } from "#extensions";
import type { Store } from "#store";
import { ActiveSpan } from "#tracing";
import { authorizersFor } from "./authorization/authorizers.ts";
import { aggregationController } from "./bootstrap/aggregation-controller.ts";
import { definitionController } from "./bootstrap/definition-controller.ts";
import { catalog, dynamicCatalog, isServed, servedApis, servesVersion, versionsSwitchedOn } from "#endpoints";
import { plainHandler } from "./debug/socket.ts";
import type { Edge } from "#filters";
import { measuredAllocator } from "./metrics/allocator-metrics.ts";
import { aggregationMetrics } from "./metrics/aggregation-metrics.ts";
import { egressMetrics } from "./metrics/egress-metrics.ts";
import { clientMetrics } from "./metrics/extension-metrics.ts";
import { podLogMetrics } from "./metrics/pod-log-metrics.ts";
import { workMetrics } from "./metrics/work-metrics.ts";
import { admissionMetrics } from "./metrics/admission-metrics.ts";
import { authenticationFor } from "./authentication/authenticators.ts";
import type { OwnCredentials } from "./library/credentials.ts";
import { background } from "./storage/background.ts";
import { healthChecks, healthTimes } from "./health/health-checks.ts";
import { startedChecks } from "./health/started-checks.ts";
import { postStartHooks } from "./bootstrap/post-start-hooks.ts";
import { noConfigs, readPluginConfigs } from "./admission/config-file.ts";
import { admissionPlugins } from "./admission/plugins.ts";
import { policyTypeChecks } from "./admission/policy-types.ts";
import { dynamicAdmissionPlugins } from "./admission/webhooks.ts";
import { ownAddresses } from "./bootstrap/own-addresses.ts";
import { ownEndpoints } from "./bootstrap/own-endpoints.ts";
import { serviceAllocator } from "./services/service-allocator.ts";
import { type SecurePort, openSecurePort, publicAddress } from "./serving/secure-port.ts";
import { serverFlowControl } from "./serving/flow-control.ts";
import { readEgress } from "./serving/egress.ts";
import { listEventsInAdvance } from "./serving/event-lists.ts";
import { serverHandler } from "./serving/handler.ts";
import { outgoingLog } from "./serving/outgoing-log.ts";
import { configReloads } from "./serving/reloads.ts";
import { servingFor } from "./serving/serving.ts";
import { logGroups, logPlugins } from "./serving/start-log.ts";
import { Opened } from "./serving/opened.ts";
import { openTimeline, timelineGroups } from "./serving/timeline.ts";
import { storeCallSpans } from "./serving/store-call-spans.ts";
import { readTracingConfiguration, serverTracing } from "./serving/tracing.ts";
import { auditSettings } from "./serving/audit-settings.ts";
import type { ApiserverSettings } from "./options/settings.ts";
import { virtualGroups } from "#virtual";
import { registrySettingsFor } from "./storage/registry-settings.ts";
import { openStorage } from "./storage/storage.ts";
import { definitionGates, strategiesFor } from "./storage/strategies.ts";
import { serverGates } from "./options/server-gates.ts";

export interface StartOptions {
  readonly dialect: Dialect;
  readonly settings: ApiserverSettings;
  /** Feature gates resolved along with the settings; derived from them if undefined. */
  readonly gates?: Gates;
  /** A store opened by the caller; opened from the settings if undefined. */
  readonly store?: Store;
  readonly clock?: Clock;
  readonly log?: Log;
  /** False serves in-process requests only. */
  readonly listen?: boolean;
  /** In-memory credentials, used if the settings name no files. */
  readonly own?: OwnCredentials;
  /** How long to wait for a remote store; one minute by default. */
  readonly storeWaitMilliseconds?: number;
  /** Receives progress messages for an operator who waits for the start. */
  readonly onPhase?: (phase: string) => void;
}

export interface StartedServer {
  readonly url: string;
  readonly handle: (call: Call) => Promise<Reply>;
  readonly inject: (request: Parameters<typeof inject>[1]) => ReturnType<typeof inject>;
  /** Resolves once the caches hold everything written before the call. */
  caughtUp(): Promise<void>;
  readonly certificate: string | undefined;
  /**
   * Shuts down as configured: readiness fails at once, the delay passes, requests drain, then remaining
   * connections are closed.
   */
  shutDown(): Promise<void>;
  /** Stops as soon as the requests in flight are done; watches end at once. */
  stop(): Promise<void>;
}

export async function start(options: StartOptions): Promise<StartedServer> {
  const opened = new Opened();
  try {
    return await startWith(options, opened);
  } catch (error) {
    await opened.close();
    throw error;
  }
}

async function startWith(options: StartOptions, opened: Opened): Promise<StartedServer> {
  const { dialect, settings } = options;
  const clock = options.clock ?? systemClock;
  const log = options.log ?? createLog();
  const release = minorOf(settings.release);
  const gates = options.gates ?? resolveGates(serverGates, settings.featureGates, release);
  const serving = servingFor({
    dialect,
    settings,
    enabled: (gate) => gates.enabled(gate),
    gates: gatesIn(serverGates, release),
    clock,
    log,
    served: ({ target }) => isServed(served, target),
  });
  opened.add(() => serving.stop());
  const { serviceClusterIpRange: ranges, serviceNodePortRange: ports } = settings;
  const allocator = measuredAllocator(
    serviceAllocator({
      ranges,
      ports,
      keepsStaticPorts: gates.enabled("ServiceNodePortStaticSubrange"),
    }),
    {
      metrics: serving.metrics,
      ranges,
      ports,
    },
  );
  const expressionRelease = minorOf(settings.expressionRelease);
  const strategies = [
    ...strategiesFor(settings, gates, dialect, serviceWith(allocator)),
    apiServiceStrategy(dialect),
  ];
  const tracingConfiguration =
    settings.tracingConfigFile === "" || !gates.enabled("APIServerTracing")
      ? undefined
      : readTracingConfiguration(settings.tracingConfigFile, dialect, (field) =>
          log.warn("an unknown field of the tracing configuration is ignored", { field }),
        );
  const activeSpan = tracingConfiguration && new ActiveSpan();
  const egress = readEgress(settings.egressSelectorConfigFile, dialect, egressMetrics(serving.metrics));
  const reloads = configReloads({ clock, log, metrics: serving.metrics, signal: opened.signal });
  const onError = (message: string, fields: Record<string, unknown>): void => log.error(message, fields);
  const storage = await openStorage({
    dialect,
    settings,
    strategies,
    clock,
    log,
    metrics: serving.metrics,
    kmsV2: gates.enabled("KMSv2"),
    followCall: activeSpan && storeCallSpans(activeSpan),
    reloads,
    dial: egress.etcd,
    given: options.store,
    waitMilliseconds: options.storeWaitMilliseconds,
    onPhase: options.onPhase,
    onError,
    opened,
  });
  const { store, prefix: storePrefix, caches, encryption, shared, otherStores } = storage;
  const registrySettings = registrySettingsFor(settings, gates, dialect, serving.metrics);
  const resources = resourceHandles(caches.resources);
  allocator.showUse(() => resources.services.listCached(""));
  const writer = serverWriter({ dialect, clock, settings: registrySettings });
  const server: ServerObjects = { dialect, clock, resources, writer, onError };
  const serviceObjects = resources.services.resource;
  const serviceReflector = caches.reflectorOf(serviceObjects);
  allocator.attach({
    services: serviceObjects,
    signal: opened.signal,
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
  const countExchange = clientMetrics(serving.metrics);
  const logExchange = outgoingLog(log);
  const onExchange = (exchange: WebhookExchange): void => {
    countExchange(exchange);
    logExchange(exchange);
  };
  const definitions = definitionController(server, caches, {
    store,
    storePrefix,
    cached: settings.watchCache,
    gates: definitionGates(gates),
    expressionRelease,
    resolve,
    metrics: serving.metrics,
    onExchange,
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
  const outbound = { dial: egress.controlplane, cluster: egress.cluster, signal: opened.signal };
  const enabled = (gate: string): boolean => gates.enabled(gate);
  const access = authorizersFor(server, settings, { enabled, reloads, log }, outbound);
  const { lifecycle } = serving;
  const observers = {
    metrics: serving.metrics,
    reloads,
    tracksTokens: gates.enabled("LegacyServiceAccountTokenTracking"),
    refusesMarked: gates.enabled("LegacyServiceAccountTokenCleanUp"),
    tokenFeatures: {
      ids: gates.enabled("ServiceAccountTokenJTI"),
      podNodes: gates.enabled("ServiceAccountTokenPodNodeInfo"),
      nodeBinding: gates.enabled("ServiceAccountTokenNodeBinding"),
      nodeBindingValidation: gates.enabled("ServiceAccountTokenNodeBindingValidation"),
    },
  };
  const identities = authenticationFor(server, settings, options.own, observers, outbound);
  const { issuer, signing, objects, audiences, tokens } = identities;
  const configs = settings.admissionControlConfigFile
    ? readPluginConfigs(settings.admissionControlConfigFile, dialect)
    : noConfigs;
  const dynamicPlugins = dynamicAdmissionPlugins(server, {
    configs,
    authorizer: access.authorizer,
    metrics: serving.metrics,
    onExchange,
    log,
    enabled: (gate) => gates.enabled(gate),
    catalog: () => served,
    expressionRelease,
    egress,
  });
  const plugins = admissionPlugins(server, caches.resources, {
    settings,
    gates,
    access,
    dynamicPlugins,
    configs,
  });
  logPlugins(log, plugins);
  const admission = admissionChain(plugins, admissionMetrics(serving.metrics));
  /** True once all background work has started. */
  let started = false;
  const health = healthChecks({
    dialect,
    clock,
    log,
    lifecycle,
    probe: () => Promise.all([store, ...otherStores].map((each) => each.progress())),
    ...healthTimes(settings),
    startUp: [
      ...hooks.map(({ check }) => check),
      ...startedChecks(dialect, {
        aggregation: () => aggregation.registered(),
        definitions: () => definitions.loaded(),
        admission: () => caches.ready(),
        counting: () => started,
        leaseCollector: () => started,
        ...(!flowControl && { plainLimits: () => started }),
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
    selfReviews: gates.enabled("APISelfSubjectReview"),
    release,
    reduced: gatedFields({ isOn: gates.enabled, expressionRelease }),
    issuing: {
      issuer,
      signing,
      objects,
      audiences,
      maximumSeconds: settings.serviceAccountMaxTokenExpiration / 1000,
      extend: settings.serviceAccountExtendTokenExpiration,
      features: observers.tokenFeatures,
    },
    agents: {
      authorities: settings.nodeagentCertificateAuthority,
      certificate: settings.nodeagentClientCertificate,
      key: settings.nodeagentClientKey,
      addressTypes: settings.nodeagentPreferredAddressTypes,
      timeoutMilliseconds: settings.nodeagentTimeout,
      defaultPort: settings.nodeagentPort,
      dial: egress.cluster,
      logs: podLogMetrics(serving.metrics),
    },
    storeHealth: () => store.read({ prefix: storePrefix, limit: 1 }),
    stopping: opened.signal,
  });
  const special = [...virtual, ...timelineGroups(settings.runtimeConfig, (call) => timeline.answer(call))];
  const builtIn = catalog(caches.resources, special, dialect, servedApis(settings.runtimeConfig, dialect));
  const aggregated = aggregationMetrics(serving.metrics);
  const aggregation = aggregationController(server, caches.resources, {
    settings,
    builtIn,
    definitions,
    resolve: serviceResolver({ ...serviceSources, needsEndpoints: true }),
    observer: {
      ...aggregated,
      rejected: (call) => serving.requests.terminated(call, 503, "aggregator"),
    },
    stopping: opened.signal,
  });
  await aggregation.start();
  aggregated.show(() => aggregation.availability());
  logGroups(log, builtIn);
  const served = dynamicCatalog(builtIn, definitions, aggregation);
  for (const version of versionsSwitchedOn(settings.runtimeConfig).filter(
    (each) => !servesVersion(builtIn, each),
  ))
    log.warn("--runtime-config switches on an API without resources; it is not served", { version });
  const { authorizer } = access;
  const { metrics } = serving;
  const { signal } = opened;
  const events = caches.resources.find(({ strategy }) => strategy.resource === "events")!;
  const common = { dialect, store, resources: caches.resources, settings, clock, log, metrics, signal };
  const timeline = await openTimeline({ ...common, definitions, authorizer, given: options.store });
  const auditBackends = openAudit({
    settings: auditSettings(settings),
    dialect,
    clock,
    log,
    metrics: serving.metrics,
    dial: egress.controlplane,
    watchFile: reloads.watchFile,
  });
  const audit = timeline.observed(auditBackends);
  const tracing =
    tracingConfiguration &&
    serverTracing({
      configuration: tracingConfiguration,
      dialect,
      clock,
      log,
      metrics: serving.metrics,
      active: activeSpan,
    });
  opened.add(
    () => tracing?.close(),
    () => audit?.sink.close(),
    () => timeline.stop(),
  );
  const { handle, handleOwn } = serverHandler({
    dialect,
    settings,
    registrySettings,
    gates,
    clock,
    log,
    serving,
    identities,
    access,
    admission,
    served,
    health,
    flowControl,
    tracing,
    audit,
    aggregation,
    aggregated,
    timelinePaths: timeline.paths,
    onError,
    signal,
  });
  const running = Promise.all([
    timeline.start(),
    listEventsInAdvance({ dialect, events, loaded: () => caches.current(), handle: handleOwn, signal }),
    background({ ...common, otherStores }),
    ...hooks.map((each) => each.run(clock, signal, work)),
    policyTypeChecks(server, plugins, served, expressionRelease)?.(signal),
    definitions.run(signal),
    aggregation.run(signal),
    flowControl?.run(signal),
    ...(settings.endpointReconcilerType === "none"
      ? []
      : [
          ownEndpoints({
            server,
            clock,
            address: publicAddress(settings),
            port: settings.securePort,
            addresses: ownAddresses(settings, store, storePrefix, shared),
          }).run(signal),
        ]),
  ]);
  started = true;
  let port: SecurePort | undefined;
  let debugSocket: PlainListener | undefined;
  opened.add(
    () => running,
    () => Promise.all([port?.listener.close(), debugSocket?.close()]),
  );
  if (options.listen !== false) {
    options.onPhase?.("opening the secure port");
    const { own } = options;
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
      await opened.close();
      log.verbose(1, "[graceful-termination] apiserver is exiting");
    },
    stop: async () => {
      await lifecycle.stopEmbedded(edge);
      await opened.close();
    },
  };
}
