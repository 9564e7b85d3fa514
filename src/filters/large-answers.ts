// Large answers: compressed for clients that take it, written as fast as the client reads, and bounded in
// sum, so that many readers of lists at once, or slow ones, cannot fill the memory: an answer counts until
// nearly all of it has left. Whoever comes when the budget is used up waits, then gets 429.
//
//   list (10 MB, by estimate from the last one) → budget has room → built → its true size counted → written in pieces → given back
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
  /** An answer that had begun was broken off. */
  readonly aborted?: (call: ApiCall) => void;
}

const compressFrom = 128 * 1024;
const budgetFrom = 64 * 1024;
const pieceBytes = 256 * 1024;
const joinedBelow = 16 * 1024;
const mostBacklogBytes = 1024 * 1024;
const longestWaitMilliseconds = 30_000;
/**
 * A reader that takes nothing is given up after a while; at the next look, where others wait for what it
 * holds.
 */
const stalledMilliseconds = 300_000;
const lookMilliseconds = 10_000;
/** Who takes less over a connection from one look to the next does not read. */
const leastReadBytes = 64 * 1024;
const mostEstimates = 1000;
/** Longer questions are not remembered: a thousand of them would be as large as what is counted here. */
const longestRemembered = 4096;

/** What is left of an answer that was sent whole: since when, and what its connection had sent by then. */
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
  /** How large the last answer to a question like this was. */
  const estimates = new Map<string, number>();
  /** What is left of answers that were sent whole, the oldest first. */
  const unread = new Set<Unread>();

  const answer = async (call: ApiCall, next: () => Promise<Reply>): Promise<Reply> => {
    const question =
      call.target.verb === "list" && call.call.search.length < longestRemembered ? questionOf(call) : "";
    const estimate = estimates.get(question) ?? 0;
    // Answers in process hand their buffers over; there is no slow reader.
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
      // The compression reads them on another thread, for a while even when the client has gone.
      unshared: undefined,
    };
  }

  /** What a write answers is one object: it waits for nobody. */
  async function written(call: ApiCall, next: () => Promise<Reply>): Promise<Reply> {
    const reply = await next();
    const parts = partsOf(reply.body);
    return parts && lengthOf(parts) > compressFrom ? compressed(call, reply, parts) : reply;
  }

  /** A reply that gives its bytes back to the budget when the call is over. */
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

  /** Answers that were sent whole, and whose client has not read for a while. */
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
      // It reads, but has more to read than it can: answers that wait their turn are not given up.
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

/** A sink that does not wait for its reader for ever. */
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

/** Selectors count without their values: five thousand agents ask each for the pods of its own node. */
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

/** Pieces of a good size for the network: small parts are joined, large ones cut, neither copied without need. */
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
  // What is left is waited for, so that a reader that takes nothing is noticed.
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

/** Leaves no listener behind: a long answer waits many times. */
const drainedOrClosed = (stream: Writable): Promise<void> =>
  new Promise((resolve) => {
    const over = (): void => {
      stream.off("drain", over).off("close", over);
      resolve();
    };
    stream.on("drain", over).on("close", over);
  });
