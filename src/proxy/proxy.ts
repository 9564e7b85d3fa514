// Syncs the node's packet filter with Services and EndpointSlices: changes during a write are batched and
// written with the next one.
import type { Clock, Log, Metrics } from "#base";
import { kinds } from "#client";
import type { ClusterView } from "#controllerkit";
import type { Dialect } from "#dialect";
import { type Gates, defaultGates } from "#options";
import { type HealthPort, healthPorts } from "./health-ports.ts";
import { type PacketFilter, type RunCommand, runCommand } from "./packet-filter.ts";
import { podRoutes, syncRoutes } from "./pod-routes.ts";
import { proxyMetrics } from "./proxy-metrics.ts";
import { type SeenService, type ServicePort, servicePorts } from "./service-ports.ts";
import { flowCleaner, staleFlows } from "./stale-flows.ts";

export interface ProxySettings {
  readonly nodeName: string;
  /** Minimum interval between two writes. */
  readonly minSyncMilliseconds: number;
  /** Interval of checks whether the written rules are still in place. */
  readonly syncMilliseconds: number;
  /** Whether routes to the pods of other nodes are maintained. */
  readonly podRoutes: boolean;
}

export interface ProxyOptions {
  readonly view: ClusterView;
  readonly dialect: Dialect;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly signal: AbortSignal;
  readonly filter: PacketFilter;
  readonly settings: ProxySettings;
  readonly gates?: Gates;
  readonly run?: RunCommand;
  /** Called after every write with the number of services in the packet filter. */
  readonly onWrite?: (services: number) => void;
}

const initialBackoff = 500;
const maxBackoff = 30_000;

/** Runs the proxy until the signal aborts; written rules are kept, so that connections survive a restart. */
export async function runProxy(options: ProxyOptions): Promise<void> {
  const { dialect, clock, log, signal, filter, settings, gates = defaultGates, run = runCommand } = options;
  const { labels, annotations } = dialect.names;
  const view = options.view.scoped();
  const metrics = proxyMetrics(options.metrics, dialect.data.componentPrefix);
  const ports = new Map<string, readonly ServicePort[]>();
  const dirty = new Set<string>();
  let routesDirty = settings.podRoutes;
  let wake = Promise.withResolvers<void>();
  const markDirty = (key: string): void => {
    dirty.add(key);
    wake.resolve();
  };
  const keyOf = (namespace = "", name = ""): string => `${namespace}/${name}`;
  const isHandled = (given: Record<string, string> | undefined): boolean =>
    given?.[labels.serviceProxyName] === undefined && given?.[labels.headlessService] === undefined;
  const services = view.follow(kinds.services, ({ object: { metadata } }) =>
    markDirty(keyOf(metadata.namespace, metadata.name)),
  );
  const slices = view.follow(kinds.endpointSlices, ({ object: { metadata } }) =>
    markDirty(keyOf(metadata.namespace, metadata.labels?.[labels.serviceName])),
  );
  const slicesOf = slices.index("service", ({ metadata }) => [
    keyOf(metadata.namespace, metadata.labels?.[labels.serviceName]),
  ]);
  const nodes = view.follow(
    kinds.nodes,
    (event) => {
      routesDirty ||= settings.podRoutes;
      wake.resolve();
      const { metadata } = event.object;
      const zone = metadata.labels?.[labels.zone];
      if (metadata.name !== settings.nodeName) return;
      if (event.type === "updated" && event.old.metadata.labels?.[labels.zone] === zone) return;
      for (const service of services.items())
        markDirty(keyOf(service.metadata.namespace, service.metadata.name));
    },
    settings.podRoutes ? {} : { fieldSelector: `metadata.name=${settings.nodeName}` },
  );
  const health = healthPorts(log);
  const cleanFlows = flowCleaner(run, log);
  const aborted = new Promise<void>((resolve) =>
    signal.addEventListener("abort", () => resolve(), { once: true }),
  );
  await view.synced().catch(() => undefined);
  let all: readonly ServicePort[] = [];
  let needsFullWrite = true;
  for (let failures = 0; !signal.aborted;) {
    const startedAt = clock.monotonic();
    try {
      await sync();
      failures = 0;
    } catch (error) {
      failures += 1;
      needsFullWrite = true;
      log.error("writing the packet filter failed; it will be retried", { error: (error as Error).message });
      metrics.failed();
    }
    const delay =
      failures > 0
        ? Math.min(maxBackoff, initialBackoff * 2 ** (failures - 1))
        : Math.max(0, settings.minSyncMilliseconds - (clock.monotonic() - startedAt));
    if (delay > 0) await clock.sleep(delay, signal).catch(() => undefined);
    if (failures === 0 && dirty.size === 0 && !routesDirty) await waitForChange();
  }
  health.close();

  /** Waits for a change, or until a check finds that the rules were removed. */
  async function waitForChange(): Promise<void> {
    wake = Promise.withResolvers();
    if (dirty.size > 0 || routesDirty) return;
    const due = Promise.withResolvers<"check">();
    const cancel = clock.after(settings.syncMilliseconds, () => due.resolve("check"));
    const reason = await Promise.race([wake.promise, aborted, due.promise]);
    cancel();
    if (reason === "check" && !(await filter.isIntact())) {
      log.warn("service rules were removed by another program; rewriting them");
      needsFullWrite = true;
      dirty.add("");
    }
  }

  async function sync(): Promise<void> {
    if (routesDirty) {
      routesDirty = false;
      for (const problem of await syncRoutes(podRoutes(nodes.items(), settings.nodeName), run))
        log.warn("setting a route to a node's pods failed", { problem });
    }
    if (dirty.size === 0 && !needsFullWrite) return;
    const startedAt = clock.monotonic();
    const changed = [...dirty];
    dirty.clear();
    const node = {
      name: settings.nodeName,
      zone: nodes.get(undefined, settings.nodeName)?.metadata.labels?.[labels.zone],
    };
    const rules = {
      hintAnnotations: gates.enabled("TopologyAwareHints")
        ? [annotations.topologyHints, annotations.topologyMode]
        : [],
      usesTerminating: gates.enabled("ProxyTerminatingEndpoints"),
    };
    for (const key of changed) {
      const at = key.indexOf("/");
      const service = services.get(key.slice(0, at), key.slice(at + 1));
      const wanted =
        service && isHandled(service.metadata.labels)
          ? servicePorts(service, slicesOf(key), node, rules)
          : [];
      if (wanted.length > 0) ports.set(key, wanted);
      else ports.delete(key);
    }
    const next = [...ports]
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .flatMap(([, each]) => each)
      .filter(({ family }) => filter.families.includes(family));
    try {
      const bytes = await filter.write(next);
      needsFullWrite = false;
      const milliseconds = clock.monotonic() - startedAt;
      metrics.written(milliseconds / 1000, bytes, ports.size, next.length);
      log.verbose(1, "services written", { changed: changed.length, bytes, milliseconds });
    } catch (error) {
      for (const key of changed) dirty.add(key);
      throw error;
    }
    health.sync([...ports].flatMap(([key, each]) => healthPortOf(key, each)));
    const before = all;
    all = next;
    // The first write also deletes the flows of backends that were removed while no proxy ran.
    await cleanFlows(staleFlows(before, next));
    options.onWrite?.(ports.size);
  }

  function healthPortOf(key: string, each: readonly ServicePort[]): HealthPort[] {
    const at = key.indexOf("/");
    const service: SeenService | undefined = services.get(key.slice(0, at), key.slice(at + 1));
    const port = service?.spec.healthCheckNodePort ?? 0;
    if (!service || port === 0 || service.spec.externalTrafficPolicy !== "Local") return [];
    // Endpoints that only serve while terminating must not attract new connections.
    const local = new Set(each.flatMap(({ readyLocalAddresses }) => readyLocalAddresses));
    return [
      {
        namespace: service.metadata.namespace!,
        name: service.metadata.name!,
        port,
        localEndpoints: local.size,
      },
    ];
  }
}
