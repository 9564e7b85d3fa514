// Claim: twenty pods are ready in at most 70 % of the reference agent's time and gone in at most half, for no more processor time and under
// 90 MB; thirty pods at rest cost under 2 % of one core. Needs root, containerd and kubectl; [pods] [seconds of rest].
import { setTimeout as sleep } from "node:timers/promises";
import { type Cluster, needsCluster, startCluster } from "#kit";
import { cpuMicros, residentMegabytes } from "./kit/process-cost.ts";

const pods = Number(process.argv[2] ?? 20);
const restSeconds = Number(process.argv[3] ?? 20);
/** The reference on this kind of machine, image present, grace 1 s. */
const reference = { readySeconds: 6.7, goneSeconds: 5.3, cpuSeconds: 1.05, megabytes: 81 };
const row = (name: string, ours: number, limit: number, unit: string): void =>
  console.log(`${name.padEnd(34)} ${ours.toFixed(2).padStart(7)} ${unit.padEnd(3)} ${`limit ${limit.toFixed(2)}`.padStart(14)}  ${ours <= limit ? "good" : "MISSED"}`);

const { skip } = needsCluster();
if (skip) console.log(`left out: ${skip}`);
else {
  const cluster = await startCluster({ dialect: "kubernetes" });
  try {
    await round(cluster, 2, "warm");
    const figures = await round(cluster, pods, "lat");
    console.log(
      `${pods} pods of one container; the reference: ready in ${reference.readySeconds} s, gone in ${reference.goneSeconds} s, ${reference.cpuSeconds} s of CPU, ${reference.megabytes} MB`,
    );
    row("ready after creation began", figures.readySeconds, reference.readySeconds * 0.7, "s");
    row("gone after deletion began", figures.goneSeconds, reference.goneSeconds * 0.5, "s");
    row("CPU of the agent, whole round", figures.cpuSeconds, reference.cpuSeconds, "s");
    row("resident memory", figures.megabytes, 90, "MB");
    await make(cluster, 30, "rest");
    await sleep(5000);
    const [before, began] = [cpuMicros(cluster.agent.pid), performance.now()];
    await sleep(restSeconds * 1000);
    row("CPU at rest with 30 pods", (cpuMicros(cluster.agent.pid) - before) / (performance.now() - began) / 10, 2, "%");
    row("resident memory with 30 pods", residentMegabytes(cluster.agent.pid), 90, "MB");
  } finally {
    await cluster.stop();
  }
}

async function run(cluster: Cluster, args: readonly string[], input = ""): Promise<void> {
  const { code, stderr } = await cluster.kubectl(args, { input, timeoutSeconds: 120 });
  if (code !== 0) throw new Error(`kubectl ${args.join(" ")}: ${stderr}`);
}

/** Makes the pods and waits until all are ready. */
async function make(cluster: Cluster, count: number, app: string): Promise<void> {
  const manifests = Array.from({ length: count }, (_, at) => ({
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: `${app}${at + 1}`, labels: { app } },
    spec: {
      nodeName: cluster.nodeName,
      terminationGracePeriodSeconds: 1,
      containers: [{ name: "c", image: cluster.containerd.images.busybox, imagePullPolicy: "IfNotPresent", command: ["sleep", "3600"] }],
    },
  }));
  await run(cluster, ["apply", "-f", "-"], JSON.stringify({ apiVersion: "v1", kind: "List", items: manifests }));
  await run(cluster, ["wait", "--for=condition=Ready", "pod", "-l", `app=${app}`, "--timeout=120s"]);
}

async function round(cluster: Cluster, count: number, app: string) {
  const cpuBefore = cpuMicros(cluster.agent.pid);
  const began = performance.now();
  await make(cluster, count, app);
  const ready = performance.now();
  await run(cluster, ["delete", "pod", "-l", `app=${app}`, "--wait=true"]);
  const gone = performance.now();
  return {
    readySeconds: (ready - began) / 1000,
    goneSeconds: (gone - ready) / 1000,
    cpuSeconds: (cpuMicros(cluster.agent.pid) - cpuBefore) / 1e6,
    megabytes: residentMegabytes(cluster.agent.pid),
  };
}
