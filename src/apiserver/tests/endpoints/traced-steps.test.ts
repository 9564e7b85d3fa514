import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { grpcServer, unaryProcedure } from "#http";
import { startServer } from "../../library.ts";

const map = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a" } };
const path = "/api/v1/namespaces/default/configmaps";
const apply = { "content-type": "application/apply-patch+yaml" };

const requests: [
  request: { method: string; path: string; body?: object; headers?: Record<string, string> },
  steps: readonly string[],
][] = [
  [
    { method: "POST", path, body: map },
    ["About to convert to expected version", "Conversion done", "About to store object in database"],
  ],
  [{ method: "PUT", path: `${path}/a`, body: map }, ["initial value restored", "Conversion done"]],
  [
    { method: "PATCH", path: `${path}/a?fieldManager=x`, body: map, headers: apply },
    ["Recorded the audit event", "About to apply patch", "About to check admission control"],
  ],
  [{ method: "DELETE", path: `${path}/a` }, ["Decoded delete options", "Recorded the audit event"]],
];

test("exported traces have the steps of kube-apiserver's", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "orch-steps-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const [socketPath, file] = [join(folder, "collector.sock"), join(folder, "tracing.yaml")];
  const kind = "apiVersion: apiserver.config.orch.io/v1beta1\nkind: TracingConfiguration\n";
  writeFileSync(file, `${kind}endpoint: unix://${socketPath}\nsamplingRatePerMillion: 1000000\n`);
  let received = "";
  const collector = await grpcServer({
    socketPath,
    procedures: [
      unaryProcedure(
        {
          path: "/opentelemetry.proto.collector.trace.v1.TraceService/Export",
          decode: (bytes: Uint8Array) => Buffer.from(bytes).toString("latin1"),
          encode: () => new Uint8Array(),
        },
        (bytes) => void (received += bytes),
      ),
    ],
  });
  for (const [request, steps] of requests) {
    const server = await startServer({ store: "memory", flags: [`--tracing-config-file=${file}`] });
    if (request.method !== "POST") await server.inject({ method: "POST", path, body: JSON.stringify(map) });
    received = "";
    const { status } = await server.inject({
      headers: { "content-type": "application/json" },
      ...request,
      body: request.body ? JSON.stringify(request.body) : "",
    });
    assert.ok(status < 300, `${request.method}: ${status}`);
    await server.stop();
    for (const step of [...steps, "Writing http response done"])
      assert.ok(received.includes(step), `${request.method}: ${step}`);
  }
  await collector.close();
});
