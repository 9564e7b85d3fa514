// Buffers events and delivers them in batches in the background. If the buffer is full, events are dropped
// rather than requests delayed. Events buffered at shutdown are still delivered.
import type { Clock } from "#base";
import type { AuditBackend } from "./backend.ts";
import type { AuditEvent } from "./event.ts";

export interface BatchOptions {
  readonly bufferSize: number;
  readonly maxBatchSize: number;
  readonly maxWaitMilliseconds: number;
  readonly throttle?: { readonly perSecond: number; readonly burst: number } | undefined;
  /** Whether a batch may be sent while another is in flight. */
  readonly concurrent: boolean;
  readonly clock: Clock;
  readonly lost: (count: number, error: Error) => void;
}

/**
 * Maximum number of batches in flight if they may overlap, so that they do not pile up for a backend that
 * hangs.
 */
const maxInFlight = 64;

export function batching(backend: AuditBackend, options: BatchOptions): AuditBackend {
  const { bufferSize, maxWaitMilliseconds, clock, lost } = options;
  // A full buffer must be sent, whatever the maximum batch size is.
  const maxBatchSize = Math.min(options.maxBatchSize, bufferSize);
  const maxConcurrent = options.concurrent ? maxInFlight : 1;
  const buffer: AuditEvent[] = [];
  const inFlight = new Set<Promise<void>>();
  let cancelWait: (() => void) | undefined;
  let waited = false;
  let closing = false;
  let running: Promise<void> | undefined;
  let onFreed: (() => void) | undefined;
  const admit = options.throttle ? tokenBucket(options.throttle, clock) : undefined;
  const stopThrottling = new AbortController();

  const send = (events: readonly AuditEvent[]): void => {
    const sent = Promise.resolve(backend.process(events))
      .catch((error: Error) => lost(events.length, error))
      .finally(() => {
        inFlight.delete(sent);
        onFreed?.();
      });
    inFlight.add(sent);
  };
  const due = (): boolean =>
    buffer.length >= maxBatchSize || (buffer.length > 0 && (waited || closing || maxWaitMilliseconds <= 0));
  const drain = async (): Promise<void> => {
    while (due()) {
      if (inFlight.size >= maxConcurrent) await new Promise<void>((resolve) => (onFreed = resolve));
      else if (admit) await admit(stopThrottling.signal);
      if (inFlight.size >= maxConcurrent || !due()) continue;
      send(buffer.splice(0, maxBatchSize));
      waited = false;
      cancelWait?.();
      cancelWait = undefined;
      wait();
    }
  };
  const start = (): void => {
    if (running || !due()) return;
    running = drain().finally(() => {
      running = undefined;
      start();
    });
  };
  const wait = (): void => {
    if (buffer.length === 0 || cancelWait || closing) return;
    cancelWait = clock.after(Math.max(maxWaitMilliseconds, 0), () => {
      cancelWait = undefined;
      waited = true;
      start();
    });
  };
  return {
    process: (events) => {
      const room = closing ? 0 : Math.max(bufferSize - buffer.length, 0);
      buffer.push(...events.slice(0, room));
      if (room < events.length)
        lost(
          events.length - room,
          new Error(closing ? "the server is stopping" : "the audit buffer is full"),
        );
      if (buffer.length >= maxBatchSize || maxWaitMilliseconds <= 0) start();
      else wait();
      return undefined;
    },
    close: async () => {
      closing = true;
      cancelWait?.();
      stopThrottling.abort();
      start();
      while (running || inFlight.size > 0) await Promise.all([running, ...inFlight]);
      await backend.close();
    },
  };
}

/** Waits for a token; an aborted signal lets every caller through. */
function tokenBucket(
  { perSecond, burst }: { readonly perSecond: number; readonly burst: number },
  clock: Clock,
): (signal: AbortSignal) => Promise<void> {
  let tokens = burst;
  let at = clock.monotonic();
  return async (signal) => {
    for (;;) {
      const now = clock.monotonic();
      tokens = Math.min(burst, tokens + ((now - at) / 1000) * perSecond);
      at = now;
      if (tokens >= 1 || signal.aborted) {
        tokens = Math.max(tokens - 1, 0);
        return;
      }
      await clock.sleep(Math.ceil(((1 - tokens) / perSecond) * 1000), signal).catch(() => undefined);
    }
  };
}
