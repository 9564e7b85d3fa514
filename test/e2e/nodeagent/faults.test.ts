// Everything around the agent fails at random while pods are created and deleted: the runtime refuses calls,
// executes them without a response, is slow or hangs, and is killed; the API server does the same and is down
// for a while; the agent is killed. When the faults end, everything must reach its expected state. For longer
// runs with other seeds:
// ORCH_FAULT_SECONDS=60 ORCH_FAULT_ROUNDS=5 ORCH_FAULT_SEED=100 ORCH_FAULT_AWAY_SECONDS=40
// ORCH_FAULT_PODS=60.
import assert from "node:assert/strict";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, after, before, describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { kinds } from "#client";
import { type Cluster, needsCluster, podHome, startCluster, until } from "#kit";
import { type ApiFaultProxy, apiFaultProxy } from "../../robustness/api-fault-proxy.ts";
import { type FaultRoundOptions, faultRound } from "../../robustness/fault-round.ts";
import {
  type NodePlugins,
  type SmallDisk,
  nodePlugins,
  smallDisk,
} from "../../robustness/node-surroundings.ts";
import { type RuntimeFaultProxy, runtimeFaultProxy } from "../../robustness/runtime-fault-proxy.ts";

const wish = (name: string, usual: number): number => Number(process.env[`ORCH_FAULT_${name}`] ?? usual);
const [seconds, rounds, firstSeed, awaySeconds, most] = [
  wish("SECONDS", 8),
  wish("ROUNDS", 1),
  wish("SEED", 1),
  wish("AWAY_SECONDS", 4),
  wish("PODS", 10),
];
/** Many pods mean a long round, in which every component fails. */
const isLong = most > 10;
const noEviction = Object.fromEntries(
  ["memory.available", "nodefs.available", "nodefs.inodesFree", "imagefs.available"].map((signal) => [
    signal,
    "0%",
  ]),
);

describe("a node under faults", needsCluster(), () => {
  let cluster: Cluster;
  let runtimeProxy: RuntimeFaultProxy;
  let apiProxy: ApiFaultProxy;
  let plugins: NodePlugins | undefined;
  let disk: SmallDisk | undefined;
  before(async () => {
    if (isLong) disk = await smallDisk(await mkdtemp(join(tmpdir(), "orch-small-disk-")), 64);
    cluster = await startCluster({
      ...(disk && { agentRoot: disk.path }),
      dialect: "kubernetes",
      apiserverFlags: ["--feature-gates=SidecarContainers=true"],
      agentConfig: { runtimeRequestTimeout: "5s", evictionHard: noEviction },
      between: {
        runtime: async (socket) =>
          (runtimeProxy = await runtimeFaultProxy(socket, `${socket}.faults`)).endpoint,
        api: async ({ url, ca, agent, serving }) =>
          (apiProxy = await apiFaultProxy({ target: { url, ca }, agent, serving })).url,
      },
    });
    if (isLong) plugins = await nodePlugins(cluster);
    await plugins?.start();
  });
  after(async () => {
    runtimeProxy?.calm();
    apiProxy?.calm();
    await cluster?.stop();
    await plugins?.[Symbol.asyncDispose]();
    await disk?.[Symbol.asyncDispose]();
    await runtimeProxy?.[Symbol.asyncDispose]();
    await apiProxy?.[Symbol.asyncDispose]();
  });

  const play =
    (of: FaultRoundOptions["of"], seed: number) =>
    async (t: TestContext): Promise<void> => {
      const home = await podHome(cluster);
      home.stop();
      const lines: string[] = [];
      const wrong = await faultRound({
        cluster,
        runtimeProxy,
        apiProxy,
        ...(plugins && { plugins }),
        ...(disk && { disk }),
        namespace: home.namespace,
        seed,
        seconds,
        of,
        // Exited sandboxes are collected once a minute; many pods take additional time.
        restSeconds: 90 + 3 * most,
        most,
        ...(isLong && { initially: most - 10 }),
        partitionSeconds: awaySeconds,
        say: (line) => {
          lines.push(line);
          // Prints the progress of runs that may take an hour.
          if (isLong) process.stderr.write(`${new Date().toISOString()} ${line}\n`);
        },
      });
      // Reports not every step, but the faults of the programs and the summary.
      const faults = lines.filter((line) => !/^\d+\.\d+ /.test(line));
      t.diagnostic(`seed ${seed}, ${lines.length - faults.length} steps: ${faults.join("; ")}`);
      assert.deepEqual(wrong, [], `${lines.join("\n")}\n${(await cluster.agent.log()).slice(-20_000)}`);
    };
  for (let seed = firstSeed; seed < firstSeed + rounds; seed++) {
    test(
      `the runtime fails and the agent is killed at random, with seed ${seed}`,
      play(["runtime", "agent"], seed),
    );
    test(
      `the runtime and the agent are killed at random, with seed ${seed}: no ready pod flips`,
      play(["daemon", "agent"], seed),
    );
    test(
      `the API server fails and is down at random, with seed ${seed}: no ready pod flips`,
      play(["api"], seed),
    );
    if (isLong)
      test(
        `plugins, the runtime and the agent are killed, the disk is full and the API server down, with seed ${seed}: no ready pod flips`,
        play(["daemon", "agent", "api", "plugins", "disk"], seed),
      );
  }

  test("without responses the agent stops in time, starts while the runtime hangs, and takes no pod for lost", async (t) => {
    const home = await podHome(cluster);
    t.after(() => home.stop());
    const steady = await home.create({ containers: [{ command: ["sleep", "100000"] }] });
    await home.ready(steady);
    const from = home.history(steady).length;
    runtimeProxy.plan(() => ({ kind: "hang" }));
    apiProxy.plan(() => ({ kind: "hang" }));
    const coming = await home.create({ containers: [{ command: ["sleep", "100000"] }] });
    await sleep(500);
    await cluster.agent.stop();
    apiProxy.calm();
    await cluster.agent.start();
    await sleep(2000);
    runtimeProxy.calm();
    await home.ready(coming);
    assert.deepEqual(
      home
        .history(steady)
        .slice(from)
        .filter(({ status }) => status?.conditions?.find(({ type }) => type === "Ready")?.status !== "True"),
      [],
    );
    await Promise.all([home.remove(coming), home.remove(steady)]);
    await until("the node is ready again", async () => {
      const { status } = await cluster.client.of(kinds.nodes).get(cluster.nodeName);
      return status?.conditions?.some(({ type, status: is }) => type === "Ready" && is === "True");
    });
  });
});
