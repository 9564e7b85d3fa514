// Remembers how the most recently closed streams were closed: this decides whether a frame on one of them was
// in flight when we reset it, or is an error of the client (RFC 9113 §5.1).

export type Closure = "complete" | "reset by client" | "reset by server";

const closures: readonly Closure[] = ["complete", "reset by client", "reset by server"];

/** A power of two. Each stream replaces the one opened this many streams earlier. */
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

  /** Returns undefined if the stream was never open, or closed long ago. */
  get(stream: number): Closure | undefined {
    const place = placeOf(stream);
    return this.streams[place] === stream ? closures[this.how[place]!] : undefined;
  }
}

/** Clients use odd stream ids only. */
const placeOf = (stream: number): number => (stream >>> 1) & (maxRemembered - 1);
