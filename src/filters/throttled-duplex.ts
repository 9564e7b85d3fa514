// A connection held to a rate, each way by itself.
import { Duplex } from "node:stream";
import type { Clock } from "#base";

/** Passes both ways over `inner`, at most so many bytes a second. Whoever closes one closes the other. */
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
  inner.on("close", () => outer.destroy());
  return outer;
}

/** Tells how many milliseconds to wait before passing on so many bytes. A second's worth may pass at once. */
function allowance(bytesPerSecond: number, clock: Clock): (bytes: number) => number {
  /** The moment at which everything passed so far is paid for. */
  let paidAt = clock.now() - 1000;
  return (bytes) => {
    const now = clock.now();
    paidAt = Math.max(paidAt, now - 1000) + (bytes / bytesPerSecond) * 1000;
    return Math.max(0, paidAt - now);
  };
}
