// A connection with a rate limit in each direction.
import { Duplex } from "node:stream";
import type { Clock } from "#base";
import { onceClosed } from "#http";

/** Wraps `inner` to pass at most this many bytes per second each way. Closing one side closes the other. */
export function throttledDuplex(inner: Duplex, bytesPerSecond: number, clock: Clock): Duplex {
  const reading = allowance(bytesPerSecond, clock);
  const writing = allowance(bytesPerSecond, clock);
  const outer: Duplex = new Duplex({
    allowHalfOpen: true,
    read: () => void inner.resume(),
    write: (chunk: Uint8Array, _encoding, done) => {
      const wait = writing(chunk.length);
      const pass = (): void => {
        if (inner.destroyed) done(new Error("the connection is closed"));
        else inner.write(chunk, (error) => done(error));
      };
      if (wait > 0) clock.after(wait, pass);
      else pass();
    },
    final: (done) => {
      inner.end();
      done();
    },
    destroy: (error, done) => {
      inner.destroy();
      done(error);
    },
  });
  inner.on("data", (chunk: Uint8Array) => {
    inner.pause();
    const wait = reading(chunk.length);
    const pass = (): void => {
      if (outer.push(chunk)) inner.resume();
    };
    if (wait > 0) clock.after(wait, pass);
    else pass();
  });
  inner.on("end", () => outer.push(null));
  inner.on("error", (error) => outer.destroy(error));
  onceClosed(inner, () => void outer.destroy());
  return outer;
}

/**
 * Returns a function that computes how many milliseconds to wait before passing on bytes. Bursts of up to one
 * second's worth are allowed.
 */
function allowance(bytesPerSecond: number, clock: Clock): (bytes: number) => number {
  /** The time at which everything passed so far is within the limit. */
  let paidAt = clock.monotonic() - 1000;
  return (bytes) => {
    const now = clock.monotonic();
    paidAt = Math.max(paidAt, now - 1000) + (bytes / bytesPerSecond) * 1000;
    return Math.max(0, paidAt - now);
  };
}
