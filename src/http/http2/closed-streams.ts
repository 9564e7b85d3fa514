// How the streams that were closed last were closed: it decides whether a frame on one of them was under way when
// we reset it, or is the client's error (RFC 9113 §5.1).

export type Closure = "complete" | "reset by client" | "reset by server";

const maxRemembered = 128;

export class ClosedStreams {
  private readonly closures = new Map<number, Closure>();

  add(stream: number, how: Closure): void {
    if (this.closures.has(stream)) return;
    this.closures.set(stream, how);
    if (this.closures.size > maxRemembered) this.closures.delete(this.closures.keys().next().value!);
  }

  /** Undefined when the stream was never open, or closed long ago. */
  get(stream: number): Closure | undefined {
    return this.closures.get(stream);
  }
}
