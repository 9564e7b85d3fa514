// Sinks of long-running responses that the server can end and rate-limit.
import type { Clock } from "#base";
import type { Sink } from "#http";

/** Wraps a sink in one that can also be closed by the server. */
export function endableSink(sink: Sink): { readonly sink: Sink; end(): void } {
  const closed = new AbortController();
  const end = (): void => closed.abort();
  if (sink.closed.aborted) end();
  else sink.closed.addEventListener("abort", end, { once: true });
  return {
    end,
    sink: {
      write: (chunk) => sink.write(chunk),
      get backlogBytes() {
        return sink.backlogBytes;
      },
      drained: () => sink.drained(),
      closed: closed.signal,
    },
  };
}

/** Returns a sink that passes on at most this many bytes per second; queued bytes count as backlog. */
export function throttledSink(sink: Sink, bytesPerSecond: number, clock: Clock): Sink {
  const queue: Uint8Array[] = [];
  let queued = 0;
  let allowance = bytesPerSecond;
  let filledAt = clock.monotonic();
  let cancel: (() => void) | undefined;
  let wake: (() => void)[] = [];
  const settle = (): void => {
    for (const resolve of wake) resolve();
    wake = [];
  };
  const send = (): void => {
    cancel = undefined;
    const now = clock.monotonic();
    allowance = Math.min(bytesPerSecond, allowance + ((now - filledAt) / 1000) * bytesPerSecond);
    filledAt = now;
    while (queue.length > 0 && allowance >= 1) {
      const chunk = queue[0]!;
      const part = chunk.subarray(0, Math.floor(allowance));
      sink.write(part);
      allowance -= part.length;
      queued -= part.length;
      if (part.length === chunk.length) queue.shift();
      else queue[0] = chunk.subarray(part.length);
    }
    if (queue.length > 0)
      cancel = clock.after(Math.max(10, Math.min(1000, (queued / bytesPerSecond) * 1000)), send);
    else settle();
  };
  sink.closed.addEventListener(
    "abort",
    () => {
      cancel?.();
      queue.length = 0;
      queued = 0;
      settle();
    },
    { once: true },
  );
  return {
    write: (chunk) => {
      if (sink.closed.aborted) return;
      queue.push(chunk);
      queued += chunk.length;
      if (!cancel) send();
    },
    get backlogBytes() {
      return queued + sink.backlogBytes;
    },
    drained: async () => {
      if (queue.length > 0) await new Promise<void>((resolve) => wake.push(resolve));
      await sink.drained();
    },
    closed: sink.closed,
  };
}
