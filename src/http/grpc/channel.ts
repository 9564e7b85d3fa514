// A gRPC client over HTTP/2: unary calls and streams to the first of several endpoints that responds.
//
// The first endpoint that works is used until it fails; then the next one is tried. A call that certainly
// never reached a server is retried automatically; one whose outcome is unknown only if the caller declared
// it repeatable.
import { type Clock, systemClock } from "#base";
import type { Dial } from "../dial.ts";
import { type RunningCall, startCall } from "./call.ts";
import { Connection, type TlsMaterial } from "./connection.ts";
import { GrpcError } from "./status.ts";
import { type GrpcStream, MessageQueue } from "./stream.ts";

/** A remote procedure: its path and the codec of its messages. */
export interface GrpcMethod<Request, Response> {
  /** `/package.Service/Method` */
  readonly path: string;
  encode(request: Request): Uint8Array;
  decode(bytes: Uint8Array): Response;
}

export interface GrpcCallOptions {
  /** Deadline of the whole call, including connecting and retries. */
  readonly deadlineMilliseconds?: number;
  readonly signal?: AbortSignal;
  readonly metadata?: Readonly<Record<string, string>>;
  /** The call may be retried even if a server may have acted on it. */
  readonly repeatable?: boolean;
  /**
   * If no endpoint can be reached, wait for one instead of failing immediately. If the deadline passes
   * meanwhile, the error has the last connection error as its cause.
   */
  readonly waitForReady?: boolean;
  /** Use only this endpoint. */
  readonly endpoint?: string;
  readonly maxMessageBytes?: number;
}

export interface GrpcChannelOptions {
  /** `http://host:port`, `https://host:port` or `unix:///path`, in order of preference. */
  readonly endpoints: readonly string[];
  readonly tls?: TlsMaterial | (() => TlsMaterial | Promise<TlsMaterial>);
  /** Opens connections in place of the default, through a proxy for example. */
  readonly dial?: Dial | undefined;
  readonly clock?: Clock;
  /** Maximum size of a message received from a server. */
  readonly maxMessageBytes?: number;
  readonly connectMilliseconds?: number;
  readonly backOff?: { readonly firstMilliseconds: number; readonly maxMilliseconds: number };
  readonly keepAlive?: { readonly everyMilliseconds: number; readonly timeoutMilliseconds: number };
}

export interface GrpcChannel {
  readonly endpoints: readonly string[];
  unary<Request, Response>(
    method: GrpcMethod<Request, Response>,
    request: Request,
    options?: GrpcCallOptions,
  ): Promise<Response>;
  /** One request, many responses. Leaving the iteration cancels the call. */
  serverStream<Request, Response>(
    method: GrpcMethod<Request, Response>,
    request: Request,
    options?: GrpcCallOptions,
  ): AsyncIterable<Response>;
  /** Bidirectional stream. Resolves once the connection is established and the stream is open. */
  duplex<Request, Response>(
    method: GrpcMethod<Request, Response>,
    options?: GrpcCallOptions,
  ): Promise<GrpcStream<Request, Response>>;
  /** Ends all calls with UNAVAILABLE; later calls fail, too. */
  close(): void;
}

const maxAttempts = 5;

/** Creates a channel. It does not connect before the first call. */
export function grpcChannel(options: GrpcChannelOptions): GrpcChannel {
  const clock = options.clock ?? systemClock;
  const maxMessageBytes = options.maxMessageBytes ?? 64 << 20;
  if (options.endpoints.length === 0) throw new TypeError("a channel needs at least one endpoint");
  const connections = options.endpoints.map(
    (endpoint) =>
      new Connection(endpoint, {
        tls: options.tls,
        dial: options.dial,
        clock,
        connectMilliseconds: options.connectMilliseconds ?? 5000,
        backOff: options.backOff ?? { firstMilliseconds: 100, maxMilliseconds: 5000 },
        keepAlive: options.keepAlive,
      }),
  );
  let preferred = 0;
  const closing = new AbortController();

  const startOn = async (
    connection: Connection,
    path: string,
    call: Limits,
    handlers: Parameters<typeof startCall>[2],
    settings: GrpcCallOptions,
  ): Promise<RunningCall> => {
    const session = await call.race(connection.session());
    const since = clock.monotonic();
    const running = startCall(
      session,
      {
        endpoint: connection.endpoint,
        headers: headersFor(path, connection, call.leftMilliseconds(), settings.metadata),
        maxMessageBytes: settings.maxMessageBytes ?? maxMessageBytes,
        onActivity: () => connection.recordActivity(),
      },
      {
        message: handlers.message,
        closed: (error) => {
          connection.released();
          if (error?.code === "DEADLINE_EXCEEDED") connection.checkAlive(since);
          if (error?.code === "DEADLINE_EXCEEDED" || error?.code === "UNAVAILABLE") demote(connection);
          handlers.closed(error);
        },
      },
    );
    connection.opened();
    return running;
  };

  /** Makes later calls start with the next endpoint if the preferred one failed. */
  const demote = (connection: Connection): void => {
    if (connections[preferred] === connection) preferred = (preferred + 1) % connections.length;
  };

  /** Opens a call on the first endpoint that accepts it. */
  const start = async (
    path: string,
    call: Limits,
    handlers: Parameters<typeof startCall>[2],
    settings: GrpcCallOptions,
  ): Promise<RunningCall> => {
    let lastConnectError: Error | undefined;
    const expired = (): void => {
      if (lastConnectError && call.expired())
        throw new GrpcError("DEADLINE_EXCEEDED", "no endpoint could be reached in time", {
          cause: lastConnectError,
        });
      call.check();
    };
    for (;;) {
      let failure: GrpcError | undefined;
      const first = preferred;
      const candidates =
        settings.endpoint === undefined
          ? connections.map((_, at) => connections[(first + at) % connections.length]!)
          : connections.filter((one) => one.endpoint === settings.endpoint);
      if (candidates.length === 0)
        throw new GrpcError("UNAVAILABLE", `${settings.endpoint} is not an endpoint of this channel`, {
          unprocessed: true,
        });
      for (const connection of candidates) {
        if (connection.backoffUntil > clock.monotonic()) continue;
        try {
          const running = await startOn(connection, path, call, handlers, settings);
          if (settings.endpoint === undefined) preferred = connections.indexOf(connection);
          return running;
        } catch (error) {
          expired();
          if (!(error instanceof GrpcError) || !error.unprocessed) throw error;
          failure = error;
        }
      }
      lastConnectError = candidates[0]!.lastFailure;
      expired();
      if (closing.signal.aborted)
        throw new GrpcError("UNAVAILABLE", "the channel is closed", { unprocessed: true });
      if (!settings.waitForReady) throw failure ?? unavailable(candidates);
      const wake = Math.min(...candidates.map((connection) => connection.backoffUntil));
      await call
        .race(
          clock
            .sleep(Math.max(1, wake - clock.monotonic()), AbortSignal.any([call.signal, closing.signal]))
            .catch(() => {}),
        )
        .catch(expired);
    }
  };

  const unary = async <Request, Response>(
    method: GrpcMethod<Request, Response>,
    request: Request,
    settings: GrpcCallOptions = {},
  ): Promise<Response> => {
    const bytes = method.encode(request);
    const call = limits(clock, settings);
    try {
      for (let attempt = 1; ; attempt++) {
        let started = false;
        try {
          return method.decode(await attemptOnce(method.path, bytes, call, settings, () => (started = true)));
        } catch (error) {
          // If no endpoint accepted the call, all have been tried already.
          const retryable =
            error instanceof GrpcError &&
            started &&
            attempt < maxAttempts &&
            (error.unprocessed || (settings.repeatable && error.code === "UNAVAILABLE"));
          if (!retryable || closing.signal.aborted) throw error;
          // A server that reported itself unavailable gets a short pause before it, or the next endpoint, is
          // retried.
          if (!error.unprocessed) await call.race(clock.sleep(25 * attempt, call.signal).catch(() => {}));
          call.check();
        }
      }
    } finally {
      call.done();
    }
  };

  const attemptOnce = (
    path: string,
    bytes: Uint8Array,
    call: Limits,
    settings: GrpcCallOptions,
    started: () => void,
  ): Promise<Uint8Array> =>
    new Promise((resolve, reject) => {
      let response: Uint8Array | undefined;
      let stop = (): void => {};
      const handlers = {
        message: (message: Uint8Array): void => {
          if (response) throw new GrpcError("INTERNAL", "the server sent two messages where one was due");
          response = message;
        },
        closed: (error: GrpcError | undefined): void => {
          stop();
          if (error) reject(error);
          else if (response) resolve(response);
          else reject(new GrpcError("INTERNAL", "the server sent no message where one was due"));
        },
      };
      start(path, call, handlers, settings).then((running) => {
        started();
        stop = call.onEnd((error) => running.cancel(error));
        running.end(bytes);
      }, reject);
    });

  const duplex = async <Request, Response>(
    method: GrpcMethod<Request, Response>,
    settings: GrpcCallOptions = {},
  ): Promise<GrpcStream<Request, Response>> => {
    const call = limits(clock, settings);
    let running: RunningCall | undefined;
    const queue = new MessageQueue<Response>({
      pause: () => running?.pause(),
      resume: () => running?.resume(),
      cancel: () => running?.cancel(new GrpcError("CANCELLED", "the caller left")),
    });
    const handlers = {
      message: (bytes: Uint8Array): void => queue.push(method.decode(bytes)),
      closed: (error: GrpcError | undefined): void => {
        call.done();
        queue.end(error);
      },
    };
    try {
      running = await start(method.path, call, handlers, settings);
    } catch (error) {
      call.done();
      throw error;
    }
    const wire = running;
    call.onEnd((error) => wire.cancel(error));
    return {
      endpoint: wire.endpoint,
      send: (request) => (wire.write(method.encode(request)) ? Promise.resolve() : wire.drained()),
      end: () => wire.end(),
      cancel: () => wire.cancel(new GrpcError("CANCELLED", "the caller left")),
      [Symbol.asyncIterator]: () => queue[Symbol.asyncIterator](),
    };
  };

  async function* serverStream<Request, Response>(
    method: GrpcMethod<Request, Response>,
    request: Request,
    settings: GrpcCallOptions = {},
  ): AsyncGenerator<Response> {
    const stream = await duplex(method, settings);
    try {
      await stream.send(request);
      stream.end();
      yield* stream;
    } finally {
      stream.cancel();
    }
  }

  return {
    endpoints: options.endpoints,
    unary,
    duplex,
    serverStream,
    close: () => {
      closing.abort();
      for (const connection of connections) connection.close();
    },
  };
}

const unavailable = (connections: readonly Connection[]): GrpcError => {
  const why = connections
    .map((connection) => `${connection.endpoint}: ${connection.lastFailure?.message ?? "unknown"}`)
    .join("; ");
  return new GrpcError("UNAVAILABLE", `no endpoint can be reached (${why})`, { unprocessed: true });
};

function headersFor(
  path: string,
  connection: Connection,
  leftMilliseconds: number | undefined,
  metadata: Readonly<Record<string, string>> = {},
): Record<string, string> {
  return {
    ":method": "POST",
    ":scheme": connection.secure ? "https" : "http",
    ":path": path,
    ":authority": connection.authority,
    te: "trailers",
    "content-type": "application/grpc",
    ...(leftMilliseconds !== undefined && { "grpc-timeout": timeoutText(leftMilliseconds) }),
    ...metadata,
  };
}

/** Formats a grpc-timeout: at most eight digits and a unit. */
export function timeoutText(milliseconds: number): string {
  const whole = Math.max(1, Math.ceil(milliseconds));
  return whole <= 99_999_999 ? `${whole}m` : `${Math.min(99_999_999, Math.ceil(whole / 1000))}S`;
}

/** Ends a call from the client side: by its deadline or its caller's signal. */
interface Limits {
  readonly signal: AbortSignal;
  leftMilliseconds(): number | undefined;
  /** Throws if the call is over. */
  check(): void;
  /** Reports whether the deadline has passed. */
  expired(): boolean;
  /** Waits for a promise, but not longer than the call lasts. */
  race<T>(promise: Promise<T>): Promise<T>;
  /** Registers a callback for the end of the call; the returned function unregisters it. */
  onEnd(run: (error: GrpcError) => void): () => void;
  done(): void;
}

function limits(clock: Clock, { deadlineMilliseconds, signal }: GrpcCallOptions): Limits {
  const over = new AbortController();
  const until = deadlineMilliseconds === undefined ? undefined : clock.monotonic() + deadlineMilliseconds;
  const waiting = new Set<(error: GrpcError) => void>();
  const finish = (error: GrpcError): void => {
    if (over.signal.aborted) return;
    over.abort(error);
    for (const run of waiting) run(error);
    waiting.clear();
  };
  const aborted = (): void =>
    finish(new GrpcError("CANCELLED", "the caller left", { cause: signal!.reason }));
  const stop =
    deadlineMilliseconds === undefined
      ? undefined
      : clock.after(deadlineMilliseconds, () =>
          finish(new GrpcError("DEADLINE_EXCEEDED", `no answer within ${deadlineMilliseconds} ms`)),
        );
  if (signal?.aborted) aborted();
  else signal?.addEventListener("abort", aborted, { once: true });
  const onEnd = (run: (error: GrpcError) => void): (() => void) => {
    if (over.signal.aborted) run(over.signal.reason as GrpcError);
    else waiting.add(run);
    return () => void waiting.delete(run);
  };
  return {
    signal: over.signal,
    leftMilliseconds: () => (until === undefined ? undefined : until - clock.monotonic()),
    check: () => over.signal.throwIfAborted(),
    expired: () => (over.signal.reason as GrpcError | undefined)?.code === "DEADLINE_EXCEEDED",
    onEnd,
    race: (promise) =>
      new Promise((resolve, reject) => {
        const forget = onEnd(reject);
        promise
          .then(resolve, reject)
          .finally(forget)
          .catch(() => {});
      }),
    done: () => {
      stop?.();
      signal?.removeEventListener("abort", aborted);
      waiting.clear();
    },
  };
}
