// The agent's server on a real runtime, called directly and through the API server with kubectl.
import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { request as plainRequest } from "node:http";
import { request } from "node:https";
import { connect } from "node:net";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import type { Pod } from "#api";
import { kinds } from "#client";
import { dialects } from "#dialect";
import { type Cluster, follow, freePort, needsCluster, startCluster, until } from "#kit";

const namespace = "served";

interface ReceivedResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
}

describe("the agent's server", needsCluster(), () => {
  let cluster: Cluster;
  let readOnlyPort: number;
  let certificate: { cert: Buffer; key: Buffer; ca: Buffer };
  before(async () => {
    readOnlyPort = await freePort();
    cluster = await startCluster({
      dialect: "kubernetes",
      agentConfig: { readOnlyPort, containerLogMaxSize: "20Ki", containerLogMaxFiles: 3 },
    });
    const file = (name: string): Promise<Buffer> => readFile(join(cluster.folder, name));
    certificate = {
      cert: await file("apiserver-client.crt"),
      key: await file("apiserver-client.key"),
      ca: await file("ca.crt"),
    };
    await cluster.client.of(kinds.namespaces).create({ metadata: { name: namespace } });
    await until("the namespace is furnished", () =>
      cluster.client
        .of(kinds.serviceAccounts)
        .get("default", { namespace })
        .then(Boolean, () => false),
    );
    await create(
      "talker",
      "echo err-line >&2; until [ -e /tmp/go ]; do sleep 0.1; done; for i in 1 2 3 4 5 6; do echo line-$i; done; trap 'exit 0' TERM; while :; do sleep 0.1; done",
    );
    // The order of output on different streams is not guaranteed, so the test waits for the first line.
    await until("it has complained", async () =>
      (await ask("/containerLogs/served/talker/main")).body.includes("err-line"),
    );
    await cluster.kubectl(["exec", "-n", namespace, "talker", "--", "touch", "/tmp/go"]);
    await until("it has spoken", async () =>
      (await ask("/containerLogs/served/talker/main")).body.includes("line-6"),
    );
  });
  after(() => cluster?.stop());

  async function create(name: string, script: string, spec: object = {}): Promise<Pod> {
    const container = {
      name: "main",
      image: cluster.containerd.images.busybox,
      command: ["/bin/sh", "-c", script],
    };
    const whole = {
      nodeName: cluster.nodeName,
      terminationGracePeriodSeconds: 1,
      automountServiceAccountToken: false,
      containers: [container],
      ...spec,
    };
    await cluster.client.of(kinds.pods).create({ metadata: { name }, spec: whole } as never, { namespace });
    return await until(`${name} runs`, async () => {
      const pod = await cluster.client.of(kinds.pods).get(name, { namespace });
      return pod.status?.phase === "Running" && pod;
    });
  }
  function ask(
    path: string,
    {
      method = "GET",
      headers = {},
      trusted = true,
      body = "",
    }: { method?: string; headers?: Record<string, string>; trusted?: boolean; body?: string } = {},
  ): Promise<ReceivedResponse> {
    const tls = trusted ? certificate : { ca: certificate.ca };
    return receivedOf(
      request(`${cluster.agent.url}${path}`, { method, headers, ...tls, agent: false }),
      body,
    );
  }
  const askPlainly = (url: string, method = "GET"): Promise<ReceivedResponse> =>
    receivedOf(plainRequest(url, { method, agent: false }), "");

  const answers: [path: string, status: number, body: string | RegExp][] = [
    ["/healthz", 200, "ok"],
    [
      "/pods",
      200,
      /^\{"kind":"PodList","apiVersion":"v1","metadata":\{\},"items":\[\{"metadata":\{"name":"talker"/,
    ],
    ["/runningpods/", 200, /"name":"talker"/],
    ["/configz", 200, new RegExp(`^\\{"${dialects.kubernetes.cli.agent}config":\\{`)],
    ["/nope", 404, "404 page not found\n"],
    ["/stats/", 404, "404: Page Not Found"],
    ["/containerLogs/served/talker/main", 200, /line-6\n/],
    ["/containerLogs/served/talker/main?tailLines=2", 200, "line-5\nline-6\n"],
    [
      "/containerLogs/served/talker/main?previous=true",
      400,
      'previous terminated container "main" in pod "talker" not found',
    ],
    ["/containerLogs/served/talker/nope", 404, 'container "nope" not found in pod "talker"'],
    ["/exec/served/talker/main", 400, "you must specify at least 1 of stdin, stdout, stderr"],
    ["/metrics", 200, /^# HELP /],
    ["/metrics/probes", 200, /process_start_time_seconds/],
    ["/debug/pprof/symbol", 200, "num_symbols: 1\n"],
    ["/logs/", 200, /<a href="pods\/">/],
  ];
  for (const [path, status, body] of answers) {
    test(`${path} is answered ${status}`, async () => {
      const answer = await ask(path);
      assert.equal(answer.status, status);
      if (typeof body === "string") assert.equal(answer.body, body);
      else assert.match(answer.body, body);
    });
  }

  test("unauthenticated and unauthorized clients receive the reason", async () => {
    const answers_ = await Promise.all([
      ask("/pods", { trusted: false }),
      ask("/pods", { trusted: false, headers: { authorization: "Bearer nonsense" } }),
      ask("/nope", { trusted: false }),
    ]);
    assert.deepEqual(
      answers_.map(({ status, body }) => [status, body]),
      [
        [401, "Unauthorized"],
        [401, "Unauthorized"],
        [404, "404 page not found\n"],
      ],
    );
  });

  test("tokens and permissions are reviewed by the API server", async () => {
    const admin = { authorization: `Bearer ${cluster.apiserver.token}` };
    assert.equal((await ask("/pods", { trusted: false, headers: admin })).status, 200);
    const { status } = (await cluster.client.request(
      "POST",
      `/api/v1/namespaces/${namespace}/serviceaccounts/default/token`,
      { spec: {} },
    )) as { status: { token: string } };
    const answer = await ask("/stats/summary", {
      trusted: false,
      headers: { authorization: `Bearer ${status.token}` },
    });
    assert.deepEqual(
      [answer.status, answer.body],
      [
        403,
        `Forbidden (user=system:serviceaccount:${namespace}:default, verb=get, resource=nodes, subresource=stats)`,
      ],
    );
  });

  test("the read-only port serves data, but runs no commands", async () => {
    const at = (path: string): string => `http://${cluster.nodeIp}:${readOnlyPort}${path}`;
    assert.match((await askPlainly(at("/pods"))).body, /"name":"talker"/);
    const refused = await askPlainly(at("/run/served/talker/main?cmd=ls"), "POST");
    assert.deepEqual([refused.status, refused.body], [405, "Debug endpoints are disabled.\n"]);
  });

  test("the health port is served on loopback only", async () => {
    assert.deepEqual(
      [
        (await askPlainly(`${cluster.agent.healthUrl}/healthz`)).body,
        (await askPlainly(`${cluster.agent.healthUrl}/pods`)).status,
      ],
      ["ok", 404],
    );
  });

  test("a command runs to its end", async () => {
    const good = await ask("/run/served/talker/main?cmd=echo%20hi", { method: "POST" });
    assert.deepEqual(
      [good.status, good.body, good.headers["content-type"]],
      [200, "hi\n", "application/json"],
    );
    const bad = await ask("/run/served/talker/main?cmd=ls%20/nope", { method: "POST" });
    assert.deepEqual(
      [bad.status, bad.body],
      [500, "command 'ls /nope' exited with 1: ls: /nope: No such file or directory\n"],
    );
  });

  test("the summary has the pod's processor time and memory", async () => {
    const summary = JSON.parse((await ask("/stats/summary")).body) as {
      node: { memory: { workingSetBytes: number } };
      pods: {
        podRef: { name: string };
        cpu: { usageCoreNanoSeconds: number };
        containers: { name: string; memory: { workingSetBytes: number } }[];
      }[];
    };
    const pod = summary.pods.find(({ podRef }) => podRef.name === "talker")!;
    assert.ok(pod.cpu.usageCoreNanoSeconds > 0);
    assert.ok(pod.containers[0]!.memory.workingSetBytes > 0);
    assert.ok(summary.node.memory.workingSetBytes > 0);
    assert.match(
      (await ask("/metrics/resource")).body,
      /^pod_cpu_usage_seconds_total\{namespace="served",pod="talker"\} [0-9.e-]+ \d+$/m,
    );
    assert.match(
      (await ask("/metrics/cadvisor")).body,
      /^container_memory_usage_bytes\{container="",id="[^"]+",image="",name="",namespace="served",pod="talker"\} [1-9]/m,
    );
  });

  test("kubectl shows logs, follows them and runs commands", async () => {
    const run = async (...args: string[]): Promise<string> => {
      const { code, stdout, stderr } = await cluster.kubectl(args);
      assert.equal(code, 0, stderr);
      return stdout;
    };
    assert.equal(await run("logs", "-n", namespace, "talker", "--tail=1"), "line-6\n");
    assert.match(
      await run("logs", "-n", namespace, "talker", "--tail=1", "--timestamps"),
      /^\d{4}-\d\d-\d\dT[\d:.]+Z line-6\n$/,
    );
    assert.equal(await run("exec", "-n", namespace, "talker", "--", "sh", "-c", "echo out; exit 0"), "out\n");
    const failed = await cluster.kubectl(["exec", "-n", namespace, "talker", "--", "sh", "-c", "exit 7"]);
    assert.equal(failed.code, 7);
    const piped = await cluster.kubectl(["exec", "-i", "-n", namespace, "talker", "--", "wc", "-c"], {
      input: "x".repeat(100_000),
    });
    assert.equal(piped.stdout.trim(), "100000");
  });

  test("kubectl copies files both ways", async () => {
    const [from, back] = [join(cluster.folder, "from"), join(cluster.folder, "back")];
    await writeFile(from, "some bytes\n".repeat(10_000));
    const to = await cluster.kubectl(["cp", "-n", namespace, from, "talker:/tmp/copied"]);
    assert.equal(to.code, 0, to.stderr);
    const again = await cluster.kubectl(["cp", "-n", namespace, "talker:/tmp/copied", back]);
    assert.equal(again.code, 0, again.stderr);
    assert.ok((await readFile(from)).equals(await readFile(back)));
  });

  test("kubectl attaches to a running container", async () => {
    await create("listener", 'while read line; do echo "heard $line"; done', {
      containers: [
        {
          name: "main",
          image: cluster.containerd.images.busybox,
          command: ["/bin/sh", "-c", 'while read line; do echo "heard $line"; done'],
          stdin: true,
        },
      ],
    });
    await cluster.kubectl(["attach", "-i", "-n", namespace, "listener"], {
      input: "hello\n",
      timeoutSeconds: 10,
    });
    await until(
      "it was heard",
      async () => (await ask("/containerLogs/served/listener/main")).body === "heard hello\n",
    );
    await create("clock", "while :; do echo tick; sleep 0.2; done");
    await using attached = follow(cluster.apiserver.kubeconfig, ["attach", "-n", namespace, "clock"]);
    await attached.until("tick\ntick\n");
  });

  test("kubectl forwards a port", async () => {
    await create("echoer", "while :; do echo pong | nc -l -p 8080; done");
    await using forwarding = follow(cluster.apiserver.kubeconfig, [
      "port-forward",
      "-n",
      namespace,
      "echoer",
      ":8080",
    ]);
    const port = Number(/127\.0\.0\.1:(\d+) ->/.exec(await forwarding.until("Forwarding from"))?.[1]);
    const answer = await until("the pod answers", async () => {
      const heard_ = await new Promise<string>((resolve) => {
        const socket = connect(port, "127.0.0.1");
        let text = "";
        socket.on("data", (chunk) => (text += chunk.toString()));
        socket.on("error", () => resolve(""));
        socket.on("close", () => resolve(text));
        socket.write("ping\n");
      });
      return heard_ !== "" && heard_;
    });
    assert.equal(answer, "pong\n");
  });

  test("a log is followed across rotation, and a limited number of old files is kept", async () => {
    const pod = await create(
      "chatty",
      'i=0; while [ $i -lt 1500 ]; do i=$((i+1)); echo "number $i of many, with some words to fill the file"; [ $((i % 20)) -eq 0 ] && sleep 0.3; done; echo the end; sleep 3600',
    );
    await using following = follow(cluster.apiserver.kubeconfig, ["logs", "-f", "-n", namespace, "chatty"]);
    const printed = await following.until("the end", 60);
    const numbers = [...printed.matchAll(/^number (\d+) of/gm)].map((found) => Number(found[1]));
    assert.deepEqual(
      numbers,
      Array.from({ length: 1500 }, (_, i) => i + 1),
    );
    const files = await cluster.kubectl([
      "get",
      "--raw",
      `/api/v1/nodes/${cluster.nodeName}/proxy/logs/pods/${namespace}_chatty_${pod.metadata.uid}/main/`,
    ]);
    const names = [...files.stdout.matchAll(/href="([^"]+)"/g)].map((found) => found[1]!);
    assert.ok(names.length > 1 && names.length <= 3, `rotated into ${names.join(" ")}`);
  });

  test("the log's verbosity changes while the agent runs", async () => {
    assert.equal(
      (await ask("/debug/flags/v", { method: "PUT", body: "3" })).body,
      "successfully set klog.logging.verbosity to 3\n",
    );
  });
});

function receivedOf(asking: ReturnType<typeof request>, body: string): Promise<ReceivedResponse> {
  return new Promise((resolve, reject) => {
    asking.on("error", reject);
    asking.on("response", (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
      response.on("end", () =>
        resolve({ status: response.statusCode!, headers: response.headers, body: text }),
      );
    });
    asking.end(body);
  });
}
