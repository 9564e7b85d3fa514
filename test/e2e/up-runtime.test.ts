// orch up with a container runtime of its own: for machines that have none. It outlives crashes, is found again, and leaves nothing.
import assert from "node:assert/strict";
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { copyFileSync, existsSync, mkdtempSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { grpcRuntime } from "#cri";
import { freePort, kubectl, kubectlProgram, needs, needsContainerd, startRegistry, until } from "#kit";

const orch = join(import.meta.dirname, "..", "..", "bin", "orch");
const run = promisify(execFile);
const machinesOwn = existsSync("/run/containerd/containerd.sock") && "this machine has a runtime, which would be used";
const required = { skip: needsContainerd().skip || needs(kubectlProgram, "ctr", "iptables").skip || machinesOwn };

test("a runtime of the cluster's own runs pods with a network, is restarted, is found again, and is gone after a purge", required, async () => {
  const folder = mkdtempSync(join(tmpdir(), "orch-own-"));
  const data = join(folder, "cluster");
  // Beside the cluster, since the client keeps its cache where its config is.
  const config = join(folder, "admin.conf");
  const port = await freePort();
  const registry = await startRegistry();
  const said: string[] = [];
  let child: ChildProcess | undefined;
  const up = async (...flags: string[]): Promise<void> => {
    const started = spawn(orch, ["up", `--data-dir=${data}`, `--port=${port}`, "--dialect=kubernetes", ...flags], { stdio: ["ignore", "pipe", "inherit"] });
    child = started;
    said.length = 0;
    started.stdout.setEncoding("utf8").on("data", (text: string) => said.push(text));
    await until(() => Promise.resolve(`all is up:\n${said.join("")}`), () => Promise.resolve(/node agent +ready/.test(said.join("")) && /runtime +ready/.test(said.join("")))); // prettier-ignore
  };
  const client = async (...args: string[]): Promise<string> => {
    const { code, stdout, stderr } = await kubectl(config, args);
    assert.equal(code, 0, `${args.join(" ")}: ${stderr}`);
    return stdout;
  };
  const isSound = async (): Promise<void> => {
    await client("wait", "pod/web", "--for=condition=Ready", "--timeout=60s");
    assert.equal(await client("get", "pod", "web", "-o", "jsonpath={.status.containerStatuses[0].restartCount}"), "0");
    assert.equal(await client("exec", "web", "--", "cat", "/www/index.html"), "hello\n");
  };
  try {
    await up("--install-runtime");
    copyFileSync(join(data, "admin.conf"), config);
    const settings = readFileSync(join(data, "runtime", "config.toml"), "utf8");
    const socket = /address = "(.*)"/.exec(settings)![1]!;
    await addImages(socket, await registry.add("pause:1", { entrypoint: ["/bin/sleep", "100000"] }), await registry.add("busybox:1", {}));
    await until("there is a default account", async () => (await kubectl(config, ["get", "serviceaccount", "default"])).code === 0);
    const hostPort = await freePort();
    const script = "mkdir /www; echo hello > /www/index.html; exec httpd -f -p 80 -h /www";
    const container = {
      name: "web",
      image: `${registry.host}/busybox:1`,
      imagePullPolicy: "IfNotPresent",
      command: ["sh", "-c", script],
      ports: [{ containerPort: 80, hostPort }],
    };
    const pod = { apiVersion: "v1", kind: "Pod", metadata: { name: "web" }, spec: { containers: [container], terminationGracePeriodSeconds: 0 } };
    const made = await kubectl(config, ["create", "-f", "-"], { input: JSON.stringify(pod) });
    assert.equal(made.code, 0, made.stderr);
    await isSound();
    const address = await client("get", "pod", "web", "-o", "jsonpath={.status.podIP}");
    const node = await client("get", "nodes", "-o", 'jsonpath={.items[0].status.addresses[?(@.type=="InternalIP")].address}');
    for (const place of [address, `${node}:${hostPort}`]) {
      await until(`${place} answers`, async () => (await fetch(`http://${place}/`).then((answer) => answer.text(), () => "")) === "hello\n"); // prettier-ignore
    }

    const [daemon] = processesWith(join(data, "runtime", "config.toml"));
    process.kill(daemon!, "SIGKILL");
    await until("the runtime is there again", () => Promise.resolve(said.join("").match(/runtime +ready/g)?.length === 2));
    await isSound();

    child!.kill("SIGKILL");
    await until("server and agent end with whoever supervised them", () => Promise.resolve(processesWith(`--data-dir=${data}`).length === 0));
    await up();
    await isSound();

    const { stderr } = await run(orch, ["down", "--purge", `--data-dir=${data}`, "--dialect=kubernetes"]);
    assert.equal(stderr, "");
    assert.equal(existsSync(data), false);
    const left = readFileSync("/proc/self/mountinfo", "utf8")
      .split("\n")
      .filter((line) => line.includes(`${data}/`) || line.includes(socket.slice(0, socket.lastIndexOf("/"))));
    assert.deepEqual(left, []);
    assert.deepEqual(processesWith(socket), []);
    assert.equal(existsSync(socket.slice(0, socket.lastIndexOf("/"))), false);
    const bridge = `orch-${socket.split("/").at(-2)}`;
    assert.equal(existsSync(`/sys/class/net/${bridge}`), false);
    await assert.rejects(fetch(`http://${node}:${hostPort}/`));
  } finally {
    if (child?.exitCode === null && child.signalCode === null) child.kill("SIGKILL");
    await run(orch, ["down", "--purge", `--data-dir=${data}`, "--dialect=kubernetes"]).catch(() => undefined);
    await registry.stop();
    rmSync(folder, { recursive: true, force: true });
  }
});

/** Images that pods need, the runtime's own for sandboxes among them: nothing is downloaded in tests. */
async function addImages(socket: string, pause: string, busybox: string): Promise<void> {
  const runtime = grpcRuntime({ endpoint: `unix://${socket}` });
  try {
    for (const image of [pause, busybox]) await runtime.pullImage({ image });
  } finally {
    runtime.close();
  }
  const { stdout: defaults } = await run("containerd", ["config", "default"]);
  const namespace = ["--address", socket, "--namespace", "k8s.io"];
  await run("ctr", [...namespace, "images", "tag", pause, /sandbox_image = "(.*)"/.exec(defaults)![1]!]);
}

const processesWith = (argument: string): number[] =>
  readdirSync("/proc")
    .map(Number)
    .filter((pid) => {
      try {
        return pid > 0 && readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0").includes(argument);
      } catch {
        return false;
      }
    });
