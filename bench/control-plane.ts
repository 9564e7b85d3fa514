// The controller manager and the scheduler: what they cost when nothing happens, a Deployment of 100 pods until
// all are ready on hollow nodes, and 1,000 pods from created to bound. Other programs with the same flags are
// measured in the same run: --controller-manager=PATH --scheduler=PATH.
import { spawn } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { type ApiClient, apiClient, connectionOf, https, kinds, singleContext } from "#client";
import { type RunningApiserver, hollowNodes, programCommand, startApiserver, until } from "#kit";
import { cpuMicros, residentMegabytes } from "./kit/process-cost.ts";

const { values } = parseArgs({
  options: {
    "controller-manager": { type: "string" },
    scheduler: { type: "string" },
    pods: { type: "string", default: "1000" },
    "idle-seconds": { type: "string", default: "20" },
  },
});
const podCount = Number(values.pods);
const idleSeconds = Number(values["idle-seconds"]);
const nodeCount = Math.ceil((podCount + 100) / 100);
const namespace = "default";
const image = "example/app:1";
const podSpec = {
  terminationGracePeriodSeconds: 0,
  containers: [{ name: "main", image, resources: { requests: { cpu: "10m" } } }],
};

interface Contender {
  readonly name: string;
  readonly manager: readonly string[];
  readonly scheduler: readonly string[];
}

const contenders: Contender[] = [
  {
    name: "orch",
    manager: [...programCommand("orch-controller-manager"), "--dialect=kubernetes"],
    scheduler: [...programCommand("orch-scheduler"), "--dialect=kubernetes"],
  },
];
if (values["controller-manager"] && values.scheduler)
  contenders.push({ name: "other", manager: [values["controller-manager"]], scheduler: [values.scheduler] });

for (const contender of contenders) await measure(contender);

async function measure({ name, manager, scheduler }: Contender): Promise<void> {
  const over = new AbortController();
  await using server = await startApiserver({
    dialect: "kubernetes",
    flags: ["--disable-admission-plugins=ServiceAccount"],
  });
  const client = apiClient(https(connectionOf(singleContext({ name, server: server.url, ca: server.ca, token: server.token }))), "kubernetes"); // prettier-ignore
  const programs = [start(manager, server), start(scheduler, server)];
  const cpu = (): number => programs.reduce((sum, { pid }) => sum + cpuMicros(pid), 0) / 1000;
  const memory = (): number => programs.reduce((sum, { pid }) => sum + residentMegabytes(pid), 0);
  try {
    const nodes = await hollowNodes({ client, count: nodeCount, signal: over.signal });
    // Until the taints of new nodes are gone, nothing can be placed.
    await until("the nodes take pods", async () =>
      (await client.of(kinds.nodes).list()).items.every(({ spec }) => !spec?.taints?.length),
    );
    await sleep(3000);
    const idle = cpu();
    await sleep(idleSeconds * 1000);
    tell(
      name,
      `idle: ${((cpu() - idle) / idleSeconds).toFixed(1)} ms of CPU a second, ${memory().toFixed(0)} MB`,
    );
    await rollOut(name, client, cpu);
    await place(name, client, cpu);
    tell(name, `afterwards: ${memory().toFixed(0)} MB`);
    over.abort();
    await nodes.stopped;
  } finally {
    over.abort();
    for (const { child } of programs) child.kill("SIGKILL");
  }
}

async function rollOut(name: string, client: ApiClient, cpu: () => number): Promise<void> {
  const before = cpu();
  const began = performance.now();
  const labels = { app: "rolled-out" };
  const spec = {
    replicas: 100,
    selector: { matchLabels: labels },
    template: { metadata: { labels }, spec: podSpec },
  };
  await client.request("POST", `/apis/apps/v1/namespaces/${namespace}/deployments`, {
    metadata: { name: "rolled-out" },
    spec,
  });
  await until("all pods are ready", async () => {
    const { status } = await client.of(kinds.deployments).get("rolled-out", { namespace });
    return status?.readyReplicas === 100;
  });
  const seconds = (performance.now() - began) / 1000;
  tell(
    name,
    `a Deployment of 100 pods: ready after ${seconds.toFixed(1)} s, ${(cpu() - before).toFixed(0)} ms of CPU`,
  );
}

async function place(name: string, client: ApiClient, cpu: () => number): Promise<void> {
  const pods = client.of(kinds.pods);
  const before = cpu();
  const began = performance.now();
  const numbers = Array.from({ length: podCount }, (_, at) => at);
  const create = async (): Promise<void> => {
    for (let at = numbers.pop(); at !== undefined; at = numbers.pop())
      await client.request("POST", `/api/v1/namespaces/${namespace}/pods`, {
        metadata: { name: `placed-${at}`, labels: { app: "placed" } },
        spec: podSpec,
      });
  };
  await Promise.all(Array.from({ length: 16 }, create));
  const created = (performance.now() - began) / 1000;
  await until("all pods are bound", async () => {
    const { items, remaining } = await pods.list({ namespace, fieldSelector: "spec.nodeName=", labelSelector: "app=placed", limit: 1 }); // prettier-ignore
    return items.length === 0 && !remaining;
  });
  const seconds = (performance.now() - began) / 1000;
  tell(
    name,
    `${podCount} pods: created after ${created.toFixed(1)} s, all bound after ${seconds.toFixed(1)} s (${(podCount / seconds).toFixed(0)} a second), ${(cpu() - before).toFixed(0)} ms of CPU`,
  );
}

function start([command, ...words]: readonly string[], { kubeconfig }: RunningApiserver) {
  const child = spawn(command!, [...words, `--kubeconfig=${kubeconfig}`, "--leader-elect=false"], {
    stdio: "ignore",
  });
  return { child, pid: child.pid! };
}

function tell(name: string, what: string): void {
  console.log(`${name}: ${what}`);
}
