// A request and its response, independent of Node's request types, so that the whole server can be driven
// without a socket.
import type { X509Certificate } from "node:crypto";
import type { Duplex } from "node:stream";

/** Each character of a value is one byte, received or to be sent. */
export type HeaderValues = Readonly<Record<string, string | readonly string[] | undefined>>;

/** The client's end of the connection. */
export interface Peer {
  readonly address: string;
  /** The client's port; undefined for in-process calls. */
  readonly port?: number | undefined;
  /** The client certificate chain as presented, leaf first, not verified yet. */
  readonly certificates: () => readonly X509Certificate[];
  /** The identity of an in-process client; never set for connections over sockets. */
  readonly trusted?: TrustedCaller | null | undefined;
}

/** The identity of an in-process client, as asserted by the embedding program. */
export interface TrustedCaller {
  readonly name: string;
  readonly uid?: string;
  readonly groups: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

export interface Call {
  readonly method: string;
  /** The request path, still percent-encoded. */
  readonly path: string;
  /** The query string after the question mark, or the empty string. */
  readonly search: string;
  /** Header names are in lower case. */
  readonly headers: HeaderValues;
  readonly protocol: "1.1" | "2";
  readonly peer: Peer;
  /** Milliseconds since the epoch. */
  readonly receivedAt: number;
  /** Aborted when the client closes the connection or the stream. */
  readonly signal: AbortSignal;
  /**
   * Registers a callback for the end of the call: its response has been sent or its connection is closed.
   * Runs at once if that has happened already.
   */
  onFinished(listener: () => void): void;
  /** Bytes sent to the client on the call's connection so far, for all responses. */
  sentBytes(): number;
  /** Ends the call, discarding the rest of its response. */
  abort(): void;
  /**
   * Reads the whole body. Rejects with BodyTooLarge beyond the limit and with IncompleteBody if the client
   * disconnects early.
   */
  body(limitBytes: number): Promise<Uint8Array>;
  /**
   * Resolves when the body is complete, its receive buffer is full, or the client has disconnected. Waiting
   * here keeps a slow client from occupying any limited resource.
   */
  bodyBuffered(): Promise<void>;
  /** The client requested a protocol upgrade (an Upgrade request). */
  readonly upgradable: boolean;
  /**
   * Makes an HTTP/2 client open its next connection, possibly to another server, by sending GOAWAY; otherwise
   * does nothing. Requests sent before the client receives it are still served, unless `immediately` is set.
   */
  goAway(immediately?: boolean): void;
}

/**
 * The output of a streamed body. A writer must respect `backlogBytes`, otherwise the backlog fills memory.
 */
export interface Sink {
  write(chunk: Uint8Array): void;
  /** Bytes accepted but not passed to the network yet. */
  readonly backlogBytes: number;
  /** Resolves when the backlog is small again or the sink is closed. */
  drained(): Promise<void>;
  /** Declares that nothing more will be written. */
  end?(): void;
  /** Aborted when the client has disconnected. */
  readonly closed: AbortSignal;
}

export type Body =
  | Uint8Array
  | readonly Uint8Array[]
  /** Runs after the headers are sent; the response ends when the promise settles. */
  | { readonly stream: (sink: Sink) => Promise<void> }
  /** Takes over the raw connection of an upgradable call; `head` holds bytes received after the request. */
  | { readonly takeOver: (socket: Duplex, head: Uint8Array) => void };

export interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  readonly body?: Body;
  /** Returns the trailers of a streamed body, once the stream has ended. */
  readonly trailers?: (() => Readonly<Record<string, string | readonly string[]>>) | undefined;
  /**
   * Parts of the body that nothing else refers to: their memory may be freed once they have been copied.
   * Garbage collection would free them only in a full collection.
   */
  readonly unshared?: readonly Uint8Array[] | undefined;
  /**
   * Called right before the response is sent. Responses that are sent together may share the work it does.
   */
  readonly beforeSending?: (() => void) | undefined;
}

export class BodyTooLarge extends Error {
  override readonly name = "BodyTooLarge";
  readonly limitBytes: number;
  constructor(limitBytes: number) {
    super(`the body is larger than ${limitBytes} bytes`);
    this.limitBytes = limitBytes;
  }
}

export class IncompleteBody extends Error {
  override readonly name = "IncompleteBody";
  constructor() {
    super("the client closed the connection before the body was complete");
  }
}

/** Returns the first value of a header, or undefined. */
export function header(headers: HeaderValues, name: string): string | undefined {
  const value = headers[name];
  return typeof value === "string" ? value : value?.[0];
}

/** Returns all values of a header, in order. */
export function headerList(headers: HeaderValues, name: string): readonly string[] {
  const value = headers[name];
  return value === undefined ? [] : typeof value === "string" ? [value] : value;
}
