// The environment that the agent prepares before it handles any pod: ports, API server client, runtime,
// machine information, lock file and event recorder.
import { hostname } from "node:os";
import { type Clock, type Metrics, createMetrics, makeFolderAsync } from "#base";
import { type ApiClient, eventRecorder, loggedEvents } from "#client";
import { knownGates, resolveGates } from "#options";
import { apiAccess } from "./agent-certificates.ts";
import type { AgentLifecycle } from "./agent-lifecycle.ts";
import { checkManagers } from "./agent-managers.ts";
import { type AgentTracing, agentTracing } from "./agent-tracing.ts";
import { type AgentDeps, runtimeFrom } from "./agent-parts.ts";
import type { AgentOptions } from "./agent.ts";
import { eventMetrics } from "./event-metrics.ts";
import { type LockFile, lockFile } from "./lock-file.ts";
import { waitForRuntime } from "./node/runtime-wait.ts";
import type { CgroupNaming } from "./resources/cgroup-names.ts";
import { cgroupRootProblem } from "./resources/cgroup-root.ts";
import { type CgroupTree, cgroupTree, findCgroups } from "./resources/cgroup-tree.ts";
import { prepareHost } from "./resources/host.ts";
import { readMachine } from "./resources/machine.ts";
import { measuredRuntime } from "./server/agent-metrics.ts";
import type { OpenPorts } from "./server/ports.ts";
import { certificateFrom, portsFrom } from "./server/serve.ts";
import type { ServingCertificate } from "./server/serving-certificate.ts";

export interface AgentEnvironment extends AgentDeps {
  readonly metrics: Metrics;
  readonly ports: OpenPorts;
  /** The certificate of the agent's server; undefined if it is requested from the API server. */
  readonly certificate: ServingCertificate | undefined;
  /** Undefined unless tracing is configured. */
  readonly tracing: AgentTracing | undefined;
  /** Undefined unless a lock file is configured. */
  readonly lock: LockFile | undefined;
  readonly tree: CgroupTree;
  readonly cgroupNaming: CgroupNaming;
  /** The client of an agent that joins the cluster; undefined in run-once mode. */
  readonly joined: ApiClient | undefined;
}

export const podLogs = "/var/log/pods";
export const containerLogs = "/var/log/containers";

export async function prepareEnvironment(
  options: AgentOptions & { readonly clock: Clock },
  lifecycle: AgentLifecycle,
): Promise<AgentEnvironment> {
  const { dialect, settings, log, clock, version } = options;
  const { signal } = lifecycle;
  const nodeName = settings.hostnameOverride || hostname().toLowerCase();
  const metrics = createMetrics();
  // Created concurrently with the rest, and present before the node is registered.
  const serving = certificateFrom(settings, { clock, log, dialect, nodeName });
  serving.catch(() => undefined);
  // By the time a signing request of the agent is visible, its self-signed certificate is on disk.
  if (settings.bootstrapOrchconfig !== "" || settings.rotateCertificates) await serving;
  const access = options.client
    ? undefined
    : await apiAccess(
        { settings, dialect, version, clock, log, metrics, nodeName },
        options.signal ?? signal,
      );
  const client = options.client ?? access?.client;
  if (access) lifecycle.run(access.run(signal));
  const tracing =
    settings.tracing && agentTracing({ dialect, clock, log, nodeName, configuration: settings.tracing });
  if (tracing) lifecycle.resource("traces", () => tracing.close());
  const plain = options.runtime ?? runtimeFrom(settings);
  const runtime = measuredRuntime(tracing?.runtime(plain) ?? plain, metrics, dialect, clock);
  if (client) lifecycle.resource("API client", () => client.transport.close());
  lifecycle.resource("runtime", () => runtime.close());
  const machine = await readMachine("/", {
    machineIdFiles: settings.machineIdFile,
    bootIdFiles: settings.bootIdFile,
  });
  const tree = cgroupTree(await findCgroups(), log);
  const cgroupNaming = {
    root: settings.cgroupRoot,
    podsGroup: dialect.data.podsCgroup,
    driver: settings.cgroupDriver,
  };
  const cgroupRootError = settings.cgroupsPerQos ? await cgroupRootProblem(tree, cgroupNaming) : undefined;
  if (cgroupRootError !== undefined) throw new Error(cgroupRootError);
  const gates = resolveGates(knownGates, settings.featureGates);
  await checkManagers({ settings, clock, log, machine, runtime: plain, dialect }, gates.enabled);
  await waitForRuntime({ runtime: plain, clock, log, signal: options.signal ?? signal });
  const certificate = await serving;
  // The ports are opened only after the first certificate has been issued and the runtime is ready.
  const ports = await portsFrom(settings, { clock, log });
  lifecycle.part("ports", () => ports.close());
  const lock = settings.lockFile ? await lockFile(settings.lockFile, clock) : undefined;
  if (lock) lifecycle.resource("lock file", () => lock.release());
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
        component: dialect.cli.agent,
        host: nodeName,
        lossesRegarding: { kind: "Node", name: nodeName, uid: nodeName },
        observer: eventMetrics(metrics, dialect),
        queriesPerSecond: settings.eventQps,
        burst: settings.eventBurst,
      })
    : undefined;
  if (recorder)
    lifecycle.resource("event recorder", async () => {
      await recorder.flush(1000);
      recorder.stop();
    });
  return {
    dialect,
    settings,
    clock,
    log,
    version,
    nodeName,
    machine,
    runtime,
    client,
    metrics,
    ports,
    certificate,
    tracing,
    lock,
    tree,
    cgroupNaming,
    joined: settings.runonce ? undefined : client,
    events: recorder ?? loggedEvents(log),
  };
}
