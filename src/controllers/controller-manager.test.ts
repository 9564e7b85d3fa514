import assert from "node:assert/strict";
import { test } from "node:test";
import { startServer } from "#apiserver";
import { createMetrics, silentLog, systemClock } from "#base";
import { clusterView } from "#controllerkit";
import { turn } from "#kit";
import { runControllerManager } from "./controller-manager.ts";

test("running controllers are exported as metrics until they stop", async () => {
  await using server = await startServer({ store: "memory" });
  const { client } = server;
  const stopping = new AbortController();
  const { signal } = stopping;
  const metrics = createMetrics();
  const exported = (): string[] =>
    [...metrics.expose().matchAll(/^running_managed_controllers\{manager="(.*)",name="(.*)"\} (\d)$/gm)].map(
      ([, manager, name, value]) => `${name} ${manager} ${value}`,
    );
  const running = runControllerManager({
    client,
    view: clusterView({ client, clock: systemClock, signal, log: silentLog }),
    clock: systemClock,
    signal,
    log: silentLog,
    dialect: client.dialect,
    metrics,
    enabled: ["ttl", "podgc", "csrsigning"],
  });
  // csrsigning is not started, since it has no signing key.
  const manager = "orch-controller-manager";
  assert.deepEqual(exported(), [`podgc ${manager} 1`, `ttl ${manager} 1`]);
  stopping.abort();
  await running;
  await turn();
  assert.deepEqual(exported(), [`podgc ${manager} 0`, `ttl ${manager} 0`]);
});
