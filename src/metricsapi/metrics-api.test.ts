import assert from "node:assert/strict";
import { test } from "node:test";
import { startServer } from "#apiserver";
import { type Clock, silentLog, systemClock, virtualClock } from "#base";
import { type ApiClient, kinds } from "#client";
import { clusterView } from "#controllerkit";
import { inject } from "#http";
import { metricsApi } from "./metrics-api.ts";
import { type NodeUsageSource, nodeUsageSource } from "./node-usage-source.ts";
import type { Usage } from "./usage.ts";

const usage = (nanoCores: number, memoryBytes: number): Usage => ({
  at: Date.UTC(2024, 0, 1),
  windowMilliseconds: 10_500,
  nanoCores,
  memoryBytes,
});
const figures: NodeUsageSource = {
  of: async (nodes) =>
    new Map(
      nodes.map((node) => [
        node,
        { node: usage(5, 1025), pods: new Map([["default/a", new Map([["main", usage(7, 2048)]])]]) },
      ]),
    ),
};
const pod = (name: string) => ({
  metadata: { name, namespace: "default", labels: { app: name } },
  spec: { nodeName: "n1", containers: [{ name: "main", image: "i" }] },
});

test("nodes and running pods are listed with their usage", async () => {
  await using server = await startServer({
    store: "memory",
    flags: ["--disable-admission-plugins=ServiceAccount"],
  });
  const stopping = new AbortController();
  const { client } = server;
  await client.of(kinds.nodes).create({ metadata: { name: "n1", labels: { a: "b" } } });
  for (const name of ["a", "b"]) {
    await client.of(kinds.pods).create(pod(name) as never);
    await client
      .of(kinds.pods)
      .patch(
        name,
        "merge",
        { status: { phase: "Running" } },
        { namespace: "default", subresource: "status" },
      );
  }
  const view = clusterView({ client, clock: systemClock, signal: stopping.signal, log: silentLog });
  const handle = metricsApi({ dialect: client.dialect, view, figures, now: () => Date.UTC(2024, 0, 2) });
  const ask = async (path: string, method = "GET") => {
    const answer = await inject(handle, { method, path: `/apis/metrics.orch.io${path}` });
    return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
  };
  try {
    assert.deepEqual((await ask("/v1beta1/nodes")).body, {
      kind: "NodeMetricsList",
      apiVersion: "metrics.orch.io/v1beta1",
      metadata: {},
      items: [
        {
          metadata: { name: "n1", creationTimestamp: "2024-01-02T00:00:00Z", labels: { a: "b" } },
          timestamp: "2024-01-01T00:00:00Z",
          window: "10.5s",
          usage: { cpu: "5n", memory: "1025" },
        },
      ],
    });
    assert.deepEqual((await ask("/v1beta1/namespaces/default/pods/a")).body, {
      kind: "PodMetrics",
      apiVersion: "metrics.orch.io/v1beta1",
      metadata: {
        name: "a",
        namespace: "default",
        creationTimestamp: "2024-01-02T00:00:00Z",
        labels: { app: "a" },
      },
      timestamp: "2024-01-01T00:00:00Z",
      window: "10.5s",
      containers: [{ name: "main", usage: { cpu: "7n", memory: "2Ki" } }],
    });
    const cases: [path: string, status: number, items?: number][] = [
      ["/v1beta1/pods", 200, 1],
      ["/v1beta1/namespaces/default/pods?labelSelector=app%3Da", 200, 1],
      ["/v1beta1/namespaces/default/pods?labelSelector=app%3Db", 200, 0],
      ["/v1beta1/namespaces/other/pods", 200, 0],
      ["/v1beta1/nodes?labelSelector=a%3Dc", 200, 0],
      ["/v1beta1/nodes?labelSelector=%21%21", 400],
      ["/v1beta1/nodes/n1", 200],
      ["/v1beta1/nodes/n2", 404],
      ["/v1beta1/namespaces/default/pods/b", 404],
      ["/v1beta1/namespaces/default/nodes", 404],
      ["/v1beta1/pods/a", 404],
      ["/v1beta1/nodes/n1/more", 404],
      ["/v2", 404],
      ["/v1beta1", 200],
      ["", 200],
    ];
    for (const [path, status, items] of cases) {
      const answer = await ask(path);
      assert.equal(answer.status, status, path);
      if (items !== undefined) assert.equal((answer.body["items"] as unknown[]).length, items, path);
      if (status >= 400) assert.equal(answer.body["kind"], "Status", path);
    }
    assert.equal((await ask("/v1beta1/nodes", "DELETE")).status, 405);
  } finally {
    stopping.abort();
    await view.stopped();
  }
});

/** Returns a client of a server whose nodes have used one second of CPU per reading. */
function agents(requests: string[], clock: Clock): ApiClient {
  const seconds = new Map<string, number>();
  return {
    transport: {
      close: () => undefined,
      send: async ({ path }: { path: string }) => {
        requests.push(path);
        if (path.includes("/broken/")) throw new Error("no answer");
        seconds.set(path, (seconds.get(path) ?? 0) + 1);
        const text = `node_cpu_usage_seconds_total ${seconds.get(path)} ${clock.now()}\nnode_memory_working_set_bytes 1 ${clock.now()}\n`;
        return {
          status: 200,
          headers: {},
          chunks: (async function* () {
            yield Buffer.from(text);
          })(),
        };
      },
    },
  } as unknown as ApiClient;
}

test("a node is read twice at first, and again when its usage is stale", async () => {
  const clock = virtualClock();
  const requests: string[] = [];
  const { signal } = new AbortController();
  const read = nodeUsageSource({ client: agents(requests, clock), clock, signal, log: silentLog });
  const first = read.of(["n1", "broken"]);
  await new Promise((resolve) => setImmediate(resolve));
  await clock.advance(2500);
  const found = await first;
  assert.deepEqual(found.get("n1")?.node, {
    at: 2500,
    windowMilliseconds: 2500,
    nanoCores: 400_000_000,
    memoryBytes: 1,
  });
  assert.equal(found.has("broken"), false);
  assert.equal(requests.length, 3);
  await read.of(["n1"]);
  assert.equal(requests.length, 3, "figures are kept for a while");
  await clock.advance(10_000);
  const later = await read.of(["n1"]);
  assert.equal(later.get("n1")?.node?.nanoCores, 100_000_000);
  assert.equal(requests.length, 4);
});
