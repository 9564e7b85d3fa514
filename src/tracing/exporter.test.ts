import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { silentLog, systemClock, virtualClock } from "#base";
import { grpcServer, unaryProcedure } from "#http";
import { type SpanOutcome, spanExporter } from "./exporter.ts";
import { Span } from "./span.ts";

const folder = mkdtempSync(join(tmpdir(), "orch-traces-"));
after(() => rmSync(folder, { recursive: true }));
const trace = { traceId: "a".repeat(32), ended: () => undefined };
const endedSpan = (): Span => {
  const span = new Span("request", {}, { trace });
  span.end();
  return span;
};
const counts = (): { count: (outcome: SpanOutcome, spans: number) => void; seen: Record<string, number> } => {
  const seen: Record<string, number> = {};
  return { seen, count: (outcome, spans) => (seen[outcome] = (seen[outcome] ?? 0) + spans) };
};

test("spans reach the collector in one batch when the exporter closes", async () => {
  const socketPath = join(folder, "collector.sock");
  const batches: number[] = [];
  const server = await grpcServer({
    socketPath,
    procedures: [
      unaryProcedure(
        {
          path: "/opentelemetry.proto.collector.trace.v1.TraceService/Export",
          decode: (bytes: Uint8Array) => bytes,
          encode: () => new Uint8Array(),
        },
        (bytes) => void batches.push(bytes.length),
      ),
    ],
  });
  const { seen, count } = counts();
  const exporter = spanExporter({
    endpoint: `unix://${socketPath}`,
    resource: {},
    scope: "test",
    clock: systemClock,
    log: silentLog,
    count,
  });
  exporter.ended(endedSpan());
  exporter.ended(endedSpan());
  await exporter.close();
  await server.close();
  assert.equal(batches.length, 1);
  assert.deepEqual(seen, { exported: 2 });
});

test("while the collector is unavailable, spans beyond the queue are dropped and counted", async () => {
  const { seen, count } = counts();
  const clock = virtualClock();
  const exporter = spanExporter({
    endpoint: `unix://${join(folder, "nobody.sock")}`,
    resource: {},
    scope: "test",
    clock,
    log: silentLog,
    count,
  });
  // 512 spans are in flight, 2048 are queued.
  for (let at = 0; at < 512 + 2048 + 40; at++) exporter.ended(endedSpan());
  assert.deepEqual(seen, { dropped: 40 });
});
