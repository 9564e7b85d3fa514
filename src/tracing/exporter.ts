// Sends spans to a collector in batches. What the collector does not take in time is dropped and counted:
// traces never hold up a request, nor fill the memory.
import type { Clock, Log } from "#base";
import { type GrpcMethod, grpcChannel } from "#http";
import { encodeExport } from "./otlp.ts";
import type { Attributes, Span } from "./span.ts";

export interface SpanExporter {
  ended(span: Span): void;
  /** Sends what is left, for a short time only. */
  close(): Promise<void>;
}

/** What happened to spans: taken by the collector, lost on the way, or never sent because the queue was full. */
export type SpanOutcome = "exported" | "failed" | "dropped";

export interface ExporterOptions {
  /** As the gRPC client takes it: `http://host:port` or `unix:///path`. */
  readonly endpoint: string;
  readonly resource: Attributes;
  /** The name under which the spans were made. */
  readonly scope: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly count?: (outcome: SpanOutcome, spans: number) => void;
}

/** As in the OpenTelemetry SDK's batch processor. */
const mostQueued = 2048;
const mostInBatch = 512;
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
    const batch = queue.slice(0, mostInBatch);
    queue = queue.slice(mostInBatch);
    try {
      const bytes = encodeExport(resource, scope, batch);
      await channel.unary(exportTraces, bytes, { deadlineMilliseconds, waitForReady: true });
      options.count?.("exported", batch.length);
      reported = false;
    } catch (error) {
      options.count?.("failed", batch.length);
      // Once until it works again: a collector that is away for a night must not fill the log.
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
      if (queue.length >= mostQueued) {
        options.count?.("dropped", 1);
        return;
      }
      queue.push(span);
      if (queue.length >= mostInBatch) flush();
      else if (!sending) cancelTimer ??= clock.after(delayMilliseconds, flush);
    },
    close: async () => {
      closed = true;
      cancelTimer?.();
      const ends = clock.now() + closeMilliseconds;
      while (queue.length > 0 && clock.now() < ends) await send(ends - clock.now());
      channel.close();
      await sending;
    },
  };
}
