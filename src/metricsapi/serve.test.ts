import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { get } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { startServer } from "#apiserver";
import { createAuthority, signClient } from "#authn";
import { ApiError, silentLog, systemClock } from "#base";
import { kinds } from "#client";
import { clusterView } from "#controllerkit";
import { unregisterMetricsApi } from "./register.ts";
import { runMetricsServer } from "./serve.ts";

/** Sends a request without a client certificate and without verifying the server. */
const requestTo = (port: number): Promise<unknown> =>
  new Promise((resolve, reject) => {
    get({ host: "127.0.0.1", port, path, rejectUnauthorized: false }, resolve).once("error", reject);
  });

const path = "/apis/metrics.orch.io/v1beta1/nodes";

test("the API server aggregates the metrics API, and no other client is served", async () => {
  const folder = mkdtempSync(join(tmpdir(), "metrics-"));
  const validity = { now: Date.now(), days: 1 };
  const authority = createAuthority({ commonName: "front" }, validity);
  const pair = signClient(authority, { commonName: "front-proxy-client" }, validity);
  writeFileSync(join(folder, "crt"), pair.certificate);
  writeFileSync(join(folder, "key"), pair.key);
  await using server = await startServer({
    store: "memory",
    flags: [
      `--proxy-client-cert-file=${join(folder, "crt")}`,
      `--proxy-client-key-file=${join(folder, "key")}`,
    ],
  });
  const { client } = server;
  const stopping = new AbortController();
  const { signal } = stopping;
  const view = clusterView({ client, clock: systemClock, signal, log: silentLog });
  const running = runMetricsServer({
    client,
    view,
    clock: systemClock,
    signal,
    log: silentLog,
    frontProxyAuthority: authority.certificate,
  });
  try {
    for (;;) {
      const list = await client.request("GET", path).catch((error: unknown) => error);
      if (!(list instanceof Error)) {
        assert.deepEqual((list as { items: unknown[] }).items, []);
        break;
      }
      assert.ok(list instanceof ApiError && (list.code === 404 || list.code === 503), list.message);
      await new Promise((resolve) => setImmediate(resolve));
    }
    const { spec } = await client.of(kinds.apiServices).get("v1beta1.metrics.orch.io");
    await assert.rejects(requestTo(spec.service!.port!), "no certificate, no answer");
    const stranger = server.kit.client({ name: "stranger", groups: [] });
    await assert.rejects(stranger.request("GET", path), { code: 403 });
    await unregisterMetricsApi(client);
    await assert.rejects(client.of(kinds.apiServices).get("v1beta1.metrics.orch.io"), { code: 404 });
  } finally {
    stopping.abort();
    await running;
    await view.stopped();
    rmSync(folder, { recursive: true });
  }
});
