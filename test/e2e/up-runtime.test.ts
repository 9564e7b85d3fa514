// `orch up` with its own container runtime, for machines without a suitable one: it survives crashes, is
// found again, and is removed completely.
import assert from "node:assert/strict";
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { copyFileSync, existsSync, readFileSync, readdirSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { grpcRuntime } from "#cri";
import { freePort, kubectl, kubectlProgram, needs, needsContainerd, startContainerd, until } from "#kit";

const orch = join(import.meta.dirname, "..", "..", "bin", "orch");
const run = promisify(execFile);
const machinesOwn =
  existsSync("/run/containerd/containerd.sock") && "this machine has a runtime, which would be used";
const required = {
  skip: needsContainerd().skip || needs(kubectlProgram, "ctr", "iptables").skip || machinesOwn,
};

test(
  "the cluster's own runtime runs its pods with a network, is restarted, is found again, and is removed by a purge",
  required,
  async () => {
    const other = await startContainerd();
    const data = join(other.folder, "cluster");
    // Outside the cluster's directory, since the client keeps its cache next to its config.
    const config = join(other.folder, "admin.conf");
    const port = await freePort();
    // The PATH as after a plain `su`.
    const folders = (process.env["PATH"] ?? "").split(":").filter((each) => !each.endsWith("/sbin"));
    const env = { ...process.env, PATH: folders.join(":") };
    let output = "";
    let child: ChildProcess | undefined;
    const says = (what: string, pattern: RegExp, times = 1): Promise<unknown> =>
      // prettier-ignore
      until(() => Promise.resolve(`${what}:\n${output}`), () => Promise.resolve((output.match(pattern)?.length ?? 0) >= times));
    const up = async (...flags: string[]): Promise<void> => {
      const started = spawn(
        orch,
        ["up", `--data-dir=${data}`, `--port=${port}`, "--dialect=kubernetes", ...flags],
        { stdio: ["ignore", "pipe", "inherit"], env },
      );
      child = started;
      output = "";
      started.stdout.setEncoding("utf8").on("data", (text: string) => (output += text));
      await says("all is up", /node agent +ready/g);
      copyFileSync(join(data, "admin.conf"), config);
    };
    const client = async (args: string[], input = ""): Promise<string> => {
      const { code, stdout, stderr } = await kubectl(config, args, { input });
      assert.equal(code, 0, `${args.join(" ")}: ${stderr}`);
      return stdout;
    };
    const isSound = async (): Promise<void> => {
      await client(["wait", "pod/web", "--for=condition=Ready", "--timeout=300s"]);
      await until("its page is written", async () => {
        const { stdout } = await kubectl(config, ["exec", "web", "--", "cat", "/www/index.html"]);
        return stdout === "hello\n";
      });
    };
    const restarts = (): Promise<string> =>
      client(["get", "pod", "web", "-o", "jsonpath={.status.containerStatuses[0].restartCount}"]);
    try {
      await up(`--runtime-endpoint=${other.endpoint}`);
      await until(
        "there is a default account",
        async () => (await kubectl(config, ["get", "serviceaccount", "default"])).code === 0,
      );
      const hostPort = await freePort();
      const script = "mkdir /www; echo hello > /www/index.html; exec httpd -f -p 80 -h /www";
      const container = {
        name: "web",
        image: other.images.busybox,
        imagePullPolicy: "IfNotPresent",
        command: ["sh", "-c", script],
        ports: [{ containerPort: 80, hostPort }],
      };
      const pod = {
        apiVersion: "v1",
        kind: "Pod",
        metadata: { name: "web" },
        spec: { containers: [container], terminationGracePeriodSeconds: 0 },
      };
      await client(["create", "-f", "-"], JSON.stringify(pod));
      await isSound();
      child!.kill("SIGINT");
      await once(child!, "exit");

      await up("--install-runtime");
      assert.match(output, /runtime +ready/);
      assert.deepEqual(await sandboxesAt(other.endpoint), []);
      const socket = /address = "(.*)"/.exec(readFileSync(join(data, "runtime", "config.toml"), "utf8"))![1]!;
      await addImages(socket, other.images.pause, other.images.busybox);
      await until(
        "the pod runs on it",
        async () => (await sandboxesAt(`unix://${socket}`)).length > 0 && (await restarts()) === "1",
      );
      await isSound();
      const address = await client(["get", "pod", "web", "-o", "jsonpath={.status.podIP}"]);
      const node = await client([
        "get",
        "nodes",
        "-o",
        'jsonpath={.items[0].status.addresses[?(@.type=="InternalIP")].address}',
      ]);
      for (const place of [address, `${node}:${hostPort}`]) {
        await until(`${place} answers`, async () => (await fetch(`http://${place}/`).then((answer) => answer.text(), () => "")) === "hello\n"); // prettier-ignore
      }

      const [daemon] = processesWith(join(data, "runtime", "config.toml"));
      process.kill(daemon!, "SIGKILL");
      await says("the runtime is there again", /runtime +ready/g, 2);
      await isSound();

      const killCluster = async (): Promise<void> => {
        child!.kill("SIGKILL");
        await until("server and agent end with whoever supervised them", () =>
          Promise.resolve(processesWith(`--data-dir=${data}`).length === 0),
        );
      };
      await killCluster();
      await up();
      await isSound();
      assert.equal(await restarts(), "1", "none of this has affected the pod");
      const resolver = await client(["exec", "web", "--", "cat", "/etc/resolv.conf"]);
      const localAddress = ` ${/^nameserver (\S+)/m.exec(resolver)![1]}/32 `;
      const addresses = async (): Promise<string> =>
        (await run("ip", ["-o", "address", "show", "dev", "lo"])).stdout;
      await killCluster();
      assert.ok((await addresses()).includes(localAddress));

      const { stderr } = await run(orch, ["down", "--purge", `--data-dir=${data}`, "--dialect=kubernetes"]);
      assert.equal(stderr, "");
      assert.ok(!(await addresses()).includes(localAddress));
      const state = dirname(socket);
      assert.deepEqual([data, state, `/sys/class/net/orch-${basename(state)}`].filter(existsSync), []);
      const mounts = readFileSync("/proc/self/mountinfo", "utf8").split("\n");
      // prettier-ignore
      assert.deepEqual(mounts.filter((line) => line.includes(`${data}/`) || line.includes(`${state}/`)), []);
      assert.deepEqual(processesWith(socket), []);
      await assert.rejects(fetch(`http://${node}:${hostPort}/`));
    } finally {
      if (child?.exitCode === null && child.signalCode === null) child.kill("SIGKILL");
      await run(orch, ["down", "--purge", `--data-dir=${data}`, "--dialect=kubernetes"]).catch(
        () => undefined,
      );
      await other.stop();
    }
  },
);

async function sandboxesAt(endpoint: string): Promise<readonly unknown[]> {
  const runtime = grpcRuntime({ endpoint });
  try {
    return await runtime.listPodSandboxes();
  } finally {
    runtime.close();
  }
}

/** Imports the images that pods need, including the runtime's sandbox image: tests download nothing. */
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
