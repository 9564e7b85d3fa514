// How the streams that were closed last were closed: it decides whether a frame on one of them was under way when
// we reset it, or is the client's error (RFC 9113 §5.1).

export type Closure = "complete" | "reset by client" | "reset by server";

const closures: readonly Closure[] = ["complete", "reset by client", "reset by server"];

/** A power of two. A stream takes the place of the one that was opened so many streams before it. */
const maxRemembered = 128;

export class ClosedStreams {
  private readonly streams = new Int32Array(maxRemembered);
  private readonly how = new Uint8Array(maxRemembered);

  add(stream: number, how: Closure): void {
    const place = placeOf(stream);
    if (this.streams[place] === stream) return;
    this.streams[place] = stream;
    this.how[place] = closures.indexOf(how);
  }

  /** Undefined when the stream was never open, or closed long ago. */
  get(stream: number): Closure | undefined {
    const place = placeOf(stream);
    return this.streams[place] === stream ? closures[this.how[place]!] : undefined;
  }
}

/** Clients open odd streams only. */
const placeOf = (stream: number): number => (stream >>> 1) & (maxRemembered - 1);
