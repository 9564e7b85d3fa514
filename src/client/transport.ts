// How requests reach a server: over HTTPS, or straight into a server of the same process.
import { type Call, type Reply, inject } from "#http";

export interface ClientRequest {
  readonly method: string;
  /** Path with its query. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array | string;
  readonly signal?: AbortSignal;
  /** Gives up when no answer has begun by then; a stream that has begun may go on. */
  readonly timeoutMilliseconds?: number;
}

export interface ClientResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** The body as it arrives; throws when it breaks off. Breaking off the iteration closes the stream. */
  readonly chunks: AsyncIterable<Uint8Array>;
  /** The whole body, where there is a cheaper way to it than by its chunks; instead of them. */
  whole?(): Promise<Uint8Array>;
}

/** The whole body of an answer, as text. */
export async function textOf(response: ClientResponse): Promise<string> {
  const bytes = response.whole
    ? await response.whole()
    : Buffer.concat(await Array.fromAsync(response.chunks));
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString();
}

export interface Transport {
  /** Throws Unreachable when no answer begins, or the signal's reason. */
  send(request: ClientRequest): Promise<ClientResponse>;
  /** Ends every connection and what still runs over it. */
  close(): void;
}

/** The same transport under another user agent; its first word is the manager of the fields that are written. */
export const withUserAgent = (transport: Transport, agent: string): Transport => ({
  send: (request) => transport.send({ ...request, headers: { ...request.headers, "user-agent": agent } }),
  close: () => transport.close(),
});

/** The connection could not be made, or broke before the answer was complete. */
export class Unreachable extends Error {
  override readonly name = "Unreachable";
}

/** Requests that go straight into a handler, as the given identity. */
export function inProcess(
  handle: (call: Call) => Promise<Reply>,
  identity: { readonly name: string; readonly groups: readonly string[] },
): Transport {
  const running = new Set<AbortController>();
  let closed = false;
  return {
    send: async ({ method, path, headers, body, signal }) => {
      signal?.throwIfAborted();
      if (closed) throw new Unreachable("the client was closed");
      const stop = new AbortController();
      const answer = await during(signal, stop, () =>
        inject(handle, {
          method,
          path,
          headers: headers ?? {},
          ...(body !== undefined && { body }),
          signal: stop.signal,
          trusted: identity,
        }),
      );
      return {
        status: answer.status,
        headers: answer.headers,
        chunks: followed(answer.chunks, signal, stop),
      };
    },
    close: () => {
      closed = true;
      for (const stop of running) stop.abort(new Unreachable("the client was closed"));
    },
  };

  async function* followed(
    chunks: AsyncIterable<Uint8Array>,
    signal: AbortSignal | undefined,
    stop: AbortController,
  ): AsyncGenerator<Uint8Array> {
    running.add(stop);
    const abort = (): void => stop.abort(signal!.reason);
    if (signal?.aborted) abort();
    signal?.addEventListener("abort", abort, { once: true });
    try {
      yield* chunks;
      stop.signal.throwIfAborted();
    } finally {
      running.delete(stop);
      signal?.removeEventListener("abort", abort);
    }
  }
}

async function during<T>(
  signal: AbortSignal | undefined,
  stop: AbortController,
  run: () => Promise<T>,
): Promise<T> {
  const abort = (): void => stop.abort(signal!.reason);
  signal?.addEventListener("abort", abort, { once: true });
  try {
    return await run();
  } finally {
    signal?.removeEventListener("abort", abort);
  }
}
