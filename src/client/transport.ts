// Transports of requests: over HTTPS, or directly to a server in the same process.
import { type Call, type Reply, inject } from "#http";

export interface ClientRequest {
  readonly method: string;
  /** The path including the query. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array | string;
  readonly signal?: AbortSignal;
  /** Maximum time until the response starts; a stream that has started continues. */
  readonly timeoutMilliseconds?: number;
}

export interface ClientResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** The body as it arrives; throws if it is interrupted. Leaving the iteration closes the stream. */
  readonly chunks: AsyncIterable<Uint8Array>;
  /** Reads the whole body, if there is a cheaper way than by chunks; must not be combined with `chunks`. */
  whole?(): Promise<Uint8Array>;
}

/** Reads the whole body of a response as text. */
export async function textOf(response: ClientResponse): Promise<string> {
  const bytes = response.whole
    ? await response.whole()
    : Buffer.concat(await Array.fromAsync(response.chunks));
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString();
}

export interface Transport {
  /** Throws Unreachable if no response starts, or the signal's reason. */
  send(request: ClientRequest): Promise<ClientResponse>;
  /** Closes every connection and ends the active requests. */
  close(): void;
}

/** Wraps a transport to set the user agent; its first word is the field manager of writes. */
export const withUserAgent = (transport: Transport, agent: string): Transport => ({
  send: (request) => transport.send({ ...request, headers: { ...request.headers, "user-agent": agent } }),
  close: () => transport.close(),
});

/** The connection failed, or broke before the response was complete. */
export class Unreachable extends Error {
  override readonly name = "Unreachable";
}

/** Returns a transport that calls a handler directly, with the given identity. */
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
