import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { silentLog, systemClock, virtualClock } from "#base";
import { grpcServer, unaryProcedure } from "#http";
import { eventually } from "#kit";
import { type SpanExporter, type SpanOutcome, spanExporter } from "./exporter.ts";
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

interface Collector {
  readonly exporter: SpanExporter;
  /** The number of bytes of each batch. */
  readonly batches: readonly number[];
  readonly seen: Readonly<Record<string, number>>;
  close(): Promise<void>;
}

/** Starts a collector, which answers when `answered` resolves, and an exporter to it. */
async function collectorAt(name: string, answered?: Promise<void>): Promise<Collector> {
  const socketPath = join(folder, name);
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
        async (bytes) => {
          batches.push(bytes.length);
          await answered;
        },
      ),
    ],
  });
  const { seen, count } = counts();
  const endpoint = `unix://${socketPath}`;
  const common = { resource: {}, scope: "test", clock: systemClock, log: silentLog };
  const exporter = spanExporter({ ...common, endpoint, count });
  return { exporter, batches, seen, close: () => server.close() };
}

test("spans reach the collector in one batch when the exporter closes", async () => {
  const { exporter, batches, seen, close } = await collectorAt("collector.sock");
  exporter.ended(endedSpan());
  exporter.ended(endedSpan());
  await exporter.close();
  await close();
  assert.equal(batches.length, 1);
  assert.deepEqual(seen, { exported: 2 });
});

test("an export under way when the exporter closes is completed", async () => {
  let answer = (): void => undefined;
  const answered = new Promise<void>((resolve) => (answer = resolve));
  const { exporter, batches, seen, close } = await collectorAt("slow.sock", answered);
  for (let at = 0; at < 512; at++) exporter.ended(endedSpan());
  await eventually(async () => batches.length === 1);
  const closed = exporter.close();
  setImmediate(answer);
  await closed;
  await close();
  assert.deepEqual(seen, { exported: 512 });
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
