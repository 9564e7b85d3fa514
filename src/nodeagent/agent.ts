// Assembles the node agent from its parts. The policies are in the parts.
import { type Clock, type Log, type Metrics, parseQuantity, quantityValue, systemClock } from "#base";
import type { ApiClient } from "#client";
import type { ContainerRuntime } from "#cri";
import type { Dialect } from "#dialect";
import { knownGates, resolveGates } from "#options";
import { listPodsOnce, followServices, joinCluster } from "./agent-cluster.ts";
import { contextFrom, reportResolver } from "./agent-context.ts";
import { credentialProvidersOf } from "./agent-credentials.ts";
import { devicesFrom } from "./agent-devices.ts";
import { evictionFrom } from "./agent-eviction.ts";
import { containerLogs, podLogs, prepareEnvironment } from "./agent-environment.ts";
import { type AgentLifecycle, agentLifecycle, waitAtMost } from "./agent-lifecycle.ts";
import { managersFrom } from "./agent-managers.ts";
import {
  manifestSources,
  nodeFrom,
  reportDuplicate,
  setUpSystemCgroups,
  reservedOf,
  sourcesOf,
  systemGroupsOf,
} from "./agent-parts.ts";
import { devicePlugins, followPlugins } from "./agent-plugins.ts";
import { resizeFrom } from "./agent-resize.ts";
import { serveAgent } from "./agent-serving.ts";
import { shutdownFrom } from "./agent-shutdown.ts";
import { storageFrom } from "./agent-storage.ts";
import { runHousekeeping } from "./agent-housekeeping.ts";
import { flexVolumesFrom, mounterFrom, volumesFrom } from "./agent-volumes.ts";
import type { DeadLimits } from "./containers/dead-containers.ts";
import { ownerOf, ownership } from "./containers/owner.ts";
import { type PodCache, podCache } from "./containers/pod-cache.ts";
import type { DeviceManager } from "./devices/device-manager.ts";
import type { PodRegistry } from "./interfaces.ts";
import { podAdmission } from "./node/admission.ts";
import { allocatableOf, allocatablePids, reservationProblem } from "./node/capacity.ts";
import { nodeLease } from "./node/lease.ts";
import type { NodeLifecycle } from "./node/node.ts";
import { runtimeHealth } from "./node/runtime-health.ts";
import type { NodeagentSettings } from "./options/options.ts";
import { memoryContributor } from "./plan/memory-extras.ts";
import { type PodWorkers, podWorkers } from "./pod-workers.ts";
import { isFinished, uidOf } from "./pod.ts";
import { nodeLimits } from "./resources/node-limits.ts";
import { podCgroups } from "./resources/pod-cgroups.ts";
import { stats } from "./resources/stats.ts";
import { systemdSlices } from "./resources/systemd-slices.ts";
import { runOnce } from "./run-once.ts";
import { createPodMetrics } from "./server/pod-metrics.ts";
import { probeMetrics } from "./server/probe-metrics.ts";
import { createVolumeMetrics } from "./server/volume-metrics.ts";
import { type Mirrors, mirrors } from "./sources/mirrors.ts";
import { wantedPods } from "./sources/wanted-pods.ts";
import { statusWriter } from "./status/writer.ts";
import { logLinks } from "./sync/log-links.ts";
import { podFiles } from "./sync/pod-files.ts";
import { userNamespaces } from "./users/user-namespaces.ts";
import { podTokens } from "./volumes/tokens.ts";

export interface AgentOptions {
  readonly dialect: Dialect;
  readonly settings: NodeagentSettings;
  readonly log: Log;
  readonly version: string;
  readonly clock?: Clock;
  /** Changes the log verbosity while the agent runs. */
  readonly setVerbosity?: (level: number) => void;
  /** Replace the runtime and the API client that the settings configure. */
  readonly runtime?: ContainerRuntime;
  readonly client?: ApiClient;
  /** Aborts a start that still waits for the first certificate or for the runtime. */
  readonly signal?: AbortSignal;
}

export interface Agent {
  readonly nodeName: string;
  readonly metrics: Metrics;
  readonly registry: PodRegistry;
  readonly node: NodeLifecycle;
  /** Waits until the pods of a run-once agent have been started; returns the names of those that were not. */
  started(): Promise<readonly string[]>;
  /**
   * Resolves with true when another process waits for the lock file and exit on lock contention is
   * configured.
   */
  readonly lockContended: Promise<boolean>;
  /** Stops the agent; pods keep running. */
  stop(): Promise<void>;
}

/** How long the start waits for the runtime, and the stop for the pod workers. */
const timeoutMilliseconds = 2000;

/** Starts the agent. If it cannot run here, stops everything already started and rejects. */
export async function startAgent(options: AgentOptions): Promise<Agent> {
  const clock = options.clock ?? systemClock;
  const lifecycle = agentLifecycle({ clock, log: options.log });
  try {
    return await assemble({ ...options, clock }, lifecycle);
  } catch (error) {
    await lifecycle.stop();
    throw error;
  }
}

async function assemble(
  options: AgentOptions & { readonly clock: Clock },
  lifecycle: AgentLifecycle,
): Promise<Agent> {
  const environment = await prepareEnvironment(options, lifecycle);
  const { dialect, settings, log, clock, nodeName, machine, runtime, client, joined, metrics } = environment;
  const { events, tree } = environment;
  const { signal, stopped } = lifecycle;
  const gates = resolveGates(knownGates, settings.featureGates);
  const consistentHttpGet = gates.enabled("ConsistentHTTPGetHandlers");
  const podMetrics = createPodMetrics(metrics, dialect, clock, { fallsBack: consistentHttpGet });
  const probeResults = probeMetrics();

  // Node.
  let triggerNodeStatusUpdate = (): void => undefined;
  const health = runtimeHealth({ runtime, clock, log, onChange: () => triggerNodeStatusUpdate() });
  lifecycle.part("runtime health", () => health.stop());
  await waitAtMost(clock, timeoutMilliseconds, health.check());
  let podLister: Pick<PodCache, "problems"> = { problems: () => [] };
  let pressures = (): readonly string[] => [];
  let shutdownProblems = (): readonly string[] => [];
  let volumesInUse = (): readonly string[] | undefined => undefined;
  let deviceAmounts: DeviceManager["amounts"] = () => ({ capacity: {}, allocatable: {} });
  const node = nodeFrom(environment, joined, {
    health,
    problems: () => [...podLister.problems(), ...shutdownProblems()],
    pressures: () => pressures(),
    devices: () => deviceAmounts(),
    volumesInUse: () => volumesInUse(),
  });
  triggerNodeStatusUpdate = () => node.triggerStatusUpdate();
  lifecycle.part("node status", () => node.stop());
  await node.start();

  // Cgroups and volumes of pods.
  const cpu = { quota: settings.cpuCfsQuota, periodMicroseconds: settings.cpuCfsQuotaPeriod * 1000 };
  const cgroups = podMetrics.cgroups(
    podCgroups({
      tree,
      slices: settings.cgroupDriver === "systemd" ? systemdSlices() : undefined,
      naming: environment.cgroupNaming,
      cpu,
      pidsPerPod: settings.podMaxPids,
      perPod: settings.cgroupsPerQos,
      admitted: () => all.registry.pods().filter((pod) => !isFinished(pod)),
      memoryReservedPercent: Number.parseInt(settings.qosReserved["memory"] ?? "0", 10),
      allocatableMemory: () => quantityValue(parseQuantity(node.allocatable()["memory"] ?? "0")),
      clock,
      log,
    }),
  );
  const reservationError = reservationProblem(
    { ...node.capacity(), pid: String(machine.maxPids) },
    reservedOf(settings),
    settings.experimentalAllocatableIgnoreEviction ? {} : settings.evictionHard,
  );
  if (reservationError !== undefined) throw new Error(reservationError);
  await cgroups.prepare();
  const limits = nodeLimits({ tree, clock, log, events, nodeName });
  const pids = allocatablePids(machine.maxPids, [settings.orchReserved, settings.systemReserved]);
  lifecycle.run(
    limits.limitPods(
      cgroups.podsGroup,
      // The limit does not subtract the eviction thresholds: that memory is the headroom to evict in time.
      settings.enforceNodeAllocatable.includes("pods")
        ? { ...allocatableOf(node.capacity(), reservedOf(settings), {}), ...pids }
        : {},
      signal,
    ),
  );
  lifecycle.run(cgroups.reconcile(() => wanted.ready(), signal));
  await setUpSystemCgroups(environment, tree, limits);
  const files = podFiles(settings.rootDir, podLogs, logLinks(containerLogs));
  const owner = ownerOf(settings.rootDir, dialect);
  const volumeMetrics = createVolumeMetrics(metrics, dialect);
  const mounter = await mounterFrom(environment, lifecycle);
  const tokens = podTokens({ client, clock, log });
  const storage = storageFrom(
    environment,
    { node, mounter, tokens, podsFolder: files.podsFolder },
    lifecycle,
  );
  const { objects, volumes } = volumesFrom(
    environment,
    {
      mounter,
      node,
      podsFolder: files.podsFolder,
      volumeMetrics,
      tokens,
      plugins: [storage.plugin, flexVolumesFrom(environment, mounter)],
      limitsMemory: gates.enabled("SizeMemoryBackedVolumes"),
      onChange: (uids) => {
        for (const uid of uids) all.refresh(uid);
      },
    },
    lifecycle,
  );
  await volumes.reconstruct();
  volumesInUse = () => storage.plugin.inUse();
  const services = followServices(environment, signal);

  // Pods.
  let mirror: Mirrors | undefined;
  const wanted = wantedPods({
    dialect,
    clock,
    sources: sourcesOf(settings, client),
    onDuplicate: (pod, source) => reportDuplicate(environment, pod, source),
    onWanted: (pod) => {
      all.set(pod);
      mirror?.wake();
    },
    onUnwanted: (uid) => {
      all.drop(uid);
      mirror?.wake();
    },
    onReady: () => {
      for (const observed of cache.pods()) all.seen(observed, mayKillUnwanted());
    },
  });
  /** Reports whether pods that no source wants may be killed. A run-once agent leaves other pods alone. */
  const mayKillUnwanted = (): boolean => wanted.ready() && !settings.runonce;
  const cache = podCache({
    runtime,
    clock,
    log,
    dialect,
    owns: ownership(dialect, owner, new Set(await files.podUids())),
    onChange: (observed) => all.seen(observed, mayKillUnwanted()),
    onRelist: podMetrics.relisted,
    onFollow: podMetrics.eventStreamOpened,
    onEvent: podMetrics.eventLatency,
    onDiscard: podMetrics.discarded,
    byEvents: gates.enabled("EventedPLEG"),
  });
  podLister = cache;
  const dead: DeadLimits = {
    perContainer: settings.maximumDeadContainersPerContainer,
    total: settings.maximumDeadContainers,
    ageMilliseconds: settings.minimumContainerTtlDuration,
  };
  const devices = await devicesFrom(
    environment,
    {
      metrics,
      isRunning: (uid, container) =>
        cache.cached(uid)?.containers.some(({ name, state }) => name === container && state === "running") ??
        cache.has(uid),
      onChange: () => triggerNodeStatusUpdate(),
    },
    signal,
  );
  deviceAmounts = () => devices.manager.amounts();
  const managers = await managersFrom(environment, {
    devices: devices.manager,
    metrics,
    enabled: (name) => gates.enabled(name),
    registry: () => all.registry,
    isRemoved: (uid) => wanted.ready() && !all.has(uid) && !cache.has(uid),
  });
  lifecycle.run(managers.run(signal));
  const resize = await resizeFrom(environment, gates.enabled, {
    admission: () => admission,
    allocatable: () => node.allocatable(),
    cpu,
  });
  const context = contextFrom(environment, {
    resize,
    ...(gates.enabled("UserNamespacesStatelessPodsSupport") && { users: userNamespaces({ files, runtime }) }),
    contributors: [
      ...(resize ? [resize.contributor] : []),
      managers,
      devices.manager,
      memoryContributor({
        swap: gates.enabled("NodeSwap") ? (settings.memorySwap.swapBehavior ?? "") : undefined,
        throttlingFactor:
          gates.enabled("MemoryQoS") && tree.mounts.version === 2
            ? settings.memoryThrottlingFactor
            : undefined,
        allocatableBytes: () => quantityValue(parseQuantity(node.allocatable()["memory"] ?? "0")),
      }),
    ],
    credentialProviders: await credentialProvidersOf(environment, metrics),
    cache,
    podMetrics,
    volumes,
    cgroups,
    objects,
    node,
    health,
    files,
    cpu,
    dead,
    services: () => services?.items() ?? [],
    logFolder: podLogs,
    owner,
    reportsNetwork: gates.enabled("PodHasNetworkCondition"),
    reportsHostIps: gates.enabled("PodHostIPs"),
    onProbe: (uid) => all.wake(uid),
    ignoresLateCommands: !gates.enabled("ExecProbeTimeout"),
    legacyHttp: !consistentHttpGet,
    onProbeResult: probeResults.record,
  });
  const admission = podAdmission({
    handlers: [{ admit: (pod, others) => shutdown.admit(pod, others) }, managers],
    dialect,
    nodeName,
    labels: () => node.labels(),
    allocatable: () => withAllocated(node.allocatable(), devices.manager),
    recordedAllocatable: () => withAllocated(node.recordedAllocatable(), devices.manager),
    confirm: (pod, until) => devices.manager.confirm(pod, until),
    taints: () => node.node().spec.taints ?? [],
    pressures: () => pressures(),
    allowedUnsafeSysctls: settings.allowedUnsafeSysctls,
    localStorageIsolation: settings.localStorageCapacityIsolation,
    appArmor: machine.appArmor,
  });
  const all: PodWorkers = podWorkers({
    context,
    admission,
    runtimeName: () => health.version()?.runtimeName ?? "",
    writer: client && statusWriter({ client, clock, log, signal, onWritten: podMetrics.written }),
    podMetrics,
    mirrorOf: (pod) => mirror?.of(pod),
    syncMilliseconds: settings.syncFrequency,
    ...(environment.tracing && { traced: environment.tracing.sync }),
    onRemoved: (pod) => {
      mirror?.wake();
      probeResults.forget(uidOf(pod));
    },
  });

  const nodeStats = stats({
    clock,
    runtime,
    registry: all.registry,
    tree,
    machine,
    rootDirectory: settings.rootDir,
    podsGroup: cgroups.podsGroup,
    systemGroups: systemGroupsOf(environment),
    groupOf: (pod) => cgroups.nameOf(pod),
    volumesOf: (uid) => volumes.places(uid),
    volumeMilliseconds: settings.volumeStatsAggPeriod,
    volumeTook: volumeMetrics.measured,
    oldestMilliseconds: settings.housekeepingInterval,
    fromRuntime: gates.enabled("PodAndContainerStatsFromCRI"),
  });
  const { eviction, images, preview } = evictionFrom(environment, {
    registry: all.registry,
    evictor: all,
    stats: nodeStats,
    tree,
    podsGroup: cgroups.podsGroup,
    observedPods: () => [...cache.pods()],
    dead,
    files,
    limited: (pod) => volumes.limited(pod),
    disruptionConditions: gates.enabled("PodDisruptionConditions"),
    onPressure: () => triggerNodeStatusUpdate(),
    onEvicted: podMetrics.evicted,
  });
  pressures = () => eviction.pressures();
  const shutdown = shutdownFrom(environment, {
    metrics,
    enabled: (name) => gates.enabled(name),
    pods: () => all.registry.pods().filter((pod) => !isFinished(pod)),
    evictor: all,
    onChange: () => triggerNodeStatusUpdate(),
  });
  shutdownProblems = () => [shutdown.notReadyReason() ?? []].flat();
  lifecycle.run(shutdown.run(signal), images.run(signal));
  await eviction
    .prime(signal)
    .catch((error: unknown) =>
      log.warn("failed to read eviction signals", { error: (error as Error).message }),
    );
  lifecycle.run(eviction.run(signal));

  lifecycle.part("pod workers", () => waitAtMost(clock, timeoutMilliseconds, all.close()));
  // A probe still in flight would reopen the connection to the runtime.
  lifecycle.part("probes", () => context.probes.close());

  reportResolver(environment);
  // The sources start only after the runtime has been listed, however long that takes: no container is
  // created twice, and no running pod is reported as lost.
  lifecycle.run(cache.follow(signal));
  await waitAtMost(clock, timeoutMilliseconds, cache.listed);
  if (client && !joined)
    lifecycle.run(afterFirstRelist(() => listPodsOnce(environment, { services: services!, wanted }, signal)));
  if (joined) {
    mirror = mirrors({
      client: joined,
      clock,
      log,
      nodeName,
      pods: () => all.pods(),
      ready: () => wanted.ready(),
      onMirror: () => all.pods().forEach(({ metadata }) => all.wake(metadata.uid ?? "")),
    });
    lifecycle.run(mirror.follow(signal));
    // Static pods do not wait for the API server: it may itself run as a static pod.
    const followed = { services: services!, wanted, node, mirror, storage: storage.node! };
    lifecycle.run(afterFirstRelist(() => joinCluster(environment, followed, signal)));
  }
  lifecycle.run(afterFirstRelist(() => Promise.all(manifestSources(environment, wanted, signal))));
  if (!client && wanted.ready()) for (const observed of cache.pods()) all.seen(observed, mayKillUnwanted());
  runHousekeeping(
    environment,
    {
      cache,
      workers: all,
      dead,
      files,
      volumes,
      cgroups,
      // A configured cgroup root belongs to this agent alone.
      sharesCgroups: owner !== undefined && settings.cgroupRoot.replaceAll("/", "") === "",
      ready: mayKillUnwanted,
      forget: (uid) => resize?.allocations.forget(uid),
      onCleared: podMetrics.cleared,
      podRange: () => (joined ? node.node().spec.podCIDR : settings.podCidr) ?? "",
    },
    lifecycle,
  );
  const lease =
    joined &&
    nodeLease({
      client: joined,
      clock,
      log,
      nodeName,
      seconds: settings.nodeLeaseDurationSeconds,
      nodeUid: () => node.uid(),
    });
  if (lease) lifecycle.part("node lease", () => lease.stop());

  await serveAgent(
    environment,
    {
      gates,
      registry: all.registry,
      node,
      managers,
      devices: devices.manager,
      working: () => all.working(),
      mirrors: () => mirror?.count() ?? 0,
      mounted: (uid) => volumes.places(uid),
      probeMetrics: probeResults.metrics,
      stats: nodeStats,
      setVerbosity: options.setVerbosity ?? (() => undefined),
      previews: { eviction: preview, shutdown: () => shutdown.plan() },
    },
    lifecycle,
  );
  const deviceSocket = await devices.serve();
  lifecycle.part("device plug-ins", () => deviceSocket.close());
  const handlers = { DevicePlugin: devicePlugins(devices.registration), CSIPlugin: storage.drivers.handler };
  lifecycle.run(followPlugins(environment, handlers, signal));

  return {
    nodeName,
    metrics,
    registry: all.registry,
    node,
    started: () => runOnce({ clock, ready: () => wanted.ready(), pods: () => all.registry.pods() }),
    lockContended:
      environment.lock && settings.exitOnLockContention
        ? environment.lock.contended(signal)
        : Promise.resolve(false),
    stop: () => lifecycle.stop(),
  };

  /** Calls `begin` once the runtime has been listed. */
  async function afterFirstRelist(start: () => Promise<unknown>): Promise<void> {
    await Promise.race([cache.listed, stopped]);
    if (!signal.aborted) await start();
  }
}

/**
 * Raises allocatable devices to the number allocated to containers, even if their plug-in reports fewer now.
 */
function withAllocated(
  allocatable: Readonly<Record<string, string>>,
  devices: Pick<DeviceManager, "allocated">,
): Readonly<Record<string, string>> {
  const raised = Object.entries(allocatable).flatMap(([resource, amount]) => {
    const allocated = resource.includes("/") ? devices.allocated(resource) : undefined;
    return allocated !== undefined && allocated > Number(amount) ? [[resource, String(allocated)]] : [];
  });
  return { ...allocatable, ...(Object.fromEntries(raised) as Record<string, string>) };
}
