import assert from "node:assert/strict";
import { test } from "node:test";
import { startServer } from "../library.ts";

test("health check results are exported, the latest one and totals", async () => {
  await using server = await startServer({ store: "memory", dialect: "kubernetes" });
  const read = async (path: string): Promise<string> =>
    Buffer.from(await (await server.inject({ method: "GET", path })).bytes()).toString();
  await read("/livez");
  await read("/livez?exclude=ping");
  await read("/readyz/ping");
  const lines = (await read("/metrics/slis")).split("\n");
  const ctx = (check: string): string[] => lines.filter((line) => line.includes(`name="${check}"`));
  assert.deepEqual(ctx("ping"), [
    'kubernetes_healthcheck{name="ping",type="livez"} 1',
    'kubernetes_healthchecks_total{name="ping",status="success",type="livez"} 1',
  ]);
  assert.deepEqual(
    ctx("log")[1],
    'kubernetes_healthchecks_total{name="log",status="success",type="livez"} 2',
  );
  assert.ok(lines.some((line) => /^process_start_time_seconds \d/.test(line)));
  assert.ok((await read("/")).includes('"/metrics/slis"'));
});

test("a DELETE resets health metrics if profiling is on", async () => {
  for (const [profiling, expected] of [
    [true, false],
    [false, true],
  ] as const) {
    await using server = await startServer({ store: "memory", flags: [`--profiling=${profiling}`] });
    const text = async (method: string, path: string): Promise<string> =>
      Buffer.from(await (await server.inject({ method, path })).bytes()).toString();
    await text("GET", "/livez");
    assert.equal((await text("DELETE", "/metrics/slis")) === "metrics reset\n", profiling);
    assert.equal((await text("GET", "/metrics/slis")).includes("ping"), expected);
  }
});

test("a DELETE resets all metrics for users who are authorized to delete", async () => {
  await using server = await startServer({ store: "memory" });
  const ask = async (method: string, groups: string[]) => {
    const answer = await server.inject({ method, path: "/metrics", trusted: { name: "pat", groups } });
    return { status: answer.status, text: Buffer.from(await answer.bytes()).toString() };
  };
  const counted = /^apiserver_request_total\{.*code="403"/m;
  const masters = ["system:masters"];
  assert.equal((await ask("DELETE", ["system:monitoring"])).status, 403);
  assert.match((await ask("GET", masters)).text, counted);
  assert.deepEqual(await ask("DELETE", masters), { status: 200, text: "metrics reset\n" });
  assert.doesNotMatch((await ask("GET", masters)).text, counted);
});

test("/metrics/slis and /logs are not served when switched off", async () => {
  await using server = await startServer({
    store: "memory",
    flags: ["--feature-gates=ComponentSLIs=false", "--enable-logs-handler=false"],
  });
  for (const path of ["/metrics/slis", "/logs/"])
    assert.equal((await server.inject({ method: "GET", path })).status, 404);
  assert.doesNotMatch(
    Buffer.from(await (await server.inject({ method: "GET", path: "/" })).bytes()).toString(),
    /slis|logs/,
  );
});

test("flags that hide metrics and labels apply to health metrics, and feature gates to bootstrap roles", async () => {
  await using server = await startServer({
    store: "memory",
    dialect: "kubernetes",
    flags: [
      "--disabled-metrics=kubernetes_healthchecks_total",
      "--allow-metric-labels=kubernetes_healthcheck,name=ping",
      "--feature-gates=DynamicResourceAllocation=true",
    ],
  });
  const read = async (path: string): Promise<string> =>
    Buffer.from(await (await server.inject({ method: "GET", path })).bytes()).toString();
  await read("/livez");
  const text = await read("/metrics/slis");
  assert.match(text, /kubernetes_healthcheck\{name="ping",type="livez"\} 1/);
  assert.match(text, /kubernetes_healthcheck\{name="unexpected",type="livez"\} 1/);
  assert.doesNotMatch(text, /healthchecks_total/);
  const roles = "/apis/rbac.authorization.k8s.io/v1/clusterroles";
  assert.match(await read(`${roles}/system:kube-scheduler`), /podschedulingcontexts/);
});
