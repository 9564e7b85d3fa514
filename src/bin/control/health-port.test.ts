import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { type TestContext, test } from "node:test";
import { createMetrics, virtualClock } from "#base";
import { leaderHealth } from "#controllerkit";
import { dialects } from "#dialect";
import type { HealthCheck } from "#http";
import { openHealthPort } from "./health-port.ts";

async function setUp(
  t: TestContext,
  checks: readonly HealthCheck[],
  { exportsHealthMetrics = true, resetsMetrics = false } = {},
) {
  const taken = createServer().listen(0, "127.0.0.1");
  await once(taken, "listening");
  const { port } = taken.address() as AddressInfo;
  await new Promise((resolve) => taken.close(resolve));
  const metrics = createMetrics();
  metrics.counter({ name: "work_total", help: "Work." }).with().add();
  const dialect = dialects.kubernetes;
  t.after(
    await openHealthPort({
      address: "127.0.0.1",
      port,
      dialect,
      metrics,
      checks: () => checks,
      exportsHealthMetrics,
      resetsMetrics,
    }),
  );
  return async (path: string, method = "GET"): Promise<string> => {
    const answer = await fetch(`http://127.0.0.1:${port}${path}`, { method });
    return `${answer.status} ${await answer.text()}`;
  };
}

test("health, metrics, and results of health checks are served", async (t) => {
  const ask = await setUp(t, []);
  assert.equal(await ask("/healthz?verbose"), "200 [+]ping ok\nhealthz check passed\n");
  assert.equal(await ask("/readyz"), "200 ok");
  assert.equal(await ask("/livez/ping"), "200 ok");
  for (const path of ["/livez/no", "/", "/metrics/no", "/nohealth"])
    assert.equal(await ask(path), "404 404 page not found\n");
  assert.match(await ask("/metrics"), /^work_total 1$/m);
  const reported = await ask("/metrics/slis");
  assert.match(reported, /^kubernetes_healthcheck\{name="ping",type="healthz"\} 1$/m);
  assert.match(reported, /^kubernetes_healthchecks_total\{name="ping",status="success",type="readyz"\} 1$/m);
  assert.match(reported, /^process_start_time_seconds /m);
  assert.doesNotMatch(reported, /livez/);
  assert.equal(await ask("/metrics/slis", "DELETE"), "200 metrics reset\n");
  assert.equal(await ask("/metrics/slis"), "200 ");
});

test("metrics are reset where the original resets them, and exposed otherwise", async (t) => {
  const ask = await setUp(t, [], { resetsMetrics: true });
  assert.equal(await ask("/metrics", "DELETE"), "200 metrics reset\n");
  assert.match(await ask("/metrics"), /^work_total 0$/m);
  const other = await setUp(t, []);
  assert.match(await other("/metrics", "DELETE"), /^work_total 1$/m);
});

test("results of health checks are not served without the gate ComponentSLIs", async (t) => {
  const ask = await setUp(t, [], { exportsHealthMetrics: false });
  assert.match(await ask("/metrics/slis"), /^404/);
});

test("a leader that does not renew is unhealthy, and a waiting candidate is healthy", async (t) => {
  const clock = virtualClock();
  const health = leaderHealth(clock, "the-lease", 15_000);
  const ask = await setUp(t, [health]);
  await clock.advance(100_000);
  assert.equal(await ask("/healthz"), "200 ok");
  health.renewed();
  await clock.advance(35_000);
  assert.equal(await ask("/healthz"), "200 ok");
  await clock.advance(1);
  assert.equal(
    await ask("/healthz/leaderElection"),
    "500 internal server error: failed election to renew leadership on lease the-lease\n",
  );
  assert.match(await ask("/healthz"), /^500 \[-\]leaderElection failed/);
});
