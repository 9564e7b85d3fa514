// Observability of a running agent: traces, the logs of the machine, checkpoints of containers; and a restart
// back-off that is limited by the settings.
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { access, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { kinds } from "#client";
import { type GrpcServer, grpcServer, unaryProcedure } from "#http";
import { type Cluster, type PodHome, needsCluster, podHome, startCluster, until } from "#kit";

describe("insight into a node", needsCluster(), () => {
  let cluster: Cluster;
  let home: PodHome;
  let collector: GrpcServer;
  let folder = "";
  const batches: Buffer[] = [];
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "orch-collector-"));
    const socketPath = join(folder, "collector.sock");
    const take = {
      path: "/opentelemetry.proto.collector.trace.v1.TraceService/Export",
      decode: (bytes: Uint8Array) => bytes,
      encode: () => new Uint8Array(),
    };
    collector = await grpcServer({
      socketPath,
      procedures: [unaryProcedure(take, (bytes) => void batches.push(Buffer.from(bytes)))],
    });
    cluster = await startCluster({
      apiserverFlags: ["--feature-gates=UserNamespacesStatelessPodsSupport=true"],
      agentConfig: {
        featureGates: {
          NodeLogQuery: true,
          ContainerCheckpoint: true,
          NodeAgentTracing: true,
          UserNamespacesStatelessPodsSupport: true,
        },
        enableSystemLogQuery: true,
        tracing: { endpoint: `unix://${socketPath}`, samplingRatePerMillion: 1_000_000 },
        crashLoopBackOff: { maxContainerRestartPeriod: "1s" },
      },
    });
    home = await podHome(cluster);
  });
  after(async () => {
    home?.stop();
    await cluster?.stop();
    await collector?.close();
    await rm(folder, { recursive: true, force: true });
  });
  const ask = (method: string, path: string): Promise<{ status: number; body: string }> =>
    cluster.apiserver.call(method, `/api/v1/nodes/${cluster.nodeName}/proxy${path}`);

  test("spans of a pod's sync and of its calls to the runtime reach the collector", async () => {
    const name = await home.script("true");
    const { metadata } = await home.ended(name);
    await until("spans of the pod are exported", async () => {
      const all = Buffer.concat(batches);
      return all.includes(metadata.uid!) && all.includes("syncPod") && all.includes("RunPodSandbox");
    });
  });

  test("logs of the machine are listed, read and queried, and no other files", async (t) => {
    const service = `orch-e2e-${randomBytes(4).toString("hex")}`;
    const file = `/var/log/${service}.log`;
    await writeFile(file, "first\nsecond\n");
    t.after(() => rm(file, { force: true }));
    assert.match((await ask("GET", "/logs/")).body, new RegExp(`${service}\\.log`));
    assert.equal((await ask("GET", `/logs/${service}.log`)).body, "first\nsecond\n");
    const queried = await ask("GET", `/logs/?query=${service}`);
    assert.deepEqual([queried.status, queried.body.includes("second")], [200, true]);
    assert.equal((await ask("GET", "/logs/?query=/../../etc/passwd")).status, 406);
    assert.equal((await ask("GET", "/logs/?query=")).status, 400);
  });

  test("a checkpoint is an archive, or the runtime's own refusal", async () => {
    const name = await home.script("while :; do sleep 1; done");
    await home.ready(name);
    const { status, body } = await ask("POST", `/checkpoint/${home.namespace}/${name}/c`);
    if (status === 200) {
      const { items } = JSON.parse(body) as { items: readonly string[] };
      await access(items[0]!);
    } else {
      assert.equal(status, 500);
      assert.match(
        body,
        new RegExp(`checkpointing of ${home.namespace}/${name}/c failed \\(.*CheckpointContainer`),
      );
    }
    await home.remove(name);
  });

  test("a container that keeps failing is restarted with the configured maximum back-off", async () => {
    const name = await home.script("exit 1", {}, { restartPolicy: "Always" });
    const began = Date.now();
    await home.until(name, "has restarted four times", ({ status }) => {
      return (status?.containerStatuses?.[0]?.restartCount ?? 0) >= 4;
    });
    // The default back-offs would add up: four of 10, 20, 40 and 80 s.
    assert.ok(Date.now() - began < 100_000);
    await home.remove(name);
  });

  test("a pod has a user namespace, or waits with the reason why the runtime does not support it", async () => {
    const name = await home.script("cat /proc/self/uid_map", {}, { hostUsers: false });
    const reported = await until("it has ended, or the reason why it cannot start is reported", async () => {
      if (home.get(name)?.status?.phase === "Succeeded") return await home.logs(name);
      const { items } = await cluster.client.of(kinds.coreEvents).list({ namespace: home.namespace });
      const of = items.filter(({ involvedObject }) => involvedObject?.name === name);
      return of.find(({ reason }) => reason === "FailedCreatePodSandBox")?.message;
    });
    assert.match(
      reported,
      /^\s+0 +[1-9]\d+ +65536\n$|has no user namespaces, which hostUsers: false asks for/,
    );
    await home.remove(name);
  });
});
