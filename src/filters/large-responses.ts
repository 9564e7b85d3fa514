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

export interface LargeResponseOptions {
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
const maxBacklogBytes = 1024 * 1024;
const maxWaitMilliseconds = 30_000;
/**
 * A client that does not read is disconnected after this time; at the next check already, if other requests
 * wait for the budget it holds.
 */
const stalledMilliseconds = 300_000;
const checkMilliseconds = 10_000;
/** A client that reads less than this from its connection between two checks is considered stalled. */
const minReadBytes = 64 * 1024;
const maxEstimates = 1000;
/**
 * Estimates are not stored under longer keys: a thousand of them would be as large as the responses counted
 * here.
 */
const maxKeyLength = 4096;

/**
 * A response that was passed to the connection whole: since when, and the number of bytes the connection had
 * sent by then.
 */
interface UnsentResponse {
  readonly call: ApiCall;
  since: number;
  sentBytes: number;
}

export function largeResponses({
  clock,
  compress,
  budgetBytes = 160 * 1024 * 1024,
  aborted,
}: LargeResponseOptions): Filter {
  const budget = new ByteBudget(budgetBytes);
  /** The size of the last response to a similar request. */
  const estimates = new Map<string, number>();
  /** Responses passed to their connections whole but not sent yet, the oldest first. */
  const unsent = new Set<UnsentResponse>();

  const respond = async (call: ApiCall, next: () => Promise<Reply>): Promise<Reply> => {
    const key =
      call.target.verb === "list" && call.call.search.length < maxKeyLength ? estimateKey(call) : "";
    const estimate = estimates.get(key) ?? 0;
    // In-process clients receive the buffers themselves; there is no slow reader.
    const inProcess = call.call.peer.address === "";
    if (estimate === 0 || inProcess) return await finish(await next(), 0);
    if (!budget.tryAcquire(estimate) && !(await acquireWithChecks(estimate, call))) throw refusal();
    try {
      return await finish(await next(), estimate);
    } catch (error) {
      budget.release(estimate);
      throw error;
    }

    async function finish(reply: Reply, acquired: number): Promise<Reply> {
      const parts = partsOf(reply.body);
      const size = parts ? lengthOf(parts) : 0;
      if (key !== "") storeEstimate(key, size >= budgetFrom ? size : 0);
      if (!parts || size < budgetFrom || inProcess) {
        budget.release(acquired);
        return parts && size > compressFrom ? compressed(call, reply, parts) : reply;
      }
      budget.adjust(size - acquired);
      return withBudget(call, reply, parts, size);
    }
  };

  async function acquireWithChecks(bytes: number, { call: { signal } }: ApiCall): Promise<boolean> {
    abortStalled();
    const cancel = clock.after(checkMilliseconds, abortStalled);
    try {
      return await budget.acquire(bytes, clock, maxWaitMilliseconds, signal);
    } finally {
      cancel();
    }
  }

  function storeEstimate(key: string, size: number): void {
    if (size === 0) estimates.delete(key);
    if (size === 0) return;
    if (estimates.size >= maxEstimates) estimates.delete(estimates.keys().next().value!);
    estimates.set(key, size);
  }

  const wantsGzip = (call: ApiCall): boolean =>
    compress && acceptsGzip(header(call.call.headers, "accept-encoding"));

  function compressed(call: ApiCall, reply: Reply, parts: readonly Uint8Array[]): Reply {
    if (!wantsGzip(call) || reply.status === 206) return reply;
    return {
      ...reply,
      headers: gzipped(reply.headers),
      body: { stream: (sink) => writeCompressed(parts, withStallDetection(sink, clock, budget)) },
      // Compression reads the parts on another thread, possibly even after the client has disconnected.
      unshared: undefined,
    };
  }

  /** The response to a write is one object: it does not wait for the budget. */
  async function compressWriteResponse(call: ApiCall, next: () => Promise<Reply>): Promise<Reply> {
    const reply = await next();
    const parts = partsOf(reply.body);
    return parts && lengthOf(parts) > compressFrom ? compressed(call, reply, parts) : reply;
  }

  /** Returns a reply that releases its bytes to the budget when the call is over. */
  function withBudget(call: ApiCall, reply: Reply, parts: readonly Uint8Array[], size: number): Reply {
    const smaller = size > compressFrom ? compressed(call, reply, parts) : reply;
    if (smaller !== reply || size > maxBacklogBytes) call.call.onFinished(() => budget.release(size));
    if (smaller !== reply) return smaller;
    const { headers } = reply;
    if (size > maxBacklogBytes)
      return {
        ...reply,
        headers: { ...headers, "content-length": String(size) },
        body: { stream: (sink) => writePlain(parts, withStallDetection(sink, clock, budget)) },
      };
    const sent: UnsentResponse = { since: clock.monotonic(), call, sentBytes: call.call.sentBytes() };
    unsent.add(sent);
    call.call.onFinished(() => {
      unsent.delete(sent);
      budget.release(size);
    });
    return reply;
  }

  /** Aborts responses that were passed to their connections whole and whose clients are stalled. */
  function abortStalled(): void {
    const now = clock.monotonic();
    for (const sent of unsent) {
      if (now - sent.since < checkMilliseconds) return;
      const sentBytes = sent.call.call.sentBytes();
      if (sentBytes - sent.sentBytes < minReadBytes) {
        sent.call.call.abort();
        aborted?.(sent.call);
        continue;
      }
      // The client reads, but slowly: responses behind others on the same connection are not aborted.
      sent.since = now;
      sent.sentBytes = sentBytes;
      unsent.delete(sent);
      unsent.add(sent);
    }
  }

  return {
    name: "large answers",
    run: (call, next) =>
      call.method !== "GET"
        ? compressWriteResponse(call, next)
        : call.target.verb === "watch"
          ? next()
          : respond(call, next),
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
function withStallDetection(sink: Sink, clock: Clock, budget: ByteBudget): Sink {
  const drained = async (): Promise<void> => {
    const stalled = Promise.withResolvers<never>();
    let unread = sink.backlogBytes;
    let since = clock.monotonic();
    let cancel = clock.after(checkMilliseconds, check);
    function check(): void {
      if (sink.backlogBytes < unread) since = clock.monotonic();
      unread = sink.backlogBytes;
      const idle = clock.monotonic() - since;
      if (idle >= stalledMilliseconds || (idle > 0 && budget.hasWaiters))
        stalled.reject(new Error("the client does not read its answer"));
      else cancel = clock.after(checkMilliseconds, check);
    }
    try {
      await Promise.race([sink.drained(), stalled.promise]);
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
const estimateKey = ({ target, query, call }: ApiCall): string =>
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
    if (sink.backlogBytes > maxBacklogBytes) await sink.drained();
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
      if (sink.backlogBytes > maxBacklogBytes) await sink.drained();
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
