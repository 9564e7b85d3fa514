// A request and its answer, free of Node's own request types, so that the whole server can be driven without
// a socket.
import type { X509Certificate } from "node:crypto";
import type { Duplex } from "node:stream";

export type HeaderValues = Readonly<Record<string, string | readonly string[] | undefined>>;

/** Who is at the other end of the connection. */
export interface Peer {
  readonly address: string;
  /** Of the client's end; those who call in process have none. */
  readonly port?: number | undefined;
  /** The client certificate chain as presented, leaf first, not yet verified by anyone. */
  readonly certificates: () => readonly X509Certificate[];
  /** An identity given by whoever connected in process; sockets never set it. */
  readonly trusted?: TrustedCaller | null | undefined;
}

/** Who calls in process, as the embedding program vouches for. */
export interface TrustedCaller {
  readonly name: string;
  readonly uid?: string;
  readonly groups: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

export interface Call {
  readonly method: string;
  /** The path as it came, still percent-encoded. */
  readonly path: string;
  /** What follows the question mark, or the empty string. */
  readonly search: string;
  /** Lower-case names. */
  readonly headers: HeaderValues;
  readonly protocol: "1.1" | "2";
  readonly peer: Peer;
  /** Milliseconds since the epoch. */
  readonly receivedAt: number;
  /** Aborted when the client goes away. */
  readonly signal: AbortSignal;
  /** Calls back when the call is over: its answer has left, or its connection is gone. At once where that is so. */
  whenOver(listener: () => void): void;
  /** How much the client has taken over the call's connection so far, of all answers. */
  sentBytes(): number;
  /** Ends the call, whatever is left of its answer. */
  breakOff(): void;
  /** The whole body. Throws BodyTooLarge beyond the limit and BodyCutShort when the client stops early. */
  body(limitBytes: number): Promise<Uint8Array>;
  /**
   * Resolves when the body is complete, or as much of it has come as is buffered before anybody reads it, or the
   * client is gone. Waiting here costs a slow client nothing but its own time.
   */
  bodyBuffered(): Promise<void>;
  /** Whether the client asked to take over the connection (an Upgrade request). */
  readonly upgradable: boolean;
  /**
   * Asks an HTTP/2 client to open its next connection elsewhere; otherwise does nothing. Requests that it sends
   * until it hears of this are served, unless it is to happen `atOnce`.
   */
  goAway(atOnce?: boolean): void;
}

/** Where a streamed body is written. A writer that ignores `backlogBytes` fills memory: look at it. */
export interface Sink {
  write(chunk: Uint8Array): void;
  /** Bytes accepted but not yet handed to the network. */
  readonly backlogBytes: number;
  /** Resolves when the backlog is small again or the sink is closed. */
  drained(): Promise<void>;
  /** Nothing more will be written. */
  end?(): void;
  /** Aborted when the client is gone. */
  readonly closed: AbortSignal;
}

export type Body =
  | Uint8Array
  | readonly Uint8Array[]
  /** Runs after the headers are sent; the answer ends when the promise settles. */
  | { readonly stream: (sink: Sink) => Promise<void> }
  /** Takes the raw connection of an upgradable call; the head holds bytes read too early. */
  | { readonly takeOver: (socket: Duplex, head: Uint8Array) => void };

export interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  readonly body?: Body;
  /**
   * Parts of the body that nobody else has: who has copied them may give their memory back. Garbage collection
   * would find them only when it looks at all of the heap.
   */
  readonly unshared?: readonly Uint8Array[] | undefined;
  /** Called right before the answer leaves. Answers that leave together may share what it does. */
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

export class BodyCutShort extends Error {
  override readonly name = "BodyCutShort";
  constructor() {
    super("the client closed the connection before the body was complete");
  }
}

/** The first value of a header, or undefined. */
export function header(headers: HeaderValues, name: string): string | undefined {
  const value = headers[name];
  return typeof value === "string" ? value : value?.[0];
}

/** All values of a header, in order. */
export function headerList(headers: HeaderValues, name: string): readonly string[] {
  const value = headers[name];
  return value === undefined ? [] : typeof value === "string" ? [value] : value;
}
