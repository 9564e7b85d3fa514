// API calls for tests of filters and handlers, built from a path and optional further fields.
import type { User } from "#authn";
import type { Call, HeaderValues, Reply, Sink } from "#http";
import { ApiCall } from "#endpoints";

export interface CallParts {
  readonly method?: string;
  readonly path?: string;
  readonly headers?: HeaderValues;
  readonly protocol?: "1.1" | "2";
  readonly user?: User;
  readonly address?: string;
  readonly signal?: AbortSignal;
  /** Aborted when the call has ended. */
  readonly over?: AbortSignal;
  readonly goAway?: (atOnce?: boolean) => void;
  readonly abort?: () => void;
  readonly sentBytes?: () => number;
  readonly bodyBuffered?: Promise<void>;
}

export function apiCall({
  method = "GET",
  path = "/api/v1/namespaces/a/pods",
  headers = {},
  protocol = "2",
  user,
  address = "192.0.2.1",
  signal,
  over,
  goAway,
  abort,
  sentBytes,
  bodyBuffered = Promise.resolve(),
}: CallParts = {}): ApiCall {
  const [bare = "", search = ""] = path.split("?");
  const call: Call = {
    method,
    path: bare,
    search,
    headers,
    protocol,
    peer: { address, certificates: () => [] },
    receivedAt: 0,
    signal: signal ?? new AbortController().signal,
    onFinished: (listener) => over?.addEventListener("abort", listener, { once: true }),
    body: () => Promise.resolve(new Uint8Array()),
    upgradable: false,
    bodyBuffered: () => bodyBuffered,
    goAway: goAway ?? (() => undefined),
    abort: abort ?? (() => undefined),
    sentBytes: sentBytes ?? (() => 0),
  };
  const made = new ApiCall(call, "id");
  made.user = user;
  return made;
}

/** A response that the test completes. */
export function pending(): {
  readonly next: () => Promise<Reply>;
  readonly answer: (reply?: Partial<Reply>) => void;
  readonly calls: () => number;
} {
  const waiting: ((reply: Reply) => void)[] = [];
  let calls = 0;
  return {
    calls: () => calls,
    next: () => {
      calls++;
      return new Promise((resolve) => waiting.push(resolve));
    },
    answer: (reply = {}) => waiting.shift()?.({ status: 200, headers: {}, ...reply }),
  };
}

/** Lets all pending callbacks of this turn of the event loop run. */
export const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** A sink that records what is written; its client reads when the test says so. */
export function memorySink(): Sink & {
  readonly chunks: Uint8Array[];
  close(): void;
  read(bytes?: number): void;
} {
  const closed = new AbortController();
  const chunks: Uint8Array[] = [];
  let unread = 0;
  let wake: (() => void)[] = [];
  const read = (bytes = unread): void => {
    unread -= bytes;
    if (unread === 0) for (const resolve of wake.splice(0)) resolve();
  };
  return {
    chunks,
    write: (chunk) => {
      chunks.push(chunk);
      unread += chunk.length;
    },
    get backlogBytes() {
      return unread;
    },
    drained: () =>
      unread === 0 || closed.signal.aborted
        ? Promise.resolve()
        : new Promise((resolve) => (wake = [...wake, resolve])),
    closed: closed.signal,
    close: () => {
      closed.abort();
      read();
    },
    read,
  };
}
