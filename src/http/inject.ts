// Calls a handler without a socket: the in-process transport of tests and embedded clients.
import {
  type Call,
  type HeaderValues,
  type Reply,
  type Sink,
  type TrustedCaller,
  BodyTooLarge,
} from "./call.ts";

export interface Injection {
  readonly method?: string;
  readonly path: string;
  readonly headers?: HeaderValues;
  readonly body?: string | Uint8Array;
  readonly signal?: AbortSignal;
  /** Becomes `peer.trusted`: the client's identity as asserted by the embedding program. */
  readonly trusted?: TrustedCaller | null | undefined;
}

export interface Injected {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  /** The body as it is written; ends with the response, and throws if that breaks off. */
  readonly chunks: AsyncIterable<Uint8Array>;
  bytes(): Promise<Uint8Array>;
  text(): Promise<string>;
  json(): Promise<unknown>;
}

const drainBytes = 64 * 1024;

/** Passes one request directly to a handler. */
export async function inject(handle: (call: Call) => Promise<Reply>, request: Injection): Promise<Injected> {
  const cut = request.path.indexOf("?");
  const abort = new AbortController();
  const pass = (): void => abort.abort(request.signal!.reason);
  if (request.signal?.aborted) pass();
  request.signal?.addEventListener("abort", pass, { once: true });
  const body =
    typeof request.body === "string" ? Buffer.from(request.body) : (request.body ?? new Uint8Array());
  const reply = await handle({
    method: request.method ?? "GET",
    path: cut < 0 ? request.path : request.path.slice(0, cut),
    search: cut < 0 ? "" : request.path.slice(cut + 1),
    headers: lowerCase(request.headers ?? {}),
    protocol: "2",
    peer: { address: "", certificates: () => [], trusted: request.trusted },
    receivedAt: Date.now(),
    signal: abort.signal,
    // In-process clients receive the bytes themselves and may hold them for any time.
    onFinished: () => undefined,
    sentBytes: () => 0,
    abort: () => undefined,
    body: (limit) => (body.length > limit ? Promise.reject(new BodyTooLarge(limit)) : Promise.resolve(body)),
    upgradable: false,
    bodyBuffered: () => Promise.resolve(),
    goAway: () => undefined,
  });
  reply.beforeSending?.();
  const streamed = reply.body !== undefined && "stream" in reply.body;
  const leave = (): void => request.signal?.removeEventListener("abort", pass);
  if (!streamed) leave();
  const chunks = bodyChunks(reply, abort.signal, leave);
  const bytes = async (): Promise<Uint8Array> => Buffer.concat(await Array.fromAsync(chunks));
  const text = async (): Promise<string> => Buffer.from(await bytes()).toString();
  return {
    status: reply.status,
    headers: reply.headers,
    chunks,
    bytes,
    text,
    json: async () => JSON.parse(await text()) as unknown,
  };
}

const lowerCase = (headers: HeaderValues): HeaderValues =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));

async function* bodyChunks(reply: Reply, signal: AbortSignal, over: () => void): AsyncGenerator<Uint8Array> {
  const body = reply.body;
  if (body === undefined || "takeOver" in body) return;
  if (body instanceof Uint8Array) {
    yield body;
    return;
  }
  if (!("stream" in body)) {
    yield* body as readonly Uint8Array[];
    return;
  }
  const queue: Uint8Array[] = [];
  const waiting: (() => void)[] = [];
  let ended = false;
  let wake = (): void => undefined;
  let backlog = 0;
  const closed = new AbortController();
  const close = (): void => {
    closed.abort();
    wake();
    for (const resume of waiting.splice(0)) resume();
  };
  if (signal.aborted) close();
  signal.addEventListener("abort", close, { once: true });
  const sink: Sink = {
    write: (chunk) => {
      if (closed.signal.aborted) return;
      queue.push(chunk);
      backlog += chunk.length;
      wake();
    },
    get backlogBytes() {
      return backlog;
    },
    drained: () =>
      closed.signal.aborted || backlog < drainBytes
        ? Promise.resolve()
        : new Promise((resolve) => waiting.push(resolve)),
    closed: closed.signal,
  };
  const done = body.stream(sink).finally(() => {
    ended = true;
    wake();
  });
  // A reader that pauses sees the failure later.
  done.catch(() => undefined);
  try {
    while (!closed.signal.aborted) {
      const chunk = queue.shift();
      if (chunk) {
        backlog -= chunk.length;
        if (backlog < drainBytes) for (const resume of waiting.splice(0)) resume();
        yield chunk;
      } else if (ended) return await done;
      else await new Promise<void>((resolve) => (wake = resolve));
    }
  } finally {
    close();
    over();
    await done.catch(() => undefined);
  }
}
