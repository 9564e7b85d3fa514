import assert from "node:assert/strict";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { silentLog, virtualClock } from "#base";
import { fakeRuntime } from "#cri";
import { dialects } from "#dialect";
import { settle } from "#options";
import { startAgent } from "./agent.ts";
import { nodeagentOptions } from "./options/options.ts";

test("an agent whose port is in use fails to start before it changes anything", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "orch-ports-"));
  const other = createServer();
  await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
  t.after(() => {
    other.close();
    rmSync(folder, { recursive: true });
  });
  const { port } = other.address() as AddressInfo;
  const root = join(folder, "root");
  const dialect = dialects.orch;
  const { values, errors } = settle(nodeagentOptions(dialect), [
    "--container-runtime-endpoint=unix:///none",
    `--root-dir=${root}`,
    `--cert-dir=${join(folder, "pki")}`,
    "--address=127.0.0.1",
    `--port=${port}`,
    "--read-only-port=0",
    "--healthz-port=0",
  ]);
  assert.deepEqual(errors, []);
  const runtime = fakeRuntime();
  const clock = virtualClock();
  let rejected = false;
  const started = assert
    .rejects(
      startAgent({ dialect, settings: values, log: silentLog, version: "v1.27.16", runtime, clock }),
      /EADDRINUSE.*another agent or program has the port; nothing on this node was touched/,
    )
    .finally(() => (rejected = true));
  while (!rejected) {
    await new Promise((resolve) => setImmediate(resolve));
    await clock.advance(250);
  }
  await started;
  assert.deepEqual([runtime.calls.map(({ method }) => method), existsSync(root)], [["Version"], false]);
  // The certificate exists before the port is open and before the node is registered.
  assert.equal(existsSync(join(folder, "pki", `${dialect.cli.agent}.crt`)), true);
});
