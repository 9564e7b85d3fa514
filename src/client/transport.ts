// How requests reach a server: over HTTPS, or straight into a server of the same process.
import type { Call, Reply } from "#http";
import { inject } from "#http";

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
  /** The body as it arrives. Breaking off the iteration closes the stream. */
  readonly chunks: AsyncIterable<Uint8Array>;
}

export interface Transport {
  send(request: ClientRequest): Promise<ClientResponse>;
  close(): void;
}

/** Requests that go straight into a handler, as the given identity. */
export function inProcess(handle: (call: Call) => Promise<Reply>, identity: { readonly name: string; readonly groups: readonly string[] }): Transport {
  return {
    send: async ({ method, path, headers, body, signal }) =>
      await inject(handle, { method, path, headers: headers ?? {}, ...(body !== undefined && { body }), ...(signal && { signal }), trusted: identity }),
    close: () => undefined,
  };
}
