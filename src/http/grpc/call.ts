// One call on one HTTP/2 stream, which ends exactly once. All events of the stream are handled.
import type { ClientHttp2Session, ClientHttp2Stream, IncomingHttpHeaders } from "node:http2";
import { nodeHttp2 } from "#base";
import { FrameReader, framed } from "./frames.ts";
import { GrpcError, statusOf, statusOfPlainHttp, statusOfReset } from "./status.ts";

export interface CallHandlers {
  message(bytes: Uint8Array): void;
  /** Called once, as the last callback; without an error the call ended with OK. */
  closed(error: GrpcError | undefined): void;
}

/** The transport half of a call. */
export interface RunningCall {
  readonly endpoint: string;
  /** Sends one message; after a result of false, wait for drained() before sending more. */
  write(message: Uint8Array): boolean;
  drained(): Promise<void>;
  /** Half-closes the call: no more messages will be sent. */
  end(message?: Uint8Array): void;
  /** Ends the call immediately with this error. */
  cancel(error: GrpcError): void;
  pause(): void;
  resume(): void;
}

export interface CallStart {
  readonly endpoint: string;
  readonly headers: Record<string, string>;
  readonly maxMessageBytes: number;
  /** Called whenever anything is received from the server. */
  readonly onActivity: () => void;
}

/** Opens the stream. If the session accepts no more calls, throws UNAVAILABLE marked as unprocessed. */
export function startCall(
  session: ClientHttp2Session,
  start: CallStart,
  handlers: CallHandlers,
): RunningCall {
  const { endpoint } = start;
  const stream = openStream(session, start);
  const reader = new FrameReader(start.maxMessageBytes);
  let status: ReturnType<typeof statusOf>;
  let plain: ReturnType<typeof statusOfPlainHttp>;
  let answered = false;
  let finished = false;

  const finish = (error: GrpcError | undefined): void => {
    if (finished) return;
    finished = true;
    handlers.closed(error);
  };
  const cancel = (error: GrpcError): void => {
    if (finished) return;
    finish(error);
    stream.close(nodeHttp2().constants.NGHTTP2_CANCEL);
    stream.resume();
  };

  stream.on("response", (headers: IncomingHttpHeaders) => {
    answered = true;
    start.onActivity();
    status = statusOf(headers);
    plain = status ? undefined : statusOfPlainHttp(headers);
  });
  stream.on("trailers", (headers: IncomingHttpHeaders) => {
    start.onActivity();
    status = statusOf(headers) ?? status;
  });
  stream.on("data", (chunk: Buffer) => {
    start.onActivity();
    if (finished || plain) return;
    try {
      for (const message of reader.push(chunk)) if (!finished) handlers.message(message);
    } catch (error) {
      cancel(
        error instanceof GrpcError
          ? error
          : new GrpcError("INTERNAL", `a message could not be read: ${(error as Error).message}`, {
              endpoint,
              cause: error,
            }),
      );
    }
  });
  let failure: NodeJS.ErrnoException | undefined;
  stream.on("error", (error: Error) => {
    failure ??= error;
  });
  stream.on("frameError", () => {});
  stream.on("aborted", () => {});
  stream.on("close", () => {
    if (finished) return;
    if (status) finish(ended(status, reader.empty, endpoint));
    else if (plain) finish(new GrpcError(plain.code, plain.detail, { endpoint }));
    else finish(broken(stream, session, failure, answered, endpoint));
  });

  return {
    endpoint,
    write: (message) => finished || stream.destroyed || stream.write(framed(message)),
    drained: () =>
      new Promise((resolve) => {
        if (finished || stream.destroyed || !stream.writableNeedDrain) return resolve();
        const done = (): void => {
          stream.off("drain", done);
          stream.off("close", done);
          resolve();
        };
        stream.on("drain", done);
        stream.on("close", done);
      }),
    end: (message) => {
      if (finished || stream.destroyed || stream.writableEnded) return;
      if (message) stream.end(framed(message));
      else stream.end();
    },
    cancel,
    pause: () => void stream.pause(),
    resume: () => void stream.resume(),
  };
}

function openStream(session: ClientHttp2Session, { headers, endpoint }: CallStart): ClientHttp2Stream {
  try {
    return session.request(headers, { endStream: false });
  } catch (error) {
    throw new GrpcError("UNAVAILABLE", `the connection to ${endpoint} takes no more calls`, {
      unprocessed: true,
      endpoint,
      cause: error,
    });
  }
}

function ended(
  status: NonNullable<ReturnType<typeof statusOf>>,
  whole: boolean,
  endpoint: string,
): GrpcError | undefined {
  if (status.code !== "OK") return new GrpcError(status.code, status.detail, { endpoint });
  return whole
    ? undefined
    : new GrpcError("INTERNAL", "the stream ended in the middle of a message", { endpoint });
}

// Returns the error of a stream that closed without a status: reset by the server, or lost with its
// connection.
function broken(
  stream: ClientHttp2Stream,
  session: ClientHttp2Session,
  failure: NodeJS.ErrnoException | undefined,
  answered: boolean,
  endpoint: string,
): GrpcError {
  const { constants } = nodeHttp2();
  const reset = stream.rstCode ?? 0;
  const code = failure?.code ?? "";
  // A stream without an id was never sent; one above the last stream id of the server's GOAWAY was refused.
  const unsent =
    stream.id === undefined ||
    (reset === constants.NGHTTP2_REFUSED_STREAM && !answered) ||
    code === "ERR_HTTP2_GOAWAY_SESSION";
  const sessionGone =
    session.destroyed ||
    code === "ERR_HTTP2_SESSION_ERROR" ||
    code.startsWith("ECONN") ||
    code === "EPIPE" ||
    code === "ETIMEDOUT";
  if (
    unsent ||
    sessionGone ||
    (!answered && reset === constants.NGHTTP2_CANCEL) ||
    reset === constants.NGHTTP2_NO_ERROR
  ) {
    return new GrpcError(
      "UNAVAILABLE",
      `the connection to ${endpoint} was lost${failure ? `: ${failure.message}` : ""}`,
      { unprocessed: unsent, endpoint, cause: failure },
    );
  }
  const { detail, code: status, unprocessed } = statusOfReset(reset);
  return new GrpcError(status, detail, { endpoint, cause: failure, unprocessed: unprocessed ?? false });
}
