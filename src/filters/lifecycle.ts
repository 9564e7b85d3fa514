// Graceful shutdown, in order: not ready, no new requests, requests in flight drained, closed.
//
//   signal ──delay──▶ no new requests ──────────────▶ drained ─────────────▶ closed
//   /readyz fails     plain: the port is closed       watches end within     remaining connections
//                     retry-after: port open, 429     the grace period       are closed
import type { Clock, Log } from "#base";

export interface LifecycleOptions {
  readonly clock: Clock;
  /** Time to continue serving after the signal. */
  readonly delayMilliseconds: number;
  /** Keep the port open until requests in flight are done, and reject new ones with 429. */
  readonly sendRetryAfter: boolean;
  /**
   * Maximum wait for open watches, which are ended by the server. With 0 they are not ended, as in the
   * reference, and continue until their clients or connections close; with retry-after they are ended within
   * a second.
   */
  readonly watchGraceMilliseconds: number;
  /** Maximum wait for requests in flight. */
  readonly requestTimeoutMilliseconds: number;
  /** Logs every step of the shutdown with kube-apiserver's messages, from -v=1 on. */
  readonly log?: Pick<Log, "verbose">;
}

/** The listener through which connections arrive. Draining may be requested repeatedly. */
export interface Edge {
  drain(): void;
  connections(): number;
}

/** A watch, or another response that does not end by itself. */
export interface LongStream {
  end(): void;
}

type Phase = "serving" | "leaving" | "refusing" | "closed";

const flushMilliseconds = 2000;
const minWatchGraceMilliseconds = 1000;
const pollMilliseconds = 50;

export class Lifecycle {
  readonly options: LifecycleOptions;
  #phase: Phase = "serving";
  #inFlight = 0;
  readonly #streams = new Set<LongStream>();
  #changed: () => void = () => undefined;

  constructor(options: LifecycleOptions) {
    this.options = options;
  }

  /** Reports whether shutdown has been initiated, which makes /readyz fail. */
  get leaving(): boolean {
    return this.#phase !== "serving";
  }

  /** Reports whether new requests are rejected. */
  get refusing(): boolean {
    return this.#phase === "refusing" || this.#phase === "closed";
  }

  get inFlight(): number {
    return this.#inFlight;
  }

  get streams(): number {
    return this.#streams.size;
  }

  requestStarted(): void {
    this.#inFlight++;
  }

  requestFinished(): void {
    if (--this.#inFlight === 0) this.#changed();
  }

  streamStarted(stream: LongStream): void {
    this.#streams.add(stream);
    if (this.refusing) stream.end();
  }

  streamEnded(stream: LongStream): void {
    if (this.#streams.delete(stream) && this.#streams.size === 0) this.#changed();
  }

  /** Runs the whole sequence; resolves when the listener may be closed. */
  async shutDown(edge: Edge): Promise<void> {
    const { clock, delayMilliseconds, sendRetryAfter, watchGraceMilliseconds, requestTimeoutMilliseconds } =
      this.options;
    if (this.#phase !== "serving") return;
    this.#phase = "leaving";
    this.#logEvent("ShutdownInitiated");
    if (delayMilliseconds > 0) await clock.sleep(delayMilliseconds);
    this.#phase = "refusing";
    this.#logEvent("AfterShutdownDelayDuration");
    this.#logEvent("NotAcceptingNewRequest");
    if (!sendRetryAfter) edge.drain();
    const grace = watchGraceMilliseconds || (sendRetryAfter ? minWatchGraceMilliseconds : 0);
    if (grace > 0) this.#endStreams(grace);
    await Promise.all([
      this.#until(() => this.#inFlight === 0, requestTimeoutMilliseconds),
      grace > 0 && this.#until(() => this.#streams.size === 0, grace),
    ]);
    this.#logEvent("InFlightRequestsDrained");
    await this.#connectionsClosed(edge, sendRetryAfter ? flushMilliseconds : requestTimeoutMilliseconds);
    this.#phase = "closed";
    this.#logEvent("HTTPServerStoppedListening");
  }

  #logEvent(name: string): void {
    this.options.log?.verbose(1, "[graceful-termination] shutdown event", { name });
  }

  /**
   * Shutdown of an embedded server: watches are ended immediately, and only requests in flight are waited
   * for.
   */
  async stopEmbedded(edge: Edge): Promise<void> {
    if (this.#phase === "closed") return;
    this.#phase = "closed";
    edge.drain();
    for (const stream of this.#streams) stream.end();
    await this.#until(() => this.#inFlight === 0 && this.#streams.size === 0, flushMilliseconds);
    await this.#connectionsClosed(edge, flushMilliseconds);
  }

  /** Waits until the last responses are written. */
  async #connectionsClosed(edge: Edge, longestMilliseconds: number): Promise<void> {
    const { clock } = this.options;
    const until = clock.monotonic() + longestMilliseconds;
    // The last request was answered, but its response has not passed all filters yet.
    await new Promise((resolve) => setImmediate(resolve));
    for (edge.drain(); edge.connections() > 0 && clock.monotonic() < until; edge.drain())
      await clock.sleep(pollMilliseconds);
  }

  /**
   * Ends watches one after the other over most of the grace period, so that their clients do not all
   * reconnect at once.
   */
  #endStreams(graceMilliseconds: number): void {
    const streams = [...this.#streams];
    const step = (graceMilliseconds * 0.8) / streams.length;
    streams.forEach((stream, at) => {
      if (at === 0) stream.end();
      else this.options.clock.after(at * step, () => stream.end());
    });
  }

  #until(holds: () => boolean, longestMilliseconds: number): Promise<void> {
    if (holds()) return Promise.resolve();
    return new Promise((resolve) => {
      const before = this.#changed;
      const done = (): void => {
        cancel();
        resolve();
      };
      const cancel = this.options.clock.after(longestMilliseconds, done);
      this.#changed = () => {
        before();
        if (holds()) done();
      };
    });
  }
}
