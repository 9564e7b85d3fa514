// The node agent: all its parts and how they hold together. Nothing is decided here.
import { hostname } from "node:os";
import { join } from "node:path";
import type { Pod, Service } from "#api";
import {
  type Clock,
  type Log,
  type Metrics,
  createMetrics,
  makeFolderAsync,
  parseQuantity,
  quantityValue,
  systemClock,
} from "#base";
import { type ApiClient, type Informer, informer, kinds } from "#client";
import type { ContainerRuntime } from "#cri";
import type { Dialect } from "#dialect";
import { knownGates, resolveGates } from "#options";
import { type AgentLifecycle, agentLifecycle, waitAtMost } from "./agent-lifecycle.ts";
import { contextFrom } from "./agent-context.ts";
import { apiAccess } from "./agent-certificates.ts";
import { credentialProvidersOf } from "./agent-credentials.ts";
import { evictionFrom } from "./agent-eviction.ts";
import { managersFrom } from "./agent-managers.ts";
import { shutdownFrom } from "./agent-shutdown.ts";
import {
  type AgentDeps,
  manifestSources,
  nodeFrom,
  placeOthers,
  reservedOf,
  runtimeFrom,
  sourcesOf,
} from "./agent-parts.ts";
import { type DeadLimits, collectDeadContainers } from "./containers/dead-containers.ts";
import { ownerOf, ownership } from "./containers/owner.ts";
import { type PodCache, podCache } from "./containers/pod-cache.ts";
import { eventRecorder } from "./events/recorder.ts";
import { housekeeping } from "./housekeeping.ts";
import { lockFile } from "./lock-file.ts";
import { podAdmission } from "./node/admission.ts";
import { allocatableOf, allocatablePids } from "./node/capacity.ts";
import { csiNode } from "./node/csi-node.ts";
import { nodeLease } from "./node/lease.ts";
import type { NodeLife } from "./node/node.ts";
import { runtimeHealth } from "./node/runtime-health.ts";
import type { NodeagentSettings } from "./options/options.ts";
import { type PodWorkers, podWorkers } from "./pod-workers.ts";
import { isDeleted, isFinished, isMirror } from "./pod.ts";
import { cgroupTree, findCgroups } from "./resources/cgroup-tree.ts";
import { prepareHost } from "./resources/host.ts";
import { memoryContributor } from "./plan/memory-extras.ts";
import { podRange } from "./pod-range.ts";
import { podResourcesServer } from "./pod-resources/pod-resources.ts";
import { readMachine } from "./resources/machine.ts";
import { nodeLimits } from "./resources/node-limits.ts";
import { podCgroups } from "./resources/pod-cgroups.ts";
import { stats } from "./resources/stats.ts";
import { systemdSlices } from "./resources/systemd-slices.ts";
import { runOnce } from "./run-once.ts";
import type { EventRecorder, PodRegistry } from "./interfaces.ts";
import { agentMetrics, measuredRuntime } from "./server/agent-metrics.ts";
import { logRotation } from "./server/log-rotation.ts";
import { podMetrics } from "./server/pod-metrics.ts";
import { probeMetrics } from "./server/probe-metrics.ts";
import { portsFrom, serve } from "./server/serve.ts";
import { volumeMetrics } from "./server/volume-metrics.ts";
import { apiSource } from "./sources/api-source.ts";
import { type Mirrors, mirrors } from "./sources/mirrors.ts";
import { wantedPods } from "./sources/wanted-pods.ts";
import { statusWriter } from "./status/writer.ts";
import { podFiles } from "./sync/pod-files.ts";
import { commandShell } from "./volumes/command-shell.ts";
import { systemMounter } from "./volumes/mounter.ts";
import { makeShared } from "./volumes/shared-root.ts";
import { referencedObjects } from "./volumes/referenced-objects.ts";
import { podVolumes } from "./volumes/volumes.ts";

export interface AgentOptions {
  readonly dialect: Dialect;
  readonly settings: NodeagentSettings;
  readonly log: Log;
  readonly version: string;
  readonly clock?: Clock;
  /** Changes how much is logged while the agent runs. */
  readonly setVerbosity?: (level: number) => void;
  /** Instead of the runtime and the server that the settings name. */
  readonly runtime?: ContainerRuntime;
  readonly client?: ApiClient;
  /** Ends a start that still waits for its first certificate. */
  readonly signal?: AbortSignal;
}

export interface Agent {
  readonly nodeName: string;
  readonly metrics: Metrics;
  readonly registry: PodRegistry;
  readonly node: NodeLife;
  /** Waits until the pods of files and URLs were started; gives the names of those that were not. */
  started(): Promise<readonly string[]>;
  /** Resolves with true when another process waits for the lock file and the settings say to give way. */
  readonly lockContended: Promise<boolean>;
  /** Ends the agent; pods go on running. */
  stop(): Promise<void>;
}

const askMilliseconds = 10_000;
/** How long the start waits for the runtime, and the end for the pod workers. */
const patienceMilliseconds = 2000;
const podLogs = "/var/log/pods";

/** Rejects when the agent cannot run here; what was begun is stopped then. */
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
  const { dialect, settings, log, clock } = options;
  const { signal, stopped } = lifecycle;
  const nodeName = settings.hostnameOverride || hostname().toLowerCase();
  const ports = await portsFrom(settings, { clock, log });
  lifecycle.part("ports", () => ports.close());
  const metrics = createMetrics();
  const reach = options.client
    ? undefined
    : await apiAccess(
        { settings, dialect, version: options.version, clock, log, metrics, nodeName },
        options.signal ?? signal,
      );
  const client = options.client ?? reach?.client;
  if (reach) lifecycle.run(reach.run(signal));
  const runtime = measuredRuntime(options.runtime ?? runtimeFrom(settings), metrics, dialect, clock);
  if (client) lifecycle.resource("API client", () => client.transport.close());
  lifecycle.resource("runtime", () => runtime.close());
  /** One that only starts pods asks the cluster which, but does not become part of it. */
  const joined = settings.runonce ? undefined : client;
  const tally = podMetrics(metrics, dialect, clock);
  const probeResults = probeMetrics();
  const lock = settings.lockFile ? await lockFile(settings.lockFile, clock) : undefined;
  if (lock) lifecycle.resource("lock file", () => lock.release());
  const machine = await readMachine();
  await prepareHost({
    log,
    failSwapOn: settings.failSwapOn,
    protectKernelDefaults: settings.protectKernelDefaults,
    oomScoreAdj: settings.oomScoreAdj,
    maxOpenFiles: settings.maxOpenFiles,
  });
  await makeFolderAsync(settings.rootDir, 0o750);
  await makeFolderAsync(podLogs, 0o755);

  const recorder = client
    ? eventRecorder({
        client,
        clock,
        log,
        metrics,
        node: { kind: "Node", name: nodeName, uid: nodeName },
        queriesPerSecond: settings.eventQps,
        burst: settings.eventBurst,
      })
    : undefined;
  if (recorder)
    lifecycle.resource("event recorder", async () => {
      await recorder.flush(1000);
      recorder.stop();
    });
  const events: EventRecorder = recorder ?? {
    event: (regarding, type, reason, message) =>
      log.verbose(2, "event", { regarding: regarding.name, type, reason, message }),
  };

  const ground: AgentDeps = {
    dialect,
    settings,
    clock,
    log,
    version: options.version,
    nodeName,
    machine,
    runtime,
    client,
    events,
  };

  // The node.
  let nodeSoon = (): void => undefined;
  const health = runtimeHealth({ runtime, clock, log, onChange: () => nodeSoon() });
  lifecycle.part("runtime health", () => health.stop());
  await waitAtMost(clock, patienceMilliseconds, health.check());
  let lists: Pick<PodCache, "troubles"> = { troubles: () => [] };
  let pressures = (): readonly string[] => [];
  let shutdownTrouble = (): readonly string[] => [];
  const node = nodeFrom(ground, joined, {
    health,
    troubles: () => [...lists.troubles(), ...shutdownTrouble()],
    pressures: () => pressures(),
  });
  nodeSoon = () => node.statusSoon();
  lifecycle.part("node status", () => node.stop());
  await node.start();

  // What pods are made of.
  const cpu = { quota: settings.cpuCfsQuota, periodMicroseconds: settings.cpuCfsQuotaPeriod * 1000 };
  const tree = cgroupTree(await findCgroups(), log);
  const cgroups = tally.cgroups(
    podCgroups({
      tree,
      slices: settings.cgroupDriver === "systemd" ? systemdSlices() : undefined,
      naming: {
        root: settings.cgroupRoot,
        podsGroup: dialect.data.podsCgroup,
        driver: settings.cgroupDriver,
      },
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
  await cgroups.prepare();
  const limits = nodeLimits({ tree, clock, log, events, nodeName });
  const pids = allocatablePids(machine.maxPids, [settings.orchReserved, settings.systemReserved]);
  lifecycle.run(
    limits.holdPods(
      cgroups.podsGroup,
      // What eviction keeps free is not held back by the kernel: it is what is left to evict in time.
      settings.enforceNodeAllocatable.includes("pods")
        ? { ...allocatableOf(node.capacity(), reservedOf(settings), {}), ...pids }
        : {},
      signal,
    ),
  );
  lifecycle.run(cgroups.reconcile(() => wanted.ready(), signal));
  await placeOthers(ground, tree, limits);
  const files = podFiles(settings.rootDir, podLogs);
  const owner = ownerOf(settings.rootDir, dialect);
  const objects = referencedObjects({
    client,
    clock,
    log,
    strategy: settings.configMapAndSecretChangeDetectionStrategy,
    onChange: (uids) => uids.forEach((uid) => all.refresh(uid)),
  });
  lifecycle.resource("referenced objects", () => objects.close());
  const shell = commandShell();
  lifecycle.resource("mount shell", () => shell.close());
  const mounter = systemMounter(settings.experimentalMounterPath, (command, args) =>
    shell.run(command, args),
  );
  await makeShared(mounter, settings.rootDir).catch((error: Error) =>
    log.warn("root directory is not a shared mount: bidirectional mount propagation will fail", {
      error: error.message,
    }),
  );
  const volumeTally = volumeMetrics(metrics, dialect);
  const volumes = podVolumes({
    dialect,
    client,
    clock,
    log,
    events,
    objects,
    node,
    mounter,
    tally: volumeTally,
    podsFolder: files.podsFolder,
    keepTerminated: settings.keepTerminatedPodVolumes,
  });
  const services = client ? follow(client, clock, signal) : undefined;

  // The pods.
  let mirror: Mirrors | undefined;
  const wanted = wantedPods({
    dialect,
    clock,
    sources: sourcesOf(settings, client),
    onWanted: (pod) => {
      all.set(pod);
      mirror?.wake();
    },
    onUnwanted: (uid) => {
      all.drop(uid);
      mirror?.wake();
    },
    onReady: () => {
      for (const observed of cache.pods()) all.seen(observed, mayEnd());
    },
  });
  /**
   * Whether a pod that nobody asked for is to be ended. One that only starts pods leaves the others alone.
   */
  const mayEnd = (): boolean => wanted.ready() && !settings.runonce;
  const cache = podCache({
    runtime,
    clock,
    log,
    dialect,
    owns: ownership(dialect, owner, new Set(await files.podUids())),
    onChange: (observed) => all.seen(observed, mayEnd()),
    onRelist: tally.relisted,
    onFollow: tally.following,
  });
  lists = cache;
  const dead: DeadLimits = {
    perContainer: settings.maximumDeadContainersPerContainer,
    total: settings.maximumDeadContainers,
    ageMilliseconds: settings.minimumContainerTtlDuration,
  };
  const gates = resolveGates(knownGates, settings.featureGates);
  const managers = await managersFrom(ground, {
    metrics,
    enabled: (name) => gates.enabled(name),
    registry: () => all.registry,
  });
  lifecycle.run(managers.run(signal));
  const context = contextFrom(ground, {
    contributors: [
      managers,
      memoryContributor({
        swap: gates.enabled("NodeSwap") ? (settings.memorySwap.swapBehavior ?? "") : undefined,
        throttlingFactor:
          gates.enabled("MemoryQoS") && tree.mounts.version === 2
            ? settings.memoryThrottlingFactor
            : undefined,
        allocatableBytes: () => quantityValue(parseQuantity(node.allocatable()["memory"] ?? "0")),
      }),
    ],
    credentialProviders: await credentialProvidersOf(ground, metrics),
    cache,
    tally,
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
    onProbe: (uid) => all.wake(uid),
    onProbeResult: probeResults.record,
  });
  const all: PodWorkers = podWorkers({
    context,
    admission: podAdmission({
      handlers: [{ admit: (pod, others) => shutdown.admit(pod, others) }, managers],
      dialect,
      nodeName,
      labels: () => node.labels(),
      allocatable: () => node.allocatable(),
      taints: () => node.node().spec.taints ?? [],
      pressures: () => pressures(),
      allowedUnsafeSysctls: settings.allowedUnsafeSysctls,
      localStorageIsolation: settings.localStorageCapacityIsolation,
      appArmor: machine.appArmor,
    }),
    runtimeName: () => health.version()?.runtimeName ?? "",
    writer: client && statusWriter({ client, clock, log, signal, onWritten: tally.written }),
    tally,
    mirrorOf: (pod) => mirror?.of(pod),
    syncMilliseconds: settings.syncFrequency,
    onGone: () => mirror?.wake(),
  });

  const figures = stats({
    clock,
    runtime,
    registry: all.registry,
    tree,
    machine,
    rootDirectory: settings.rootDir,
    podsGroup: cgroups.podsGroup,
    groupOf: (pod) => cgroups.nameOf(pod),
    volumesOf: (uid) => volumes.places(uid),
    volumeMilliseconds: settings.volumeStatsAggPeriod,
    volumeTook: volumeTally.measured,
  });
  const { eviction, images, preview } = evictionFrom(ground, {
    registry: all.registry,
    evictor: all,
    stats: figures,
    tree,
    podsGroup: cgroups.podsGroup,
    observedPods: () => [...cache.pods()],
    dead,
    limited: (pod) => volumes.limited(pod),
    disruptionConditions: gates.enabled("PodDisruptionConditions"),
    onPressure: () => nodeSoon(),
    onEvicted: tally.evicted,
  });
  pressures = () => eviction.pressures();
  const shutdown = shutdownFrom(ground, {
    metrics,
    enabled: (name) => gates.enabled(name),
    pods: () => all.registry.pods().filter((pod) => !isFinished(pod)),
    evictor: all,
    onChange: () => nodeSoon(),
  });
  shutdownTrouble = () => [shutdown.trouble() ?? []].flat();
  lifecycle.run(shutdown.run(signal));
  await eviction
    .prime(signal)
    .catch((error: unknown) =>
      log.warn("failed to read eviction signals", { error: (error as Error).message }),
    );
  lifecycle.run(eviction.run(signal), images.run(signal));

  lifecycle.part("pod workers", () => waitAtMost(clock, patienceMilliseconds, all.close()));
  // What is still asked would open the way to the runtime again.
  lifecycle.part("probes", () => context.probes.close());

  // First what runs is looked at, then the sources speak, however long that takes: so nothing is made twice,
  // and nothing that runs is told as lost.
  lifecycle.run(cache.follow(signal));
  await waitAtMost(clock, patienceMilliseconds, cache.listed);
  if (client && !joined) lifecycle.run(onceLooked(() => askOnce(client)));
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
    // Static pods do not wait for the API server: they may be what it runs on.
    lifecycle.run(onceLooked(joinCluster));
  }
  lifecycle.run(onceLooked(() => Promise.all(manifestSources(ground, wanted, signal))));
  if (!client && wanted.ready()) for (const observed of cache.pods()) all.seen(observed, mayEnd());
  lifecycle.run(
    podRange(
      { runtime, clock, log, range: () => (joined ? node.node().spec.podCIDR : settings.podCidr) ?? "" },
      signal,
    ),
  );
  lifecycle.run(
    housekeeping(
      {
        clock,
        log,
        files,
        volumes,
        cgroups,
        // A parent that the settings name is this agent's alone.
        sharesCgroups: owner !== undefined && settings.cgroupRoot.replaceAll("/", "") === "",
        ready: mayEnd,
        isKnown: (uid) => all.has(uid) || cache.has(uid),
        onCleared: tally.cleared,
      },
      signal,
    ),
  );
  lifecycle.run(
    collectDeadContainers(
      {
        clock,
        log,
        runtime,
        limits: dead,
        pods: () => [...cache.pods()],
        isOver: (uid) => isOver(all.registry.byUid(uid)),
      },
      signal,
    ),
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

  lifecycle.run(
    logRotation(
      {
        clock,
        log,
        runtime,
        registry: all.registry,
        largestBytes: quantityValue(parseQuantity(settings.containerLogMaxSize)),
        mostFiles: settings.containerLogMaxFiles,
      },
      signal,
    ),
  );
  agentMetrics({
    metrics,
    dialect,
    nodeName,
    version: options.version,
    registry: all.registry,
    working: () => all.working(),
    mirrors: () => mirror?.count() ?? 0,
    mounted: (uid) => volumes.places(uid),
    gates: knownGates.map(({ name, stage }) => ({ name, stage, enabled: gates.enabled(name) })),
  });
  const servers = await serve(settings, ports, {
    dialect,
    clock,
    log,
    nodeName,
    client,
    addresses: node.hostIps(),
    nodeAddresses: () => (client ? (node.node().status?.addresses ?? []) : []),
    registry: all.registry,
    runtime,
    metrics,
    probeMetrics: probeResults.metrics,
    stats: figures,
    machine,
    setVerbosity: options.setVerbosity ?? (() => undefined),
    previews: { eviction: preview, shutdown: () => shutdown.plan() },
  });
  lifecycle.part("servers", () => servers.close());
  const resources = gates.enabled("NodeAgentPodResources")
    ? await podResourcesServer({
        socketPath: join(settings.rootDir, "pod-resources", `${dialect.cli.agent}.sock`),
        pods: () => all.registry.pods().filter((pod) => !isFinished(pod)),
        exclusive: (uid, container) => managers.exclusive(uid, container),
        memoryBlocks: (uid, container) => managers.memoryBlocks(uid, container),
        allocatable: () => managers.allocatable(),
        allowsGet: gates.enabled("NodeAgentPodResourcesGet"),
      }).catch((error: unknown) => {
        log.error("the pod resources API is not served", { error: (error as Error).message });
        return undefined;
      })
    : undefined;
  lifecycle.part("pod resources", async () => await resources?.close());

  return {
    nodeName,
    metrics,
    registry: all.registry,
    node,
    started: () => runOnce({ clock, ready: () => wanted.ready(), pods: () => all.registry.pods() }),
    lockContended: lock && settings.exitOnLockContention ? lock.contended(signal) : Promise.resolve(false),
    stop: () => lifecycle.stop(),
  };

  /** Begins when it is known what runs. */
  async function onceLooked(begin: () => Promise<unknown>): Promise<void> {
    await Promise.race([cache.listed, stopped]);
    if (!signal.aborted) await begin();
  }

  /** The pods of the moment, for an agent that starts them and quits. */
  async function askOnce(api: ApiClient): Promise<void> {
    await Promise.race([services!.synced, clock.sleep(askMilliseconds, signal).catch(() => undefined)]);
    try {
      const { items } = await api.of(kinds.pods).list({ fieldSelector: `spec.nodeName=${nodeName}` });
      wanted.replace(
        "api",
        items.filter((pod) => !isMirror(pod, dialect) && !isDeleted(pod) && !isFinished(pod)),
      );
    } catch (error) {
      log.error("failed to list pods from the API server", { error: (error as Error).message });
      wanted.replace("api", []);
    }
  }

  /** Once the node is known to the API server, its pods are asked for. */
  async function joinCluster(): Promise<void> {
    await Promise.race([node.registered.then(() => services!.synced), stopped]);
    if (signal.aborted) return;
    const watching = csiNode({ client: client!, clock, log, nodeName, nodeUid: node.uid() ?? "" }, signal);
    const pods = apiSource(
      { client: client!, clock, log, nodeName, wanted, onMirror: (pod, gone) => mirror!.seen(pod, gone) },
      signal,
    );
    await Promise.all([watching, pods.stopped]);
  }
}

const isOver = (pod: Pod | undefined): boolean => pod !== undefined && isFinished(pod);

const follow = (
  client: ApiClient,
  clock: Clock,
  signal: AbortSignal,
): Informer<Service & { apiVersion: string; kind: string }> =>
  informer({ client: client.of(kinds.services), clock, signal, onEvent: () => undefined });
