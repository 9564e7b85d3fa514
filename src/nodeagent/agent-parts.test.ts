import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { type IncomingHttpHeaders, createSecureServer } from "node:http2";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { selfSigned } from "#authn";
import { createMetrics, silentLog, systemClock } from "#base";
import { kinds } from "#client";
import { dialects } from "#dialect";
import { settle } from "#options";
import { apiAccess } from "./agent-certificates.ts";
import { nodeagentOptions } from "./options/options.ts";

const dialect = dialects.orch;
const binary = dialect.wire.protobufMediaType;
const forms: [name: string, flags: string[], sent: string][] = [
  ["in binary form by default", [], binary],
  ["in JSON if configured", ["--orch-api-content-type=application/json"], "application/json"],
];
for (const [name, flags, sent] of forms) {
  test(`the agent sends objects ${name}`, async (t) => {
    const folder = mkdtempSync(join(tmpdir(), "orch-parts-"));
    t.after(() => rmSync(folder, { recursive: true }));
    const { certificate, key } = selfSigned({ commonName: "server" }, ["127.0.0.1"], {
      now: Date.now(),
      days: 1,
    });
    const requests: IncomingHttpHeaders[] = [];
    const server = createSecureServer({ cert: certificate, key }, ({ headers }, response) => {
      requests.push(headers);
      response
        .writeHead(201, { "content-type": "application/json" })
        .end(JSON.stringify({ metadata: { name: "x" } }));
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    t.after(() => server.close());
    const cluster = {
      server: `https://127.0.0.1:${(server.address() as AddressInfo).port}`,
      "certificate-authority-data": Buffer.from(certificate).toString("base64"),
    };
    const config = join(folder, "config");
    writeFileSync(
      config,
      JSON.stringify({
        clusters: [{ name: "c", cluster }],
        users: [],
        contexts: [{ name: "x", context: { cluster: "c" } }],
        "current-context": "x",
      }),
    );
    const { values } = settle(nodeagentOptions(dialect), [
      `--orchconfig=${config}`,
      "--container-runtime-endpoint=unix:///x",
      ...flags,
    ]);
    const parts = { settings: values, dialect, version: "v1", clock: systemClock, log: silentLog };
    const access = await apiAccess(
      { ...parts, metrics: createMetrics(), nodeName: "n1" },
      new AbortController().signal,
    );
    const client = access.client!;
    t.after(() => client.transport.close());
    await client.of(kinds.nodes).create({ metadata: { name: "x" } });
    // prettier-ignore
    assert.deepEqual(requests.map((headers) => [headers["content-type"], headers.accept]), [[sent, "application/json"]]);
  });
}
