// `orch up` with a node: a pod from its creation to the cleanup.
import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { copyFileSync, existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { grpcRuntime } from "#cri";
import { freePort, kubectl, kubectlProgram, needs, needsContainerd, startContainerd, until } from "#kit";

const orch = join(import.meta.dirname, "..", "..", "bin", "orch");
/** The heap flags that a launcher passes to Node. */
const launcherFlags = (program: string): string =>
  new RegExp(`\\*/${program}\\b[^)]*\\)\\s*heap="(.*)"`).exec(
    readFileSync(join(dirname(orch), "launch.sh"), "utf8"),
  )![1]!;
const required = { skip: needsContainerd().skip || needs(kubectlProgram).skip };

test(
  "a pod is scheduled, runs, is accessed, outlives the stopped cluster, and is removed by a purge",
  required,
  async () => {
    const containerd = await startContainerd();
    const data = join(containerd.folder, "cluster");
    const child = spawn(
      orch,
      [
        "up",
        `--data-dir=${data}`,
        `--port=${await freePort()}`,
        "--dialect=kubernetes",
        `--runtime-endpoint=${containerd.endpoint}`,
      ],
      {
        stdio: ["ignore", "pipe", "inherit"],
      },
    );
    const ended = new Promise<number | null>((resolve) => child.once("exit", (code) => resolve(code)));
    try {
      let output = "";
      await new Promise<void>((resolve, reject) => {
        child.stdout.setEncoding("utf8").on("data", (text: string) => {
          output += text;
          if (output.includes("Stop with Ctrl-C") && /node agent +ready/.test(output)) resolve();
        });
        void ended.then(() => reject(new Error(`it ended:\n${output}`)));
      });
      const { stdout: parts } = await promisify(execFile)("ps", [
        "-ww",
        "-o",
        "args=",
        "--ppid",
        String(child.pid),
      ]);
      assert.match(
        parts,
        new RegExp(`${launcherFlags("nodeagent")} \\S*/bin/nodeagent `),
        "the agent runs as its launcher would run it",
      );
      const config = join(containerd.folder, "admin.conf");
      copyFileSync(join(data, "admin.conf"), config);
      const run = async (...args: string[]): Promise<string> => {
        const { code, stdout, stderr } = await kubectl(config, args);
        assert.equal(code, 0, `${args.join(" ")}: ${stderr}`);
        return stdout;
      };
      const image = containerd.images.busybox;
      await until(
        "there is a default account",
        async () => (await kubectl(config, ["get", "serviceaccount", "default"])).code === 0,
      );
      await run(
        "run",
        "web",
        `--image=${image}`,
        "--image-pull-policy=IfNotPresent",
        "--",
        "sh",
        "-c",
        "echo hello; sleep 3600",
      );
      await run("wait", "pod/web", "--for=condition=Ready", "--timeout=300s");
      await until("it has spoken", async () => (await run("logs", "web")) === "hello\n");
      assert.equal(
        await run("exec", "web", "--", "cat", "/var/run/secrets/kubernetes.io/serviceaccount/namespace"),
        "default",
      );

      child.kill("SIGINT");
      assert.equal(await ended, 0);
      const runtime = grpcRuntime({ endpoint: containerd.endpoint });
      assert.equal((await runtime.listPodSandboxes()).length, 1, "pods go on without the agent");

      const { stderr } = await promisify(execFile)(orch, [
        "down",
        "--purge",
        `--data-dir=${data}`,
        "--dialect=kubernetes",
      ]);
      assert.equal(stderr, "");
      assert.deepEqual(await runtime.listPodSandboxes(), []);
      runtime.close();
      assert.equal(existsSync(data), false);
      assert.equal(readFileSync("/proc/self/mountinfo", "utf8").includes(`${data}/`), false);
    } finally {
      if (child.exitCode === null) child.kill("SIGKILL");
      await ended;
      await containerd.stop();
    }
  },
);
