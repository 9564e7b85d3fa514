// Forwards queries to the machine's name servers: identical pending queries are coalesced, attempts have
// timeouts, and answers are kept in a bounded cache.
import { randomInt } from "node:crypto";
import { LRUCache } from "lru-cache";
import { type Clock, clientLimit } from "#base";
import { type Query, readName, recordTypes, recordsOf, responseCodes } from "./wire.ts";

export interface Upstream {
  readonly address: string;
  readonly port: number;
}

/** Sends one message and resolves with the reply; rejects if none arrives in time. */
export type Exchange = (
  upstream: Upstream,
  message: Uint8Array,
  over: "udp" | "tcp",
  signal: AbortSignal,
) => Promise<Uint8Array>;

export interface ForwarderOptions {
  /** Evaluated for every query, since the machine's settings may change. */
  readonly upstreams: () => readonly Upstream[];
  readonly exchange: Exchange;
  readonly clock: Clock;
  readonly timeoutMilliseconds: number;
  /** Maximum size of cached answers in bytes. */
  readonly cacheBytes: number;
  /** Maximum number of pending queries of all clients, and of one client, which leaves the others room. */
  readonly maxPending: number;
  readonly maxPendingPerClient: number;
  readonly signal: AbortSignal;
}

export interface Forwarder {
  /**
   * Resolves with the reply for the client with this address; undefined if no upstream server answered or too
   * many queries are pending.
   */
  resolve(query: Query, client: string): Promise<Uint8Array | undefined>;
  /** Reports whether the query is pending: an upstream server that forwards it back would cause a loop. */
  isPending(query: Query): boolean;
  readonly cacheHits: number;
  readonly cacheMisses: number;
}

interface CachedReply {
  readonly bytes: Uint8Array;
  readonly since: number;
  readonly until: number;
}

const attempts = 2;
const maxTtl = 3600;
const maxNegativeTtl = 30;

export function forwarder(options: ForwarderOptions): Forwarder {
  const { clock, signal } = options;
  const cache = new LRUCache<string, CachedReply>({
    maxSize: options.cacheBytes,
    sizeCalculation: ({ bytes }, key) => bytes.length + key.length + 100,
  });
  const pending = new Map<string, Promise<Uint8Array | undefined>>();
  const waiting = clientLimit(options.maxPendingPerClient, options.maxPending);
  let [hits, misses] = [0, 0];

  async function resolve(query: Query, client: string): Promise<Uint8Array | undefined> {
    const key = keyOf(query);
    const cached = cache.get(key);
    if (cached && cached.until > clock.monotonic()) {
      hits += 1;
      return addressedTo(query, aged(cached, clock.monotonic()));
    }
    misses += 1;
    const release = waiting.acquire(client);
    if (!release) return undefined;
    let upstreamReply = pending.get(key);
    if (!upstreamReply) {
      upstreamReply = queryUpstreams(query, key).finally(() => pending.delete(key));
      pending.set(key, upstreamReply);
    }
    const reply = await upstreamReply.finally(release);
    return reply && addressedTo(query, reply);
  }

  async function queryUpstreams(query: Query, key: string): Promise<Uint8Array | undefined> {
    const upstreams = options.upstreams();
    for (let round = 0; round < attempts; round++) {
      for (const upstream of upstreams) {
        if (signal.aborted) return undefined;
        const reply = await tryUpstream(upstream, query).catch(() => undefined);
        if (!reply) continue;
        const seconds = lifetimeOf(reply);
        const now = clock.monotonic();
        if (seconds > 0) cache.set(key, { bytes: reply, since: now, until: now + seconds * 1000 });
        return reply;
      }
    }
    return undefined;
  }

  async function tryUpstream(upstream: Upstream, query: Query): Promise<Uint8Array | undefined> {
    const message = questionFor(query);
    const send = async (over: "udp" | "tcp"): Promise<Uint8Array | undefined> => {
      const limit = new AbortController();
      const cancel = clock.after(options.timeoutMilliseconds, () => limit.abort());
      try {
        const both = AbortSignal.any([signal, limit.signal]);
        const reply = await options.exchange(upstream, message, over, both);
        return isReplyTo(message, reply) ? reply : undefined;
      } finally {
        cancel();
      }
    };
    const reply = await send("udp");
    const isTruncated = reply !== undefined && (reply[2]! & 2) !== 0;
    const complete = isTruncated ? await send("tcp") : reply;
    // Another upstream server may succeed where this one reports a failure.
    return complete && (complete[3]! & 15) !== responseCodes.serverFailure ? complete : undefined;
  }

  return {
    resolve,
    isPending: (query) => pending.has(keyOf(query)),
    get cacheHits() {
      return hits;
    },
    get cacheMisses() {
      return misses;
    },
  };
}

const keyOf = ({ name, type, class: of, edns, checkingDisabled }: Query): string =>
  `${name} ${type} ${of} ${edns ? (edns.dnssec ? "d" : "e") : ""}${checkingDisabled ? "c" : ""}`;

/** Builds the upstream query, which contains nothing of the client but its question. */
function questionFor({ question, edns, checkingDisabled }: Query): Uint8Array {
  const header = Buffer.alloc(12);
  header.writeUInt16BE(randomInt(65_536), 0);
  header.writeUInt16BE(0x0100 | (checkingDisabled ? 0x10 : 0), 2);
  header.writeUInt16BE(1, 4);
  if (!edns) return Buffer.concat([header, question]);
  header.writeUInt16BE(1, 10);
  const options = Buffer.from([0, 0, recordTypes.OPT, 0x04, 0xd0, 0, 0, edns.dnssec ? 0x80 : 0, 0, 0, 0]);
  return Buffer.concat([header, question, options]);
}

/**
 * Validates a reply: to spoof one, an attacker must guess the message ID and the question in addition to the
 * port.
 */
function isReplyTo(message: Uint8Array, reply: Uint8Array): boolean {
  if (reply.length < 12 || reply[0] !== message[0] || reply[1] !== message[1] || (reply[2]! & 0x80) === 0)
    return false;
  if (reply[4] !== 0 || reply[5] !== 1) return false;
  try {
    const [sent, received] = [readName(message, 12), readName(reply, 12)];
    if (sent.text !== received.text || sent.end !== received.end) return false;
    for (let at = sent.end; at < sent.end + 4; at++) if (message[at] !== reply[at]) return false;
    for (const record of recordsOf(reply)) if (record.end > reply.length) return false;
    return true;
  } catch {
    return false;
  }
}

/** Returns for how many seconds a reply may be cached; 0 for not at all. */
function lifetimeOf(reply: Uint8Array): number {
  const code = reply[3]! & 15;
  if (code !== responseCodes.noError && code !== responseCodes.noSuchName) return 0;
  if ((reply[2]! & 2) !== 0) return 0;
  const view = Buffer.from(reply.buffer, reply.byteOffset, reply.length);
  let [shortest, answers, negative] = [maxTtl, 0, 0];
  for (const { type, ttlAt, end, section } of recordsOf(reply)) {
    if (type === recordTypes.OPT) continue;
    const ttl = view.readUInt32BE(ttlAt);
    shortest = Math.min(shortest, ttl);
    if (section === 0) answers += 1;
    if (type === recordTypes.SOA) negative = Math.min(ttl, view.readUInt32BE(end - 4), maxNegativeTtl);
  }
  return answers > 0 && code === responseCodes.noError ? shortest : negative;
}

/** Returns the reply with TTLs reduced by its time in the cache. */
function aged({ bytes, since }: CachedReply, now: number): Uint8Array {
  const copy = Buffer.from(bytes);
  const seconds = Math.floor((now - since) / 1000);
  for (const { type, ttlAt } of recordsOf(copy))
    if (type !== recordTypes.OPT) copy.writeUInt32BE(Math.max(0, copy.readUInt32BE(ttlAt) - seconds), ttlAt);
  return copy;
}

/** Returns the reply with the client's message ID and its question as originally spelled. */
function addressedTo({ id, question, recursionDesired }: Query, reply: Uint8Array): Uint8Array {
  const copy = Buffer.from(reply);
  copy.writeUInt16BE(id, 0);
  copy.set(question, 12);
  // Set "recursion available" and clear "authoritative answer".
  copy[2] = (copy[2]! & 0b1111_1010) | (recursionDesired ? 1 : 0);
  copy[3] = copy[3]! | 0x80;
  return copy;
}
