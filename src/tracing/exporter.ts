// Exports spans to a collector in batches. Spans the collector does not accept in time are dropped and
// counted: tracing never delays a request, nor fills the memory.
import type { Clock, Log } from "#base";
import { type GrpcMethod, grpcChannel } from "#http";
import { encodeExport } from "./otlp.ts";
import type { Attributes, Span } from "./span.ts";

export interface SpanExporter {
  ended(span: Span): void;
  /** Sends the remaining spans, within a short time limit. */
  close(): Promise<void>;
}

/**
 * What happened to spans: accepted by the collector, lost in a failed export, or never sent because the queue
 * was full.
 */
export type SpanOutcome = "exported" | "failed" | "dropped";

export interface ExporterOptions {
  /** In the form the gRPC client takes: `http://host:port` or `unix:///path`. */
  readonly endpoint: string;
  readonly resource: Attributes;
  /** The instrumentation scope of the spans. */
  readonly scope: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly count?: (outcome: SpanOutcome, spans: number) => void;
}

/** As in the OpenTelemetry SDK's batch processor. */
const maxQueued = 2048;
const maxBatch = 512;
const delayMilliseconds = 5000;
const exportMilliseconds = 10_000;
const closeMilliseconds = 2000;

const exportTraces: GrpcMethod<Uint8Array, undefined> = {
  path: "/opentelemetry.proto.collector.trace.v1.TraceService/Export",
  encode: (request) => request,
  decode: () => undefined,
};

export function spanExporter(options: ExporterOptions): SpanExporter {
  const { clock, log, resource, scope } = options;
  const channel = grpcChannel({ endpoints: [options.endpoint], clock });
  let queue: Span[] = [];
  let sending: Promise<void> | undefined;
  let cancelTimer: (() => void) | undefined;
  let closed = false;
  let reported = false;

  const send = async (deadlineMilliseconds: number): Promise<void> => {
    const batch = queue.slice(0, maxBatch);
    queue = queue.slice(maxBatch);
    try {
      const bytes = encodeExport(resource, scope, batch);
      await channel.unary(exportTraces, bytes, { deadlineMilliseconds, waitForReady: true });
      options.count?.("exported", batch.length);
      reported = false;
    } catch (error) {
      options.count?.("failed", batch.length);
      // Logged once until an export succeeds: an unavailable collector must not fill the log.
      if (!reported) log.warn("traces could not be exported", { error, spans: batch.length });
      reported = true;
    }
  };
  const sendAll = async (): Promise<void> => {
    while (queue.length > 0 && !closed) await send(exportMilliseconds);
    sending = undefined;
  };
  const flush = (): void => {
    cancelTimer?.();
    cancelTimer = undefined;
    sending ??= sendAll();
  };

  return {
    ended: (span) => {
      if (closed) return;
      if (queue.length >= maxQueued) {
        options.count?.("dropped", 1);
        return;
      }
      queue.push(span);
      if (queue.length >= maxBatch) flush();
      else if (!sending) cancelTimer ??= clock.after(delayMilliseconds, flush);
    },
    close: async () => {
      closed = true;
      cancelTimer?.();
      const ends = clock.monotonic() + closeMilliseconds;
      // Closing the channel would end the export under way.
      await within(closeMilliseconds, clock, sending);
      while (queue.length > 0 && clock.monotonic() < ends) await send(ends - clock.monotonic());
      channel.close();
      await sending;
    },
  };
}

/** Waits for work that does not fail, but no longer than this. */
async function within(milliseconds: number, clock: Clock, work: Promise<void> | undefined): Promise<void> {
  if (!work) return;
  let cancel: (() => void) | undefined;
  const passed = new Promise<void>((resolve) => (cancel = clock.after(milliseconds, resolve)));
  await Promise.race([work, passed]);
  cancel?.();
}
