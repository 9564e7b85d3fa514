// Settings of the agent that only show in the whole program: identity, addresses, connections. The agent runs
// in this process on a fake runtime with a real API server in memory; only the agent that starts pods and
// exits is a separate process on a real runtime.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtemp, readFile, readdir, rm, writeFile } from "node:fs/promises";
import { request } from "node:http";
import { request as requestTls } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, describe, test } from "node:test";
import { promisify } from "node:util";
import { type RunningServer, startServer } from "#apiserver";
import { silentLog } from "#base";
import { kinds } from "#client";
import { type FakeRuntime, fakeRuntime, grpcRuntime } from "#cri";
import { dialects } from "#dialect";
import { freePort, needs, needsContainerd, programCommand, startContainerd, until } from "#kit";
import { type Agent, settleNodeagent, startAgent } from "#nodeagent";

const run = promisify(execFile);
const dialect = dialects.orch;
/** Flags that avoid changes to the machine, and any port that a test does not ask for. */
const modest = [
  "--container-runtime-endpoint=unix:///nowhere.sock",
  "--cgroups-per-qos=false",
  "--enforce-node-allocatable=",
  "--fail-swap-on=false",
  "--oom-score-adj=0",
  "--enable-server=false",
  "--read-only-port=0",
  "--healthz-port=0",
];
const logs = "/var/log/pods";
const image = "busybox:1";
const podText = (name: string, more: object = {}): string =>
  JSON.stringify({
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, namespace: "default" },
    spec: {
      hostNetwork: true,
      terminationGracePeriodSeconds: 0,
      containers: [{ name: "c", image, command: ["sleep", "100000"], ...more }],
    },
  });

interface Started {
  readonly agent: Agent;
  readonly runtime: FakeRuntime;
  readonly folder: string;
}

async function start(
  t: TestContext,
  flags: readonly string[],
  { server, statics = [] }: { server?: RunningServer; statics?: readonly string[] } = {},
): Promise<Started> {
  const folder = await mkdtemp(join(tmpdir(), "orch-agent-settings-"));
  for (const name of statics) await writeFile(join(folder, `${name}.json`), podText(name));
  const given = [
    ...modest,
    `--root-dir=${join(folder, "root")}`,
    `--cert-dir=${join(folder, "pki")}`,
    "--hostname-override=n1",
    ...flags,
  ];
  const settled = await settleNodeagent(dialect, [
    ...given,
    ...(statics.length > 0 ? [`--pod-manifest-path=${folder}`] : []),
  ]);
  assert.deepEqual(settled.errors, []);
  const runtime = fakeRuntime({ images: [image], programs: { c: ({ forever }) => forever() } });
  const agent = await startAgent({
    dialect,
    settings: settled.values,
    log: silentLog,
    version: "v1.27.16",
    runtime,
    ...(server && { client: server.client }),
  });
  t.after(async () => {
    await agent.stop();
    await server?.stop();
    await removeLogs();
    // The agent bind-mounts its root directory and, like the kubelet, does not unmount it.
    await run("umount", ["-l", join(folder, "root")]).catch(() => undefined);
    await rm(folder, { recursive: true, force: true });
  });
  return { agent, runtime, folder };
}

async function removeLogs(): Promise<void> {
  const left = (await readdir(logs).catch(() => [])).filter((name) => name.startsWith("default_settings-"));
  for (const name of left) await rm(join(logs, name), { recursive: true, force: true });
}

async function serverWithAccount(): Promise<RunningServer> {
  const server = await startServer({ store: "memory" });
  await server.client
    .of(kinds.serviceAccounts)
    .create({ metadata: { name: "default", namespace: "default" } });
  return server;
}

const running = ({ agent }: Started): string[] =>
  agent.registry
    .pods()
    .filter(({ status }) => status?.phase === "Running")
    .map(({ metadata }) => metadata.name ?? "")
    .toSorted((a, b) => (a < b ? -1 : 1));

/** Returns the status of the response, or the code of the connection failure. */
const ask = (url: string): Promise<number | string> =>
  new Promise((resolve) => {
    const send = url.startsWith("https:") ? requestTls : request;
    send(url, { rejectUnauthorized: false, agent: false }, (answer) => {
      answer.resume();
      resolve(answer.statusCode ?? 0);
    })
      .on("error", (error) => resolve((error as { code?: string }).code ?? error.message))
      .end();
  });

describe("settings of a whole agent", needs("root"), () => {
  test("without a kubeconfig the agent runs standalone: it runs static pods, and passes its pod CIDR to the runtime", async (t) => {
    const started = await start(t, ["--pod-cidr=10.9.0.0/24"], { statics: ["settings-s"] });
    await until("the static pod runs", async () => running(started).length === 1);
    assert.deepEqual(running(started), ["settings-s-n1"]);
    const call = started.runtime.calls.find(({ method }) => method === "UpdateRuntimeConfig");
    assert.match(JSON.stringify(call?.request), /10\.9\.0\.0\/24/);
  });

  test(
    "an agent with --exit-on-lock-contention exits when another process waits for its lock file",
    needs("flock"),
    async (t) => {
      const folder = await mkdtemp(join(tmpdir(), "orch-agent-lock-"));
      t.after(() => rm(folder, { recursive: true }));
      const lock = join(folder, "lock");
      const { agent } = await start(t, [`--lock-file=${lock}`, "--exit-on-lock-contention"]);
      const waiting = execFile("flock", [lock, "true"]);
      t.after(() => waiting.kill("SIGKILL"));
      assert.equal(await agent.lockContended, true);
    },
  );

  test("the health server listens on its configured address only", async (t) => {
    const port = await freePort();
    await start(t, ["--healthz-bind-address=127.0.0.2", `--healthz-port=${port}`]);
    assert.equal(await ask(`http://127.0.0.2:${port}/healthz`), 200);
    assert.equal(await ask(`http://127.0.0.1:${port}/healthz`), "ECONNREFUSED");
  });

  test("with a kubeconfig it registers under its configured name, runs the pods bound to it, and takes its pod CIDR from the cluster", async (t) => {
    const server = await serverWithAccount();
    const { client } = server;
    const started = await start(t, ["--hostname-override=other", "--pod-cidr=10.9.0.0/24"], { server });
    const nodes = client.of(kinds.nodes);
    await until("the node is registered", () => nodes.get("other").then(Boolean, () => false));
    assert.equal(started.agent.nodeName, "other");
    const pod = JSON.parse(podText("settings-api")) as { metadata: object; spec: object };
    await client.of(kinds.pods).create({
      metadata: { name: "settings-api", namespace: "default" },
      spec: { ...pod.spec, nodeName: "other", automountServiceAccountToken: false } as never,
    });
    await until("the pod runs", async () => running(started).includes("settings-api"));
    await nodes.patch("other", "merge", { spec: { podCIDR: "10.8.0.0/24", podCIDRs: ["10.8.0.0/24"] } });
    await until("the runtime knows the cluster's range", async () =>
      JSON.stringify(started.runtime.calls.filter(({ method }) => method === "UpdateRuntimeConfig")).includes(
        "10.8.0.0/24",
      ),
    );
    assert.ok(!JSON.stringify(started.runtime.calls).includes("10.9.0.0/24"));
    await client.of(kinds.pods).delete("settings-api", { namespace: "default", graceSeconds: 0 });
    await until(
      "it is gone",
      async () => started.agent.registry.byName("default", "settings-api") === undefined,
    );
  });

  test("the secure server listens on its configured address and port, with a self-signed certificate stored in the folder", async (t) => {
    const port = await freePort();
    const { folder } = await start(t, ["--enable-server", "--address=127.0.0.1", `--port=${port}`]);
    assert.equal(await ask(`https://127.0.0.1:${port}/healthz`), 200);
    assert.equal(await ask(`https://[::1]:${port}/healthz`), "ECONNREFUSED");
    const kept = await readdir(join(folder, "pki"));
    assert.equal(kept.length, 2, kept.join());
    assert.match(
      await readFile(
        join(
          folder,
          "pki",
          kept.find((name) => name.endsWith(".crt"))!,
        ),
        "utf8",
      ),
      /BEGIN CERTIFICATE/,
    );
  });

  for (const address of ["0.0.0.0", "::"]) {
    test(`the address ${address} means all addresses of the machine`, async (t) => {
      const port = await freePort();
      await start(t, ["--enable-server", `--address=${address}`, `--port=${port}`]);
      assert.deepEqual(
        [await ask(`https://127.0.0.1:${port}/healthz`), await ask(`https://127.0.0.2:${port}/healthz`)],
        [200, 200],
      );
      assert.equal(await ask(`https://[::1]:${port}/healthz`), 200);
    });
  }

  test("the read-only and health ports are served without the secure server", async (t) => {
    const [port, readOnly, health] = [await freePort(), await freePort(), await freePort()];
    await start(t, [`--port=${port}`, `--read-only-port=${readOnly}`, `--healthz-port=${health}`]);
    assert.deepEqual(
      [
        await ask(`http://127.0.0.1:${readOnly}/pods`),
        await ask(`http://127.0.0.1:${health}/healthz`),
        await ask(`https://127.0.0.1:${port}/healthz`),
      ],
      [200, 200, "ECONNREFUSED"],
    );
  });

  const profiled: [flags: readonly string[], status: number][] = [
    [["--contention-profiling"], 200],
    [[], 404],
    [["--contention-profiling", "--enable-debugging-handlers=false"], 405],
  ];
  for (const [flags, status] of profiled)
    test(`with ${flags.join(" ") || "no flag"} a request for the block profile is answered with ${status}`, async (t) => {
      const port = await freePort();
      await start(t, ["--enable-server", "--address=127.0.0.1", `--port=${port}`, ...flags]);
      assert.equal(await ask(`https://127.0.0.1:${port}/debug/pprof/block`), status);
    });

  test("a read-only or health port of 0 disables the server", async (t) => {
    const port = await freePort();
    const { agent } = await start(t, ["--enable-server", `--port=${port}`]);
    assert.equal(await ask(`https://127.0.0.1:${port}/healthz`), 200);
    const { stdout } = await run("ss", ["-ltnpH"]).catch(() => ({ stdout: "" }));
    const own = stdout.split("\n").filter((line) => line.includes(`pid=${process.pid},`));
    assert.ok(agent && (stdout === "" || own.length === 1), own.join("\n"));
  });

  test("an agent whose root cgroup does not exist does not start, and does not create it", async (t) => {
    const flags = ["--cgroups-per-qos=true", "--cgroup-root=/orch-settings-none"];
    await assert.rejects(
      start(t, flags),
      /^Error: invalid configuration: cgroup \["orch-settings-none"\] has some missing paths: \/sys\/fs\/cgroup/,
    );
    const trees = ["", ...(await readdir("/sys/fs/cgroup"))].map((tree) => join("/sys/fs/cgroup", tree));
    const made = await Promise.all(trees.map((tree) => readdir(tree).catch(() => [] as string[])));
    assert.equal(made.flat().includes("orch-settings-none"), false);
  });

  test("an agent with --runonce starts static pods and the pods bound to its node, and does not register", async (t) => {
    const server = await serverWithAccount();
    const { client } = server;
    const pod = JSON.parse(podText("settings-once")) as { spec: object };
    await client.of(kinds.pods).create({
      metadata: { name: "settings-once", namespace: "default" },
      spec: { ...pod.spec, nodeName: "n1", automountServiceAccountToken: false } as never,
    });
    const started = await start(t, ["--runonce"], { server, statics: ["settings-s"] });
    assert.deepEqual(await started.agent.started(), []);
    assert.deepEqual(running(started), ["settings-once", "settings-s-n1"]);
    await assert.rejects(client.of(kinds.nodes).get("n1"), /not found/);
  });
});

describe("an agent that runs once", needsContainerd(), () => {
  test("starts its static pods, exits with 0, and leaves them running", async (t) => {
    const containerd = await startContainerd();
    t.after(() => containerd.stop().then(removeLogs));
    const statics = join(containerd.folder, "static.json");
    await writeFile(statics, podText("settings-once", { image: containerd.images.busybox }));
    const [program = "", ...words] = programCommand("nodeagent");
    const flags = [
      "--runonce",
      "--enable-server=false",
      "--read-only-port=0",
      "--healthz-port=0",
      "--fail-swap-on=false",
      "--hostname-override=n1",
      `--cgroup-root=${containerd.cgroupRoot}`,
      `--root-dir=${join(containerd.folder, "root")}`,
      `--container-runtime-endpoint=${containerd.endpoint}`,
      `--pod-manifest-path=${statics}`,
    ];
    await run(program, [...words, ...flags], { timeout: 240_000 });
    const runtime = grpcRuntime({ endpoint: containerd.endpoint, timeoutMilliseconds: 60_000 });
    try {
      const [container] = await runtime.listContainers();
      assert.deepEqual([container?.metadata?.name, container?.state], ["c", 1]);
    } finally {
      runtime.close();
    }
  });
});
