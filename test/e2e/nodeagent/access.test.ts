// Access to pods with kubectl: logs, exec, attach, port-forward, cp; and the agent's own endpoints.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { readFile, readdir, writeFile } from "node:fs/promises";
import { request } from "node:https";
import { connect } from "node:net";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import {
  type Answer,
  type Cluster,
  follow,
  freePort,
  kubectlProgram,
  needsCluster,
  type PodHome,
  podHome,
  startCluster,
  until,
} from "#kit";

const forever = "trap 'exit 0' TERM; while :; do sleep 0.1; done";

describe("access to pods", { concurrency: 6, ...needsCluster() }, () => {
  let cluster: Cluster;
  let home: PodHome;
  let resting: string;
  before(async () => {
    cluster = await startCluster({
      dialect: "kubernetes",
      agentConfig: { containerLogMaxSize: "20Ki", containerLogMaxFiles: 3 },
    });
    home = await podHome(cluster);
    resting = await home.script(`for i in 1 2 3 4 5; do echo line $i; done; echo oops >&2; ${forever}`);
    await home.ready(resting);
    await until("it has said everything", async () => {
      const log = await home.logs(resting);
      return log.includes("line 5\n") && log.includes("oops\n");
    });
  });
  after(async () => {
    home?.stop();
    await cluster?.stop();
  });
  const run = (args: readonly string[], input?: string) =>
    cluster.kubectl(["-n", home.namespace, ...args], input === undefined ? {} : { input });
  const good = async (args: readonly string[], input?: string): Promise<string> => {
    const { code, stdout, stderr } = await run(args, input);
    assert.equal(code, 0, stderr);
    return stdout;
  };
  /** Sends a request to the agent itself, with an administrator's token or without any. */
  const agent = (path: string, token: string | undefined = cluster.apiserver.token): Promise<Answer> =>
    new Promise((resolve, reject) => {
      const headers = token === undefined || token === "" ? {} : { authorization: `Bearer ${token}` };
      const sent = request(
        new URL(path, cluster.agent.url),
        { headers, rejectUnauthorized: false },
        (reply) => {
          let body = "";
          reply.setEncoding("utf8").on("data", (chunk: string) => (body += chunk));
          reply.on("end", () => resolve({ status: reply.statusCode ?? 0, body }));
        },
      );
      sent.on("error", reject).end();
    });

  test("logs: all, the tail, some bytes, with times, since", async () => {
    const all = "line 1\nline 2\nline 3\nline 4\nline 5\noops\n";
    assert.equal(
      (await good(["logs", resting])).split("\n").toSorted().join(),
      all.split("\n").toSorted().join(),
    );
    assert.equal((await good(["logs", resting, "--tail=2"])).split("\n").length, 3);
    assert.equal((await good(["logs", resting, "--limit-bytes=8"])).length, 8);
    assert.match(
      await good(["logs", resting, "--timestamps", "--tail=1"]),
      /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z /,
    );
    assert.match(await good(["logs", resting, "--since=1h"]), /line 1/);
    assert.equal(await good(["logs", resting, "--since-time=2100-01-01T00:00:00Z"]), "");
  });

  test("logs of a previous container, and the error without one", async () => {
    const pod = await home.script(
      "[ -e /d/x ] && { echo second; sleep 600; }; touch /d/x; echo first; exit 1",
      { volumeMounts: [{ name: "d", mountPath: "/d" }] },
      { restartPolicy: "Always", volumes: [{ name: "d", emptyDir: {} }] },
    );
    await home.until(
      pod,
      "restarts",
      (seen) =>
        seen.status?.containerStatuses?.[0]?.restartCount === 1 &&
        seen.status.containerStatuses[0].state.running !== undefined,
    );
    assert.equal(await good(["logs", pod, "--previous"]), "first\n");
    const { code, stderr } = await run(["logs", resting, "--previous"]);
    assert.notEqual(code, 0);
    assert.match(stderr, /previous terminated container "c" in pod ".*" not found/);
  });

  test("a log is followed until the container ends, across rotation", async () => {
    const filler = "a line that fills the file up rather fast";
    const pod = await home.script(
      `echo 0; until [ -e /tmp/go ]; do sleep 0.1; done; i=0; while [ $i -lt 1000 ]; do i=$((i+1)); echo $i ${filler}; [ $i -eq 500 ] && sleep 11; done; true`,
    );
    await home.until(pod, "runs", (seen) => seen.status?.phase === "Running");
    // A client that connects after a rotation does not receive the beginning of the log.
    await using log = follow(cluster.apiserver.kubeconfig, ["-n", home.namespace, "logs", "-f", pod]);
    await log.until("0\n");
    await home.exec(pod, "touch", "/tmp/go");
    const numbers = (await log.until(`1000 ${filler}\n`, 300))
      .trimEnd()
      .split("\n")
      .map((line) => Number(line.split(" ")[0]));
    assert.deepEqual(
      numbers,
      Array.from({ length: 1001 }, (_, at) => at),
    );
  });

  test("exec: output, error output, input, exit code", async () => {
    const { code, stdout, stderr } = await run([
      "exec",
      resting,
      "--",
      "sh",
      "-c",
      "echo out; echo err >&2; exit 42",
    ]);
    assert.deepEqual([code, stdout], [42, "out\n"]);
    assert.match(stderr, /^err\n/);
    assert.equal(await good(["exec", "-i", resting, "--", "cat"], "through and back"), "through and back");
    const { stderr: missing } = await run(["exec", resting, "--", "nope"]);
    assert.match(missing, /executable file not found/);
  });

  test("a large output and a large input arrive whole", async () => {
    assert.equal(
      (
        await good([
          "exec",
          resting,
          "--",
          "sh",
          "-c",
          "dd if=/dev/zero bs=1M count=5 2>/dev/null | tr '\\0' x",
        ])
      ).length,
      5 << 20,
    );
    assert.equal(await good(["exec", "-i", resting, "--", "wc", "-c"], "y".repeat(3 << 20)), `${3 << 20}\n`);
  });

  test("attach streams a container's output and input", async () => {
    // containerd forwards input before it attaches to the output: what is printed in between is lost.
    const script = 'read line; for i in 1 2 3 4 5 6 7 8; do sleep 0.5; echo "got $line"; done';
    const pod = await home.script(script, { stdin: true, stdinOnce: true });
    await home.until(pod, "runs", (seen) => seen.status?.containerStatuses?.[0]?.state.running !== undefined);
    assert.match(await good(["attach", "-i", pod], "hello\n"), /got hello/);
    await home.ended(pod);
  });

  test("port-forward transfers bytes both ways", async () => {
    // Reads the kernel's table, which has the port in hexadecimal: a connection would consume the server's
    // response.
    const listens = "cat /proc/net/tcp /proc/net/tcp6 | grep -q ':1F90 .* 0A '";
    const pod = await home.script("while :; do echo pong | nc -l -p 8080; done", {
      readinessProbe: { exec: { command: ["sh", "-c", listens] }, periodSeconds: 1 },
    });
    await home.ready(pod);
    const port = await freePort();
    const child = spawn(
      kubectlProgram,
      [
        "--kubeconfig",
        cluster.apiserver.kubeconfig,
        "-n",
        home.namespace,
        "port-forward",
        `pod/${pod}`,
        `${port}:8080`,
      ],
      {
        stdio: ["ignore", "pipe", "inherit"],
      },
    );
    try {
      await new Promise((resolve) => child.stdout.once("data", resolve));
      const answer = await new Promise<string>((resolve, reject) => {
        let text = "";
        const socket = connect(port, "127.0.0.1");
        socket.setEncoding("utf8").on("data", (chunk: string) => {
          text += chunk;
          if (text.includes("\n")) socket.destroy();
        });
        socket.on("close", () => resolve(text)).on("error", reject);
      });
      assert.equal(answer, "pong\n");
    } finally {
      child.kill("SIGTERM");
    }
  });

  test("cp brings files in and out unchanged", async () => {
    const bytes = randomBytes(300_000);
    const [there, back] = [join(cluster.folder, "there"), join(cluster.folder, "back")];
    await writeFile(there, bytes);
    await good(["cp", there, `${home.namespace}/${resting}:/tmp/copied`]);
    await good(["cp", `${home.namespace}/${resting}:/tmp/copied`, back]);
    assert.deepEqual(await readFile(back), bytes);
  });

  test("kubectl run, wait, get, describe and delete work together", async () => {
    const overrides = JSON.stringify({ spec: { nodeName: cluster.nodeName } });
    await good([
      "run",
      "simple",
      `--image=${home.image}`,
      "--restart=Never",
      `--overrides=${overrides}`,
      "--",
      "sleep",
      "600",
    ]);
    await good(["wait", "--for=condition=Ready", "pod/simple", "--timeout=120s"]);
    assert.match(await good(["get", "pod", "simple"]), /simple +1\/1 +Running +0/);
    assert.match(await good(["describe", "pod", "simple"]), /Started container simple/);
    await good(["delete", "pod", "simple", "--grace-period=1"]);
    assert.match((await run(["get", "pod", "simple"])).stderr, /not found/);
  });

  test("the agent admits only users that the API server authenticates and authorizes", async () => {
    assert.equal((await agent("/pods", "")).status, 401);
    assert.equal((await agent("/pods", "wrong")).status, 401);
    assert.equal((await agent("/healthz")).body, "ok");
    const { body } = await cluster.apiserver.call(
      "POST",
      `/api/v1/namespaces/${home.namespace}/serviceaccounts/default/token`,
      {
        apiVersion: "authentication.k8s.io/v1",
        kind: "TokenRequest",
        spec: {},
      },
    );
    const token = (JSON.parse(body) as { status: { token: string } }).status.token;
    assert.equal((await agent("/pods", token)).status, 403);
  });

  test("the agent serves its pods, their statistics, and its settings", async () => {
    const pods = JSON.parse((await agent("/pods")).body) as {
      items: { metadata: { name: string }; status: { phase: string } }[];
    };
    assert.equal(pods.items.find(({ metadata }) => metadata.name === resting)?.status.phase, "Running");
    const running = JSON.parse((await agent("/runningpods/")).body) as typeof pods;
    assert.ok(running.items.some(({ metadata }) => metadata.name === resting));
    interface Usage {
      readonly podRef: { readonly name: string };
      readonly containers: {
        readonly name: string;
        readonly memory: { readonly workingSetBytes: number };
        readonly cpu: { readonly usageCoreNanoSeconds: number };
      }[];
    }
    const summary = JSON.parse((await agent("/stats/summary")).body) as {
      node: { nodeName: string; memory: { availableBytes: number } };
      pods: Usage[];
    };
    assert.equal(summary.node.nodeName, cluster.nodeName);
    const used = summary.pods.find(({ podRef }) => podRef.name === resting)?.containers[0];
    assert.ok(
      (used?.memory.workingSetBytes ?? 0) > 0 && (used?.cpu.usageCoreNanoSeconds ?? 0) > 0,
      JSON.stringify(used),
    );
    const config = JSON.parse((await agent("/configz")).body) as { kubeletconfig: { clusterDomain: string } };
    assert.equal(config.kubeletconfig.clusterDomain, "cluster.local");
  });

  test("metrics are exposed per container and per node", async () => {
    const figures = await Promise.all(
      ["/metrics", "/metrics/resource", "/metrics/cadvisor", "/metrics/probes"].map((path) => agent(path)),
    );
    assert.deepEqual(
      figures.map(({ status }) => status),
      [200, 200, 200, 200],
    );
    const own = cluster.dialect.data.agentMetricPrefix;
    for (const name of [
      ...[
        "active_pods",
        "cgroup_manager_duration_seconds",
        "container_log_filesystem_used_bytes",
        "containers_per_pod_count",
        "desired_pods",
      ].map((word) => own + word),
      ...[
        "http_requests_total",
        "mirror_pods",
        "pleg_relist_duration_seconds",
        "pod_start_duration_seconds",
        "pod_start_sli_duration_seconds",
      ].map((word) => own + word),
      ...[
        "pod_status_sync_duration_seconds",
        "pod_worker_duration_seconds",
        "run_podsandbox_duration_seconds",
        "runtime_operations_total",
      ].map((word) => own + word),
      ...["started_containers_total", "started_pods_total", "working_pods"].map((word) => own + word),
      "apiserver_delegated_authz_request_total",
      "process_virtual_memory_bytes",
      "rest_client_requests_total",
      "volume_manager_total_volumes",
    ]) {
      assert.match(figures[0]!.body, new RegExp(`^# TYPE ${name} `, "m"));
    }
    assert.match(
      figures[1]!.body,
      new RegExp(`^container_memory_working_set_bytes\\{.*pod="${resting}".*\\} \\d+`, "m"),
    );
    assert.match(figures[1]!.body, /^node_cpu_usage_seconds_total \d/m);
    assert.match(
      figures[2]!.body,
      new RegExp(`^container_cpu_usage_seconds_total\\{.*pod="${resting}"`, "m"),
    );
  });

  test("a pod's pages and the pages they link to are served through the API server's proxy", async () => {
    const page = "<a href=/next.html>on</a>";
    const pod = await home.script(
      `mkdir /w; echo '${page}' > /w/index.html; echo there > /w/next.html; exec httpd -f -p 8080 -h /w`,
    );
    await home.ready(pod);
    const path = `/api/v1/namespaces/${home.namespace}/pods/${pod}:8080/proxy`;
    await until(
      "the page is served",
      async () => (await cluster.apiserver.call("GET", `${path}/`)).status === 200,
    );
    assert.equal(
      (await cluster.apiserver.call("GET", `${path}/`)).body,
      `<a href=${path}/next.html>on</a>\n`,
    );
    assert.equal((await cluster.apiserver.call("GET", `${path}/next.html`)).body, "there\n");
    assert.equal((await cluster.apiserver.call("GET", `${path}/none`)).status, 404);
  });

  test("the node is served through the API server's proxy", async () => {
    const { status, body } = await cluster.apiserver.call(
      "GET",
      `/api/v1/nodes/${cluster.nodeName}/proxy/healthz`,
    );
    assert.deepEqual([status, body], [200, "ok"]);
    const logs = await cluster.apiserver.call(
      "GET",
      `/api/v1/nodes/${cluster.nodeName}/proxy/containerLogs/${home.namespace}/${resting}/c?tailLines=1`,
    );
    assert.equal(logs.status, 200);
  });

  test("log files are rotated by size, and a limited number is kept", async () => {
    const pod = await home.script(
      "i=0; while :; do i=$((i+1)); echo $i a line that fills the file up rather fast; [ $((i % 300)) -eq 0 ] && sleep 1; done",
    );
    const ready = await home.ready(pod);
    const folder = `/var/log/pods/${home.namespace}_${pod}_${ready.metadata.uid}/c`;
    await until("log files are rotated", async () => (await readdir(folder)).length >= 3);
    assert.ok((await readdir(folder)).length <= 4);
  });
});
