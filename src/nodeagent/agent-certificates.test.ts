import assert from "node:assert/strict";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { selfSigned } from "#authn";
import { createPrivateKey } from "node:crypto";
import { eventually } from "#kit";
import { createMetrics, silentLog, virtualClock } from "#base";
import { dialects } from "#dialect";
import { settle } from "#options";
import { apiAccess } from "./agent-certificates.ts";
import { nodeagentOptions } from "./options/options.ts";

const now = Date.UTC(2024, 0, 1);

/** Returns the client of an agent whose client certificate is valid for the given days, without a bootstrap file. */
async function accessWith(t: TestContext, days: number) {
  const folder = await mkdtemp(join(tmpdir(), "access-"));
  t.after(() => rm(folder, { recursive: true }));
  const [config, pem] = [join(folder, "agent.conf"), join(folder, "client.pem")];
  const pair = selfSigned({ commonName: "n1" }, ["n1"], { now, days });
  await writeFile(pem, `${pair.certificate}${pair.key}`);
  await writeFile(
    config,
    JSON.stringify({
      clusters: [{ name: "c", cluster: { server: "https://127.0.0.1:1" } }],
      users: [{ name: "u", user: { "client-certificate": pem, "client-key": pem } }],
      contexts: [{ name: "x", context: { cluster: "c", user: "u" } }],
      "current-context": "x",
    }),
  );
  const { values: settings } = settle(nodeagentOptions(dialects.orch), [
    `--orchconfig=${config}`,
    `--bootstrap-orchconfig=${join(folder, "bootstrap.conf")}`,
    `--cert-dir=${folder}`,
    "--rotate-certificates",
    "--container-runtime-endpoint=unix:///x",
  ]);
  const clock = virtualClock(now + 2 * 86_400_000);
  const parts = { settings, dialect: dialects.orch, version: "v1", clock, log: silentLog, nodeName: "n1" };
  const { client } = await apiAccess({ ...parts, metrics: createMetrics() }, new AbortController().signal);
  t.after(() => client?.transport.close());
  return client;
}

test("an agent with a valid client certificate starts without its bootstrap configuration", async (t) => {
  assert.ok(await accessWith(t, 10));
});

test("an agent with an expired client certificate needs its bootstrap configuration", async (t) => {
  await assert.rejects(accessWith(t, 1), /bootstrap\.conf: ENOENT/);
});

test("an unreadable key of an interrupted bootstrap is replaced", async (t) => {
  const folder = await mkdtemp(join(tmpdir(), "access-"));
  t.after(() => rm(folder, { recursive: true }));
  const bootstrap = join(folder, "bootstrap.conf");
  await writeFile(
    bootstrap,
    JSON.stringify({
      clusters: [{ name: "c", cluster: { server: "https://127.0.0.1:1" } }],
      users: [{ name: "u", user: { token: "t" } }],
      contexts: [{ name: "x", context: { cluster: "c", user: "u" } }],
      "current-context": "x",
    }),
  );
  const keyFile = join(folder, `${dialects.orch.cli.agent}-client.key.tmp`);
  await writeFile(keyFile, "-----BEGIN EC PRIVATE KEY-----\nMHcCAQ");
  const { values: settings } = settle(nodeagentOptions(dialects.orch), [
    `--orchconfig=${join(folder, "agent.conf")}`,
    `--bootstrap-orchconfig=${bootstrap}`,
    `--cert-dir=${folder}`,
    "--rotate-certificates=false",
    "--container-runtime-endpoint=unix:///x",
  ]);
  const clock = virtualClock(now);
  const parts = { settings, dialect: dialects.orch, version: "v1", clock, log: silentLog, nodeName: "n1" };
  const stopping = new AbortController();
  const access = apiAccess({ ...parts, metrics: createMetrics() }, stopping.signal);
  const failed = assert.rejects(access, /stopped|ECONNREFUSED/);
  await eventually(async () => {
    try {
      return createPrivateKey(await readFile(keyFile, "utf8")).type === "private";
    } catch {
      return false;
    }
  });
  stopping.abort(new Error("stopped"));
  await failed;
});
