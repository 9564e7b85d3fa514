// Test fixture: an in-process API server, the scheduler running against it on a virtual clock, and nodes.
import { type RunningServer, startServer } from "#apiserver";
import { createMetrics, silentLog, virtualClock } from "#base";
import { type ApiClient, kinds } from "#client";
import { clusterView } from "#controllerkit";
import { eventually } from "#kit";
import { type GivenGates, knownGates, resolveGates } from "#options";
import { runScheduler } from "./scheduler.ts";

export interface SchedulerCluster {
  readonly client: ApiClient;
  /** Returns the scheduler's metrics in the text format. */
  readonly metrics: () => string;
  /** Polls until the condition holds, advancing the scheduler's clock meanwhile. */
  readonly until: <T>(ask: () => Promise<T | undefined | false>) => Promise<T>;
}

export interface SchedulerOptions {
  readonly gates?: GivenGates;
  /** Feature gates to enable on the server, for fields that the scheduler reads. */
  readonly serverGates?: readonly string[];
  /** Returns the scheduler's client, if it differs from the test's. */
  readonly clientFor?: (server: RunningServer) => ApiClient;
}

export async function withScheduler(
  run: (cluster: SchedulerCluster) => Promise<void>,
  { gates = {}, serverGates = [], clientFor }: SchedulerOptions = {},
): Promise<void> {
  await using server = await startServer({
    store: "memory",
    flags: [
      "--disable-admission-plugins=ServiceAccount",
      ...(serverGates.length > 0
        ? [`--feature-gates=${serverGates.map((name) => `${name}=true`).join()}`]
        : []),
    ],
  });
  const clock = virtualClock(Date.now());
  const stopping = new AbortController();
  const client = clientFor?.(server) ?? server.client;
  const base = { client, clock, signal: stopping.signal, log: silentLog };
  const metrics = createMetrics();
  const running = runScheduler({
    ...base,
    metrics,
    dialect: client.dialect,
    gates: resolveGates(knownGates, gates),
    view: clusterView(base),
  });
  try {
    await run({
      client: server.client,
      metrics: () => metrics.expose(),
      until: (ask) => eventually(ask, { clock }),
    });
  } finally {
    stopping.abort();
    await running;
  }
}

export async function addNode(client: ApiClient, name: string, cpu = "2"): Promise<void> {
  const nodes = client.of(kinds.nodes);
  await nodes.create({ metadata: { name }, spec: {} });
  await nodes.patch(name, "merge", { spec: { taints: null } });
  const resources = { cpu, memory: "4Gi", pods: "10" };
  const status = {
    allocatable: resources,
    capacity: resources,
    conditions: [{ type: "Ready", status: "True" }],
  };
  await nodes.patch(name, "merge", { status }, { subresource: "status" });
}

export const addPod = (
  client: ApiClient,
  name: string,
  cpu = "100m",
  spec: object = {},
  metadata: object = {},
) =>
  client.of(kinds.pods).create({
    metadata: { name, namespace: "default", ...metadata },
    spec: { containers: [{ name: "c", image: "i", resources: { requests: { cpu } } }], ...spec },
  });
