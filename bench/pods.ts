// Claim: twenty pods are ready in at most 70 % of the reference agent's time and gone in at most half, for no
// more processor time and under 90 MB; thirty pods at rest cost under 2 % of one core. Needs root, containerd
// and kubectl.
//
//   npm run bench -- pods [--pods=20] [--rest-seconds=20] [--rounds=3]
//
// Each time is measured twice. `kubectl wait` and `kubectl delete --wait` check one pod after the other, and every
// release tried (1.20, 1.27, 1.32) limits itself to 5 requests a second after the first 10: with 20 pods that takes
// 1.8 s after the first deletion, so that kubectl needs at least 3 s with any agent. A watch shows the actual time.
import { setTimeout as sleep } from "node:timers/promises";
import type { Pod } from "#api";
import { informer, kinds } from "#client";
import { type Cluster, needsCluster, startCluster } from "#kit";
import { median } from "./kit/figures.ts";
import { givenNumber } from "./kit/given.ts";
import { cpuMicros, residentMegabytes } from "./kit/process-cost.ts";

const pods = givenNumber("pods", 20);
const restSeconds = givenNumber("rest-seconds", 20);
const rounds = givenNumber("rounds", 3);
/** Figures of the kubelet on this kind of machine, image present, grace period 1 s. */
const reference = { readySeconds: 6.7, goneSeconds: 5.3, cpuSeconds: 1.05, megabytes: 81 };
const row = (name: string, ours: number, limit: number, unit: string): void =>
  console.log(
    `${name.padEnd(34)} ${ours.toFixed(2).padStart(7)} ${unit.padEnd(3)} ${`limit ${limit.toFixed(2)}`.padStart(14)}  ${ours <= limit ? "good" : "MISSED"}`,
  );

const { skip } = needsCluster();
if (skip) console.log(`left out: ${skip}`);
else {
  const cluster = await startCluster({ dialect: "kubernetes" });
  try {
    await round(cluster, 2, "warm");
    const all: Figures[] = [];
    for (let at = 0; at < rounds; at++) all.push(await round(cluster, pods, "lat"));
    const middle = (name: keyof Figures): number => median(all.map((figures) => figures[name]));
    console.log(
      `${pods} pods of one container, the middle of ${rounds} rounds; the reference: ready in ${reference.readySeconds} s, gone in ${reference.goneSeconds} s, ${reference.cpuSeconds} s of CPU, ${reference.megabytes} MB`,
    );
    row("ready, by kubectl wait", middle("readySeconds"), reference.readySeconds * 0.7, "s");
    row("ready, by a watch", middle("shownReadySeconds"), reference.readySeconds * 0.7, "s");
    row("gone, by kubectl delete", middle("goneSeconds"), reference.goneSeconds * 0.5, "s");
    row("gone, by a watch", middle("shownGoneSeconds"), reference.goneSeconds * 0.5, "s");
    row("CPU of the agent, whole round", middle("cpuSeconds"), reference.cpuSeconds, "s");
    row("resident memory", all.at(-1)!.megabytes, 90, "MB");
    await make(cluster, 30, "rest");
    await sleep(5000);
    const [before, began] = [cpuMicros(cluster.agent.pid), performance.now()];
    await sleep(restSeconds * 1000);
    row(
      "CPU at rest with 30 pods",
      (cpuMicros(cluster.agent.pid) - before) / (performance.now() - began) / 10,
      2,
      "%",
    );
    row("resident memory with 30 pods", residentMegabytes(cluster.agent.pid), 90, "MB");
  } finally {
    await cluster.stop();
  }
}

async function run(cluster: Cluster, args: readonly string[], input = ""): Promise<void> {
  const { code, stderr } = await cluster.kubectl(args, { input, timeoutSeconds: 120 });
  if (code !== 0) throw new Error(`kubectl ${args.join(" ")}: ${stderr}`);
}

/** Creates the pods and waits until all are ready. */
async function make(cluster: Cluster, count: number, app: string): Promise<void> {
  const manifests = Array.from({ length: count }, (_, at) => ({
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: `${app}${at + 1}`, labels: { app } },
    spec: {
      nodeName: cluster.nodeName,
      terminationGracePeriodSeconds: 1,
      containers: [
        {
          name: "c",
          image: cluster.containerd.images.busybox,
          imagePullPolicy: "IfNotPresent",
          command: ["sleep", "3600"],
        },
      ],
    },
  }));
  await run(
    cluster,
    ["apply", "-f", "-"],
    JSON.stringify({ apiVersion: "v1", kind: "List", items: manifests }),
  );
  await run(cluster, ["wait", "--for=condition=Ready", "pod", "-l", `app=${app}`, "--timeout=120s"]);
}

interface Figures {
  readonly readySeconds: number;
  readonly goneSeconds: number;
  readonly shownReadySeconds: number;
  readonly shownGoneSeconds: number;
  readonly cpuSeconds: number;
  readonly megabytes: number;
}

async function round(cluster: Cluster, count: number, app: string): Promise<Figures> {
  const watching = new AbortController();
  let [lastReady, lastGone] = [0, 0];
  const isReady = ({ status }: Pod): boolean =>
    status.conditions?.some(({ type, status: is }) => type === "Ready" && is === "True") === true;
  const watch = informer({
    client: cluster.client.of(kinds.pods),
    scope: { namespace: "default", labelSelector: `app=${app}` },
    signal: watching.signal,
    onEvent: (event) => {
      if (event.type === "deleted") lastGone = performance.now();
      else if (isReady(event.object) && !(event.type === "updated" && isReady(event.old)))
        lastReady = performance.now();
    },
  });
  await watch.synced;
  const cpuBefore = cpuMicros(cluster.agent.pid);
  const began = performance.now();
  await make(cluster, count, app);
  const ready = performance.now();
  await run(cluster, ["delete", "pod", "-l", `app=${app}`, "--wait=true"]);
  const gone = performance.now();
  watching.abort();
  return {
    readySeconds: (ready - began) / 1000,
    goneSeconds: (gone - ready) / 1000,
    shownReadySeconds: (lastReady - began) / 1000,
    shownGoneSeconds: (lastGone - ready) / 1000,
    cpuSeconds: (cpuMicros(cluster.agent.pid) - cpuBefore) / 1e6,
    megabytes: residentMegabytes(cluster.agent.pid),
  };
}
