// Cost of the controller manager and the scheduler: idle, for a Deployment of 100 pods until all are ready on hollow
// nodes, and for binding pending pods. Other programs with the same flags can be measured in the same run:
// --controller-manager=PATH --scheduler=PATH, without their client rate limits while pods are bound.
import { spawn } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import { type ApiClient, apiClient, connectionOf, https, informer, kinds, singleContext } from "#client";
import { type RunningApiserver, hollowNodes, programCommand, startApiserver, until } from "#kit";
import { given, givenNumber, givenNumbers } from "./kit/given.ts";
import { inFlight } from "./kit/in-flight.ts";
import { cpuMicros, residentMegabytes } from "./kit/process-cost.ts";

const otherManager = given("controller-manager");
const otherScheduler = given("scheduler");
const podCounts = givenNumbers("pods", [1000, 5000]);
const idleSeconds = givenNumber("idle-seconds", 20);
const only = given("only");
const replicas = 100;
const nodeCount = Math.ceil((podCounts.reduce((sum, count) => sum + count, 0) + replicas) / 100);
const namespace = "default";
const image = "example/app:1";
const creators = 16;
const podSpec = {
  terminationGracePeriodSeconds: 0,
  containers: [{ name: "main", image, resources: { requests: { cpu: "10m" } } }],
};

interface Contender {
  readonly name: string;
  readonly manager: readonly string[];
  readonly scheduler: readonly string[];
  /** Flags that lift the scheduler's client rate limit. */
  readonly unlimited: readonly string[];
}

const contenders: Contender[] = [
  {
    name: "orch",
    manager: [...programCommand("orch-controller-manager"), "--dialect=kubernetes"],
    scheduler: [...programCommand("orch-scheduler"), "--dialect=kubernetes"],
    unlimited: [],
  },
];
if (otherManager && otherScheduler)
  contenders.push({
    name: "other",
    manager: [otherManager],
    scheduler: [otherScheduler],
    unlimited: ["--kube-api-qps=10000", "--kube-api-burst=10000"],
  });

for (const contender of contenders)
  if (only === undefined || only === contender.name) await measure(contender);

async function measure({ name, manager, scheduler, unlimited }: Contender): Promise<void> {
  const over = new AbortController();
  await using server = await startApiserver({
    dialect: "kubernetes",
    flags: ["--disable-admission-plugins=ServiceAccount"],
  });
  const client = apiClient(https(connectionOf(singleContext({ name, server: server.url, ca: server.ca, token: server.token }))), "kubernetes"); // prettier-ignore
  // Nodes without machines send no heartbeats.
  const controllers = start([...manager, "--node-monitor-grace-period=24h"], server);
  let placing = start(scheduler, server);
  const costs = (): Costs => ({ manager: costOf(controllers), scheduler: costOf(placing) });
  try {
    const nodes = await hollowNodes({ client, count: nodeCount, signal: over.signal });
    // Pods can be scheduled only once the taints of new nodes have been removed.
    await until("the nodes take pods", async () =>
      (await client.of(kinds.nodes).list()).items.every(({ spec }) => !spec?.taints?.length),
    );
    await sleep(8000);
    const before = costs();
    await sleep(idleSeconds * 1000);
    tell(name, `idle for ${idleSeconds} s: ${spent(before, costs())}, ${memory(costs())}`);
    await rollOut(name, client, costs);
    for (const count of podCounts) {
      await placing.stop();
      await createPods(client, count);
      placing = start([...scheduler, ...unlimited], server);
      await place(name, client, { count, costs });
      tell(name, `afterwards: ${memory(costs())}`);
    }
    over.abort();
    await nodes.stopped;
  } finally {
    over.abort();
    await Promise.all([controllers.stop(), placing.stop()]);
  }
}

async function rollOut(name: string, client: ApiClient, costs: () => Costs): Promise<void> {
  const before = costs();
  const began = performance.now();
  const labels = { app: "rolled-out" };
  const spec = {
    replicas,
    selector: { matchLabels: labels },
    template: { metadata: { labels }, spec: podSpec },
  };
  await client.request("POST", `/apis/apps/v1/namespaces/${namespace}/deployments`, {
    metadata: { name: "rolled-out" },
    spec,
  });
  await until("all pods are ready", async () => {
    const { status } = await client.of(kinds.deployments).get("rolled-out", { namespace });
    return status?.readyReplicas === replicas;
  });
  tell(name, `a Deployment of ${replicas} pods: ready after ${since(began)} s, ${spent(before, costs())}`);
}

async function createPods(client: ApiClient, count: number): Promise<void> {
  await inFlight(creators, count, (at) =>
    client.request("POST", `/api/v1/namespaces/${namespace}/pods`, {
      metadata: { name: `placed-${count}-${at}`, labels: { size: String(count) } },
      spec: podSpec,
    }),
  );
}

/** Measures from the first binding to the last, which excludes the start of the scheduler. */
async function place(
  name: string,
  client: ApiClient,
  { count, costs }: { readonly count: number; readonly costs: () => Costs },
): Promise<void> {
  const over = new AbortController();
  const bound = new Set<string>();
  const all = Promise.withResolvers<void>();
  let first: { readonly at: number; readonly costs: Costs; readonly bound: number } | undefined;
  const following = informer({
    client: client.of(kinds.pods),
    scope: { namespace, labelSelector: `size=${count}` },
    signal: over.signal,
    onEvent: ({ object: { metadata, spec } }) => {
      if (!spec?.nodeName) return;
      bound.add(metadata.uid!);
      first ??= { at: performance.now(), costs: costs(), bound: bound.size };
      if (bound.size === count) all.resolve();
    },
  });
  await all.promise;
  const seconds = (performance.now() - first!.at) / 1000;
  const rate = (count - first!.bound) / seconds;
  tell(
    name,
    `${count} pods: ${rate.toFixed(0)} bound a second (${seconds.toFixed(1)} s), ${spent(first!.costs, costs())}`,
  );
  over.abort();
  await following.stopped;
}

interface Cost {
  readonly cpuMilliseconds: number;
  readonly megabytes: number;
}

interface Costs {
  readonly manager: Cost;
  readonly scheduler: Cost;
}

function costOf({ pid }: { readonly pid: number }): Cost {
  return { cpuMilliseconds: cpuMicros(pid) / 1000, megabytes: residentMegabytes(pid) };
}

function spent(before: Costs, after: Costs): string {
  const [manager, scheduler] = (["manager", "scheduler"] as const).map(
    (part) => after[part].cpuMilliseconds - before[part].cpuMilliseconds,
  ) as [number, number];
  return `${(manager + scheduler).toFixed(0)} ms of CPU (${manager.toFixed(0)} + ${scheduler.toFixed(0)})`;
}

function memory({ manager, scheduler }: Costs): string {
  const [one, other] = [manager.megabytes, scheduler.megabytes];
  return `${(one + other).toFixed(0)} MB resident (${one.toFixed(0)} + ${other.toFixed(0)})`;
}

function since(began: number): string {
  return ((performance.now() - began) / 1000).toFixed(1);
}

function start([command, ...words]: readonly string[], { kubeconfig }: RunningApiserver) {
  const child = spawn(command!, [...words, `--kubeconfig=${kubeconfig}`, "--leader-elect=false"], {
    stdio: "ignore",
  });
  const ended = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  return {
    pid: child.pid!,
    stop: () => {
      child.kill("SIGKILL");
      return ended;
    },
  };
}

function tell(name: string, what: string): void {
  console.log(`${name}: ${what}`);
}
