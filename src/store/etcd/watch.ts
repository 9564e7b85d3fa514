// One watch on etcd that survives its connections: it resumes after the last revision it has seen, on any
// reachable endpoint.
//
// It always requests the last seen revision again and drops the changes it knows. This detects a revision
// that was compacted in the meantime: etcd starts a watch at exactly the compacted revision without an error,
// although changes at it may be missing (etcd#18089).
import type { Clock } from "#base";
import { type GrpcChannel, GrpcError, type GrpcStream } from "#http";
import { type Batch, type Change, Compacted, type Revision } from "../store.ts";
import { calls } from "./calls.ts";
import type { EtcdKeys, EtcdRange } from "./keys.ts";
import { type WatchEvent, type WatchRequest, type WatchResponse, eventType } from "./messages.ts";

export interface EtcdWatchOptions {
  readonly channel: GrpcChannel;
  readonly keys: EtcdKeys;
  readonly clock: Clock;
  readonly range: EtcdRange;
  /** Reports whether the progress responses of this endpoint are reliable. */
  readonly trustsProgress: (endpoint: string) => Promise<boolean>;
  /** Called when progress is requested from a watch whose server's progress responses are unreliable. */
  readonly requestProof: (watch: EtcdWatch) => void;
}

type Stream = GrpcStream<WatchRequest, WatchResponse>;

const progressRetryMilliseconds = 50;
const pauses = { firstMilliseconds: 20, mostMilliseconds: 2000 };
// Codes of permanent errors. The others (no leader, lost connection, server shutting down) are transient.
const permanentCodes = new Set(["PERMISSION_DENIED", "UNAUTHENTICATED", "UNIMPLEMENTED", "INVALID_ARGUMENT"]);

export class EtcdWatch {
  readonly range: EtcdRange;
  readonly #options: EtcdWatchOptions;
  readonly #signal: AbortSignal;
  /** Everything up to this revision has been delivered. */
  #through: Revision;
  #stream: Stream | undefined;
  #wakeUp: (() => void) | undefined;
  #failure: Error | undefined;
  /** A progress mark to deliver once everything up to `behind` has been delivered. */
  #mark: { readonly at: Revision; readonly behind: Revision } | undefined;
  #requestedMark: Revision = 0;
  #requestingProgress = false;
  #cancelProgressRetry = (): void => {};
  #ended = false;
  readonly #reachedWaiters = new Set<{ readonly revision: Revision; readonly resolve: () => void }>();

  constructor(options: EtcdWatchOptions, after: Revision, signal: AbortSignal) {
    this.#options = options;
    this.range = options.range;
    this.#through = after;
    this.#signal = signal;
  }

  /** Everything up to this revision was delivered, or is proven not to concern this watch. */
  get through(): Revision {
    const mark = this.#mark;
    return mark && mark.behind <= this.#through ? Math.max(mark.at, this.#through) : this.#through;
  }

  /** Resolves once the watch has reached the revision or has ended. */
  reached(revision: Revision): Promise<void> {
    return new Promise((resolve) => {
      if (this.#ended || this.through >= revision) resolve();
      else this.#reachedWaiters.add({ revision, resolve });
    });
  }

  /** Requests a progress mark at this revision or later. */
  requestMark(revision: Revision): void {
    if (revision <= this.#through) {
      this.prove(this.#through, 0);
      return;
    }
    this.#requestedMark = Math.max(this.#requestedMark, revision);
    void this.#requestProgress();
  }

  /** Records that between `behind` and `revision` nothing in the range changed. */
  prove(revision: Revision, behind: Revision): void {
    this.#mark = { at: revision, behind };
    this.#wakeUp?.();
    this.#resolveReached();
  }

  #resolveReached(): void {
    for (const waiter of this.#reachedWaiters) {
      if (!this.#ended && this.through < waiter.revision) continue;
      this.#reachedWaiters.delete(waiter);
      waiter.resolve();
    }
  }

  /** Ends the watch with an error. */
  fail(error: Error): void {
    this.#failure = error;
    this.#wakeUp?.();
  }

  async *run(): AsyncGenerator<Batch, void, void> {
    let failures = 0;
    try {
      while (!this.#signal.aborted) {
        try {
          for await (const batch of this.#connection()) {
            failures = 0;
            yield batch;
          }
        } catch (error) {
          if (this.#signal.aborted) return;
          if (!(error instanceof GrpcError) || permanentCodes.has(error.code)) throw error;
        }
        const pause = Math.min(pauses.mostMilliseconds, pauses.firstMilliseconds * 2 ** failures++);
        await this.#options.clock.sleep(pause * (0.5 + Math.random()), this.#signal).catch(() => {});
      }
    } finally {
      this.#ended = true;
      this.#cancelProgressRetry();
      this.#resolveReached();
    }
  }

  /** Yields the batches of one connection; returns, or throws a GrpcError, when it is lost. */
  async *#connection(): AsyncGenerator<Batch, void, void> {
    const stream = await this.#options.channel.duplex(calls.watch, {
      signal: this.#signal,
      waitForReady: true,
      metadata: { hasleader: "true" },
    });
    const responses = stream[Symbol.asyncIterator]();
    try {
      await stream.send({
        createRequest: {
          ...this.range,
          startRevision: Math.max(1, this.through),
          prevKv: true,
          progressNotify: true,
          fragment: true,
        },
      });
      let fragments: WatchEvent[] = [];
      let arrived: IteratorResult<WatchResponse> | undefined;
      let lost: unknown;
      const readNext = (): void => {
        arrived = undefined;
        responses.next().then(
          (result) => {
            arrived = result;
            this.#wakeUp?.();
          },
          (error: unknown) => {
            lost = error;
            this.#wakeUp?.();
          },
        );
      };
      readNext();
      for (;;) {
        if (this.#failure) throw this.#failure;
        if (this.#mark && this.#mark.behind <= this.#through) {
          this.#through = Math.max(this.#through, this.#mark.at);
          this.#mark = undefined;
          yield { changes: [], through: this.#through };
          continue;
        }
        if (!arrived && lost === undefined) {
          await new Promise<void>((resolve) => (this.#wakeUp = resolve));
          this.#wakeUp = undefined;
          continue;
        }
        if (!arrived) throw lost as Error;
        if (arrived.done) return;
        const response = arrived.value;
        readNext();
        if (response.canceled) throw endError(response);
        if (response.created) {
          this.#stream = stream;
          if (this.#requestedMark > this.#through) void this.#requestProgress();
          continue;
        }
        const events = response.events ?? [];
        if (events.length === 0 && !response.fragment && fragments.length === 0) {
          // A progress response for the whole stream is reliable only where #requestProgress has requested
          // it; one for this watch always is.
          this.prove(Math.max(this.#through, response.header?.revision ?? 0), 0);
          continue;
        }
        fragments = fragments.length ? fragments.concat(events) : events;
        if (response.fragment) continue;
        const changes = fragments.flatMap((event) => this.#change(event));
        fragments = [];
        if (changes.length === 0) continue;
        this.#through = changes.at(-1)!.revision;
        this.#resolveReached();
        yield { changes, through: this.#through };
      }
    } finally {
      this.#stream = undefined;
      this.#wakeUp = undefined;
      stream.cancel();
    }
  }

  #change({ type, kv, prevKv }: WatchEvent): Change[] {
    const { keys } = this.#options;
    if (!kv || kv.modRevision <= this.#through) return [];
    const deleted = type === eventType.delete;
    // The server reads the previous value when it sends the event; if it was compacted in between, the server
    // omits it without reporting an error.
    if (!prevKv && (deleted || kv.createRevision !== kv.modRevision)) throw new Compacted(kv.modRevision);
    const previous = prevKv && keys.entry(prevKv);
    return [
      {
        key: keys.decode(kv.key),
        revision: kv.modRevision,
        value: deleted ? null : new Uint8Array(kv.value),
        created: deleted ? previous!.created : kv.createRevision,
        ...(previous && { previous }),
      },
    ];
  }

  // Repeats the request until the mark arrives: a server whose watch is still catching up does not answer.
  async #requestProgress(): Promise<void> {
    const stream = this.#stream;
    if (!stream || this.#requestingProgress || this.#signal.aborted) return;
    this.#requestingProgress = true;
    this.#cancelProgressRetry();
    try {
      if (await this.#options.trustsProgress(stream.endpoint)) {
        if (this.#stream === stream) await stream.send({ progressRequest: {} });
      } else this.#options.requestProof(this);
    } catch {
      // The stream or the server is unavailable; the next connection repeats the request.
    } finally {
      this.#requestingProgress = false;
    }
    if (this.#signal.aborted) return;
    this.#cancelProgressRetry = this.#options.clock.after(progressRetryMilliseconds, () => {
      if (this.#requestedMark > this.#through) void this.#requestProgress();
    });
  }
}

function endError({ compactRevision, cancelReason }: WatchResponse): Error {
  if (compactRevision > 0) return new Compacted(compactRevision);
  return new GrpcError(
    /permission denied|invalid auth/.test(cancelReason) ? "PERMISSION_DENIED" : "UNAVAILABLE",
    `the server ended the watch: ${cancelReason || "no reason given"}`,
  );
}
