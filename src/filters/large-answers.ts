// Large responses: compressed if the client accepts it, written as fast as the client reads, and limited in
// total size, so that many concurrent or slow readers of lists cannot fill the memory. A response counts
// until nearly all of it has been sent. When the budget is exhausted, requests wait and eventually get 429.
//
//   list (10 MB, estimated) → acquire budget → build → correct to true size → write in pieces → release
import type { Writable } from "node:stream";
import { createGzip } from "node:zlib";
import type { Clock } from "#base";
import { type Body, type Reply, type Sink, header, lengthOf } from "#http";
import type { ApiCall } from "#endpoints";
import type { Filter } from "./filter.ts";
import { ByteBudget } from "./byte-budget.ts";
import { refusal } from "./in-flight.ts";

export interface LargeAnswerOptions {
  readonly clock: Clock;
  readonly compress: boolean;
  readonly budgetBytes?: number;
  /** Called when a response was aborted while it was being sent. */
  readonly aborted?: (call: ApiCall) => void;
}

const compressFrom = 128 * 1024;
const budgetFrom = 64 * 1024;
const pieceBytes = 256 * 1024;
const joinedBelow = 16 * 1024;
const mostBacklogBytes = 1024 * 1024;
const longestWaitMilliseconds = 30_000;
/**
 * A client that does not read is disconnected after this time; at the next check already, if other requests
 * wait for the budget it holds.
 */
const stalledMilliseconds = 300_000;
const lookMilliseconds = 10_000;
/** A client that reads less than this from its connection between two checks is considered stalled. */
const leastReadBytes = 64 * 1024;
const mostEstimates = 1000;
/**
 * Estimates are not stored under longer keys: a thousand of them would be as large as the responses counted
 * here.
 */
const longestRemembered = 4096;

/**
 * A response that was passed to the connection whole: since when, and the number of bytes the connection had
 * sent by then.
 */
interface Unread {
  readonly call: ApiCall;
  since: number;
  sentBytes: number;
}

export function largeAnswers({
  clock,
  compress,
  budgetBytes = 160 * 1024 * 1024,
  aborted,
}: LargeAnswerOptions): Filter {
  const budget = new ByteBudget(budgetBytes);
  /** The size of the last response to a similar request. */
  const estimates = new Map<string, number>();
  /** Responses passed to their connections whole but not sent yet, the oldest first. */
  const unread = new Set<Unread>();

  const answer = async (call: ApiCall, next: () => Promise<Reply>): Promise<Reply> => {
    const question =
      call.target.verb === "list" && call.call.search.length < longestRemembered ? questionOf(call) : "";
    const estimate = estimates.get(question) ?? 0;
    // In-process clients receive the buffers themselves; there is no slow reader.
    const inProcess = call.call.peer.address === "";
    if (estimate === 0 || inProcess) return await finish(await next(), 0);
    if (!budget.takeNow(estimate) && !(await lent(estimate, call))) throw refusal();
    try {
      return await finish(await next(), estimate);
    } catch (error) {
      budget.give(estimate);
      throw error;
    }

    async function finish(reply: Reply, taken: number): Promise<Reply> {
      const parts = partsOf(reply.body);
      const size = parts ? lengthOf(parts) : 0;
      if (question !== "") remember(question, size >= budgetFrom ? size : 0);
      if (!parts || size < budgetFrom || inProcess) {
        budget.give(taken);
        return parts && size > compressFrom ? compressed(call, reply, parts) : reply;
      }
      budget.adjust(size - taken);
      return counted(call, reply, parts, size);
    }
  };

  async function lent(bytes: number, { call: { signal } }: ApiCall): Promise<boolean> {
    breakOffUnread();
    const cancel = clock.after(lookMilliseconds, breakOffUnread);
    try {
      return await budget.take(bytes, clock, longestWaitMilliseconds, signal);
    } finally {
      cancel();
    }
  }

  function remember(question: string, size: number): void {
    if (size === 0) estimates.delete(question);
    if (size === 0) return;
    if (estimates.size >= mostEstimates) estimates.delete(estimates.keys().next().value!);
    estimates.set(question, size);
  }

  const wantsGzip = (call: ApiCall): boolean =>
    compress && acceptsGzip(header(call.call.headers, "accept-encoding"));

  function compressed(call: ApiCall, reply: Reply, parts: readonly Uint8Array[]): Reply {
    if (!wantsGzip(call) || reply.status === 206) return reply;
    return {
      ...reply,
      headers: gzipped(reply.headers),
      body: { stream: (sink) => writeCompressed(parts, patient(sink, clock, budget)) },
      // Compression reads the parts on another thread, possibly even after the client has disconnected.
      unshared: undefined,
    };
  }

  /** The response to a write is one object: it does not wait for the budget. */
  async function written(call: ApiCall, next: () => Promise<Reply>): Promise<Reply> {
    const reply = await next();
    const parts = partsOf(reply.body);
    return parts && lengthOf(parts) > compressFrom ? compressed(call, reply, parts) : reply;
  }

  /** Returns a reply that releases its bytes to the budget when the call is over. */
  function counted(call: ApiCall, reply: Reply, parts: readonly Uint8Array[], size: number): Reply {
    const smaller = size > compressFrom ? compressed(call, reply, parts) : reply;
    if (smaller !== reply || size > mostBacklogBytes) call.call.whenOver(() => budget.give(size));
    if (smaller !== reply) return smaller;
    const { headers } = reply;
    if (size > mostBacklogBytes)
      return {
        ...reply,
        headers: { ...headers, "content-length": String(size) },
        body: { stream: (sink) => writePlain(parts, patient(sink, clock, budget)) },
      };
    const sent: Unread = { since: clock.now(), call, sentBytes: call.call.sentBytes() };
    unread.add(sent);
    call.call.whenOver(() => {
      unread.delete(sent);
      budget.give(size);
    });
    return reply;
  }

  /** Aborts responses that were passed to their connections whole and whose clients are stalled. */
  function breakOffUnread(): void {
    const now = clock.now();
    for (const sent of unread) {
      if (now - sent.since < lookMilliseconds) return;
      const sentBytes = sent.call.call.sentBytes();
      if (sentBytes - sent.sentBytes < leastReadBytes) {
        sent.call.call.breakOff();
        aborted?.(sent.call);
        continue;
      }
      // The client reads, but slowly: responses behind others on the same connection are not aborted.
      sent.since = now;
      sent.sentBytes = sentBytes;
      unread.delete(sent);
      unread.add(sent);
    }
  }

  return {
    name: "large answers",
    run: (call, next) =>
      call.method !== "GET"
        ? written(call, next)
        : call.target.verb === "watch"
          ? next()
          : answer(call, next),
  };
}

function gzipped(headers: Reply["headers"]): Reply["headers"] {
  const vary = headers["vary"] === undefined ? "Accept-Encoding" : String(headers["vary"]);
  return {
    ...headers,
    "content-encoding": "gzip",
    vary: /\baccept-encoding\b/i.test(vary) ? vary : `Accept-Encoding, ${vary}`,
  };
}

/** Returns a sink whose wait for a slow reader is limited. */
function patient(sink: Sink, clock: Clock, budget: ByteBudget): Sink {
  const drained = async (): Promise<void> => {
    const late = Promise.withResolvers<never>();
    let unread = sink.backlogBytes;
    let since = clock.now();
    let cancel = clock.after(lookMilliseconds, look);
    function look(): void {
      if (sink.backlogBytes < unread) since = clock.now();
      unread = sink.backlogBytes;
      const idle = clock.now() - since;
      if (idle >= stalledMilliseconds || (idle > 0 && budget.wanted))
        late.reject(new Error("the client does not read its answer"));
      else cancel = clock.after(lookMilliseconds, look);
    }
    try {
      await Promise.race([sink.drained(), late.promise]);
    } finally {
      cancel();
    }
  };
  return {
    write: (chunk) => sink.write(chunk),
    get backlogBytes() {
      return sink.backlogBytes;
    },
    drained,
    end: () => sink.end?.(),
    closed: sink.closed,
  };
}

/**
 * The key of an estimate. Selector values are ignored: five thousand agents each list the pods of their own
 * node.
 */
const questionOf = ({ target, query, call }: ApiCall): string =>
  `${target.path} ${query.get("limit") ?? ""} ${selected(query.get("labelSelector"))} ${selected(query.get("fieldSelector"))} ${header(call.headers, "accept") ?? ""}`;

const selected = (selector: string | undefined | null): string =>
  selector ? selector.replace(/=[^,=]+/g, "=") : "";

export function acceptsGzip(accepted: string | undefined): boolean {
  return (
    accepted !== undefined &&
    accepted.split(",").some((part) => /^\s*gzip\s*(;\s*q=(?!0(\.0*)?\s*$).*)?$/.test(part))
  );
}

function partsOf(body: Body | undefined): readonly Uint8Array[] | undefined {
  if (body instanceof Uint8Array) return [body];
  return Array.isArray(body) ? (body as readonly Uint8Array[]) : undefined;
}

/**
 * Splits a body into pieces of a suitable size: small parts are joined and large ones split, without
 * unnecessary copies.
 */
function* pieces(parts: readonly Uint8Array[]): Generator<Uint8Array> {
  let small: Uint8Array[] = [];
  let size = 0;
  const joined = (): Uint8Array => (small.length === 1 ? small[0]! : Buffer.concat(small, size));
  for (const part of parts) {
    if (part.length < joinedBelow) {
      small.push(part);
      size += part.length;
      if (size < pieceBytes) continue;
    }
    if (small.length > 0) yield joined();
    small = [];
    size = 0;
    if (part.length >= joinedBelow)
      for (let at = 0; at < part.length; at += pieceBytes) yield part.subarray(at, at + pieceBytes);
  }
  if (small.length > 0) yield joined();
}

async function writePlain(parts: readonly Uint8Array[], sink: Sink): Promise<void> {
  for (const piece of pieces(parts)) {
    if (sink.closed.aborted) return;
    sink.write(piece);
    if (sink.backlogBytes > mostBacklogBytes) await sink.drained();
  }
  // Wait for the rest, so that a stalled reader is detected.
  sink.end?.();
  await sink.drained();
}

async function writeCompressed(parts: readonly Uint8Array[], sink: Sink): Promise<void> {
  const gzip = createGzip({ level: 1, chunkSize: 64 * 1024 });
  const stop = (): void => void gzip.destroy();
  sink.closed.addEventListener("abort", stop, { once: true });
  const feed = async (): Promise<void> => {
    for (const piece of pieces(parts)) {
      if (gzip.destroyed) return;
      if (!gzip.write(piece)) await drainedOrClosed(gzip);
    }
    gzip.end();
  };
  const fed = feed();
  try {
    for await (const chunk of gzip as AsyncIterable<Uint8Array>) {
      sink.write(chunk);
      if (sink.backlogBytes > mostBacklogBytes) await sink.drained();
    }
    await fed;
    await sink.drained();
  } catch (error) {
    if (!sink.closed.aborted) throw error;
  }
}

/** Removes its listeners, as a long response waits many times. */
const drainedOrClosed = (stream: Writable): Promise<void> =>
  new Promise((resolve) => {
    const over = (): void => {
      stream.off("drain", over).off("close", over);
      resolve();
    };
    stream.on("drain", over).on("close", over);
  });
