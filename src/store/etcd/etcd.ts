// The store on an etcd cluster: it uses etcd's revisions, a write is one transaction, and a watch survives
// its connections.
import { type Clock, systemClock } from "#base";
import {
  type Dial,
  type GrpcChannel,
  GrpcError,
  type GrpcObserver,
  type TlsMaterial,
  grpcChannel,
  observedChannel,
} from "#http";
import { encodedValue } from "../encoded-values.ts";
import { StoreClosed } from "../errors.ts";
import { checkRange, checkWrite } from "../key-order.ts";
import { leaseReuse } from "../leases.ts";
import {
  type Batch,
  Compacted,
  FutureRevision,
  type Outcome,
  type Page,
  type Range,
  type Revision,
  type Store,
  type StoreStatus,
  type Write,
} from "../store.ts";
import { calls, refusalOf, storeError } from "./calls.ts";
import { type EtcdKeys, etcdKeys } from "./keys.ts";
import { type RequestOp, type TxnRequest, comparison, comparisonTarget } from "./messages.ts";
import { EtcdWatch } from "./watch.ts";
import { isProgressReliable, proveProgress } from "./progress-proof.ts";

export interface EtcdOptions {
  /** One URL per member, `http://host:port` or `https://host:port`. */
  readonly endpoints: readonly string[];
  readonly tls?: TlsMaterial | (() => TlsMaterial | Promise<TlsMaterial>);
  /** Opens connections in place of the default dialer, for example through a proxy. */
  readonly dial?: Dial | undefined;
  /** Prepended to every key. */
  readonly prefix?: string;
  readonly deadlines?: {
    readonly connectMilliseconds?: number;
    readonly readMilliseconds?: number;
    readonly writeMilliseconds?: number;
  };
  readonly leaseReuseSeconds?: number;
  /** Called with the number of keys on a lease when a new one replaces it. */
  readonly leaseReplaced?: ((keys: number) => void) | undefined;
  readonly maxKeysPerLease?: number;
  /** Observes every call. */
  readonly calls?: GrpcObserver | undefined;
  /** Maximum size of a response from etcd; longer ones are requested in parts. */
  readonly maxMessageBytes?: number;
  readonly clock?: Clock;
}

const markTimeoutMilliseconds = 1000;
const trustCacheMilliseconds = 5000;
const defaultPartSize = 1000;

export class EtcdStore implements Store {
  readonly #channel: GrpcChannel;
  readonly #clock: Clock;
  readonly #keys: EtcdKeys;
  readonly #newLeases: () => (ttlSeconds: number) => Promise<number>;
  #leases: (ttlSeconds: number) => Promise<number>;
  readonly #prefix: string;
  readonly #endpoints: string;
  readonly #readMilliseconds: number;
  readonly #writeMilliseconds: number;
  readonly #watches = new Set<EtcdWatch>();
  readonly #closing = new AbortController();
  readonly #trusted = new Map<string, { readonly until: number; readonly answer: Promise<boolean> }>();
  readonly #unproven = new Set<EtcdWatch>();
  #proving = false;
  #compactedRequest: Promise<Revision> | undefined;

  constructor(options: EtcdOptions) {
    const { connectMilliseconds, readMilliseconds, writeMilliseconds } = options.deadlines ?? {};
    this.#clock = options.clock ?? systemClock;
    this.#prefix = options.prefix ?? "";
    this.#endpoints = options.endpoints.join(", ");
    this.#keys = etcdKeys(this.#prefix);
    this.#readMilliseconds = readMilliseconds ?? 10_000;
    this.#writeMilliseconds = writeMilliseconds ?? 10_000;
    const channel = grpcChannel({
      endpoints: options.endpoints,
      clock: this.#clock,
      connectMilliseconds: connectMilliseconds ?? 3000,
      maxMessageBytes: options.maxMessageBytes ?? 64 << 20,
      // etcd closes connections that send pings more often than every five seconds.
      keepAlive: { everyMilliseconds: 6000, timeoutMilliseconds: 3000 },
      backOff: { firstMilliseconds: 50, maxMilliseconds: 2000 },
      ...(options.tls && { tls: options.tls }),
      dial: options.dial,
    });
    this.#channel = options.calls ? observedChannel(channel, options.calls) : channel;
    this.#newLeases = () =>
      leaseReuse({
        clock: this.#clock,
        reuseSeconds: options.leaseReuseSeconds ?? 60,
        maxKeysPerLease: options.maxKeysPerLease ?? 1000,
        replaced: options.leaseReplaced,
        grant: (seconds) => this.#grant(Math.max(1, Math.ceil(seconds))),
      });
    this.#leases = this.#newLeases();
  }

  async read(range: Range, at?: Revision): Promise<Page> {
    this.#check();
    checkRange(range);
    try {
      return await this.#page(range, at);
    } catch (error) {
      throw await this.#readError(error, at);
    }
  }

  async #page(range: Range, at: Revision | undefined): Promise<Page> {
    const limit = "prefix" in range && range.limit !== undefined ? { limit: range.limit } : {};
    try {
      const {
        header,
        kvs = [],
        count,
      } = await this.#range({
        ...this.#keys.range(range),
        ...limit,
        ...(at !== undefined && { revision: Math.max(1, at) }),
      });
      return {
        revision: at ?? header!.revision,
        entries: kvs.map((kv) => this.#keys.entry(kv)),
        remaining: count - kvs.length,
      };
    } catch (error) {
      if ("key" in range || range.limit === 1 || refusalOf(error) !== "too long") throw error;
      return await this.#pageInParts(range, at, Math.ceil((range.limit ?? defaultPartSize) / 2));
    }
  }

  /** Reads a page that exceeds the response size limit in smaller parts, all at the revision of the first. */
  async #pageInParts(
    range: Extract<Range, { readonly prefix: string }>,
    at: Revision | undefined,
    part: number,
  ): Promise<Page> {
    const { limit: limitWanted = Infinity } = range;
    const first = await this.#page({ ...range, limit: part }, at);
    const entries = [...first.entries];
    let { remaining } = first;
    while (remaining > 0 && entries.length < limitWanted) {
      const next = await this.#page(
        { ...range, after: entries.at(-1)!.key, limit: Math.min(part, limitWanted - entries.length) },
        first.revision,
      );
      entries.push(...next.entries);
      remaining = next.remaining;
    }
    return { revision: first.revision, entries, remaining };
  }

  async write(write: Write): Promise<Outcome> {
    this.#check();
    checkWrite(write);
    const value = encodedValue(write);
    try {
      for (let attempt = 1; ; attempt++) {
        const lease = write.value && write.ttlSeconds ? await this.#leases(write.ttlSeconds) : undefined;
        try {
          return await this.#transact(write, value, lease);
        } catch (error) {
          if (lease === undefined || attempt > 1 || refusalOf(error) !== "lease gone") throw error;
          this.#leases = this.#newLeases();
        }
      }
    } catch (error) {
      throw storeError(error, this.#endpoints);
    }
  }

  watch(range: Range, after: Revision, signal: AbortSignal): AsyncIterable<Batch> {
    this.#check();
    checkRange(range);
    return this.#watch(range, after, AbortSignal.any([signal, this.#closing.signal]));
  }

  async *#watch(range: Range, after: Revision, signal: AbortSignal): AsyncGenerator<Batch, void, void> {
    const watch = new EtcdWatch(
      {
        channel: this.#channel,
        keys: this.#keys,
        clock: this.#clock,
        range: this.#keys.range(range),
        trustsProgress: (endpoint) => this.#trustsProgress(endpoint),
        requestProof: (unproven) => {
          this.#unproven.add(unproven);
          void this.#prove();
        },
      },
      after,
      signal,
    );
    this.#watches.add(watch);
    try {
      yield* watch.run();
    } finally {
      this.#watches.delete(watch);
      this.#unproven.delete(watch);
    }
  }

  async progress(): Promise<Revision> {
    this.#check();
    const revision = await this.#revision();
    for (const watch of this.#watches) watch.requestMark(revision);
    return revision;
  }

  async compact(through: Revision): Promise<void> {
    this.#check();
    if (through <= 0) return;
    try {
      await this.#markBefore(through);
      await this.#channel.unary(
        calls.compact,
        { revision: through },
        { deadlineMilliseconds: this.#writeMilliseconds, repeatable: true },
      );
    } catch (error) {
      if (refusalOf(error) === "future") throw new FutureRevision(through, await this.#revision());
      if (refusalOf(error) !== "compacted") throw error;
    }
  }

  async status(): Promise<StoreStatus> {
    this.#check();
    const [all, compacted, member] = await Promise.all([
      this.#range({ ...this.#keys.range({ prefix: "" }), countOnly: true }),
      this.#compacted(),
      this.#channel.unary(
        calls.status,
        {},
        { deadlineMilliseconds: this.#readMilliseconds, repeatable: true },
      ),
    ]);
    return {
      revision: all.header!.revision,
      compacted,
      keys: all.count,
      bytes: member.dbSizeInUse || member.dbSize,
    };
  }

  /** Performs a linearizable read, which requires a quorum. Throws if there is no response in time. */
  async health(timeoutMilliseconds: number, signal?: AbortSignal): Promise<void> {
    this.#check();
    await this.#channel.unary(
      calls.range,
      { key: this.#keys.encode("health"), keysOnly: true },
      { deadlineMilliseconds: timeoutMilliseconds, repeatable: true, ...(signal && { signal }) },
    );
  }

  async close(): Promise<void> {
    if (this.#closing.signal.aborted) return;
    this.#closing.abort(new StoreClosed());
    this.#channel.close();
  }

  #check(): void {
    if (this.#closing.signal.aborted) throw new StoreClosed();
  }

  // Compaction would leave behind a watch that sees no changes, and it could not reconnect. Request a
  // progress mark for such watches first.
  async #markBefore(through: Revision): Promise<void> {
    const behind = [...this.#watches].filter((watch) => watch.through < through);
    if (behind.length === 0 || (await this.progress()) < through) return;
    await Promise.race([
      Promise.all(behind.map((watch) => watch.reached(through))),
      this.#clock.sleep(markTimeoutMilliseconds, this.#closing.signal).catch(() => {}),
    ]);
  }

  #range(request: Parameters<typeof calls.range.encode>[0]) {
    return this.#channel.unary(calls.range, request, {
      deadlineMilliseconds: this.#readMilliseconds,
      repeatable: true,
    });
  }

  async #revision(): Promise<Revision> {
    return (await this.#range({ key: this.#keys.encode("health"), countOnly: true })).header!.revision;
  }

  async #transact(write: Write, value: Uint8Array | null, lease: number | undefined): Promise<Outcome> {
    const key = this.#keys.encode(write.key);
    const success: RequestOp =
      value === null
        ? { requestDeleteRange: { key } }
        : { requestPut: { key, value, ...(lease !== undefined && { lease }) } };
    const consumed = (write.consumes ?? []).map((reservation) => ({
      key: this.#keys.encode(reservation.key),
      modRevision: reservation.revision,
    }));
    const expected =
      write.expect === "any"
        ? consumed
        : [{ key, modRevision: write.expect === "absent" ? 0 : write.expect }, ...consumed];
    const request: TxnRequest = {
      compare: expected.map((each) => ({
        result: comparison.equal,
        target: comparisonTarget.modified,
        ...each,
      })),
      success: [
        success,
        ...consumed.map((reservation) => ({ requestDeleteRange: { key: reservation.key } })),
      ],
      failure: [{ requestRange: { key } }],
    };
    const { header, succeeded, responses } = await this.#channel.unary(calls.txn, request, {
      deadlineMilliseconds: this.#writeMilliseconds,
    });
    if (succeeded) return { done: true, revision: header!.revision };
    const current = responses?.[0]?.responseRange?.kvs?.[0];
    return { done: false, ...(current && { current: this.#keys.entry(current) }) };
  }

  async #grant(seconds: number): Promise<number> {
    const { id, error } = await this.#channel.unary(
      calls.leaseGrant,
      { ttl: seconds },
      { deadlineMilliseconds: this.#writeMilliseconds, repeatable: true },
    );
    if (error) throw new GrpcError("UNAVAILABLE", `no lease was granted: ${error}`);
    return id;
  }

  async #readError(error: unknown, at: Revision | undefined): Promise<unknown> {
    const refusal = refusalOf(error);
    if (refusal === "compacted") return new Compacted(await this.#compacted());
    if (refusal === "future") return new FutureRevision(at ?? 0, await this.#revision());
    return error;
  }

  // etcd reports its compacted revision only to a watch that begins below it. Concurrent callers share one
  // request.
  #compacted(): Promise<Revision> {
    this.#compactedRequest ??= this.#fetchCompacted().finally(() => {
      this.#compactedRequest = undefined;
    });
    return this.#compactedRequest;
  }

  async #fetchCompacted(): Promise<Revision> {
    const key = this.#keys.encode("health");
    try {
      await this.#range({ key, countOnly: true, revision: 1 });
      return 0;
    } catch (error) {
      if (refusalOf(error) !== "compacted") throw error;
    }
    const earlyWatch = await this.#channel.duplex(calls.watch, {
      signal: this.#closing.signal,
      deadlineMilliseconds: this.#readMilliseconds,
    });
    try {
      await earlyWatch.send({ createRequest: { key, startRevision: 1 } });
      for await (const { compactRevision } of earlyWatch) if (compactRevision > 0) return compactRevision;
      throw new GrpcError("UNAVAILABLE", "the server ended a watch without saying why");
    } finally {
      earlyWatch.cancel();
    }
  }

  /**
   * Reports whether a server's progress responses are reliable. Refreshed periodically, since servers are
   * upgraded.
   */
  #trustsProgress(endpoint: string): Promise<boolean> {
    const known = this.#trusted.get(endpoint);
    if (known && this.#clock.monotonic() < known.until) return known.answer;
    const answer = this.#channel
      .unary(calls.status, {}, { endpoint, deadlineMilliseconds: this.#readMilliseconds })
      .then(({ version }) => isProgressReliable(version));
    this.#trusted.set(endpoint, { until: this.#clock.monotonic() + trustCacheMilliseconds, answer });
    answer.catch(() => this.#trusted.delete(endpoint));
    return answer;
  }

  /**
   * Proves progress to the watches that requested it; those that request it while a proof is running share
   * the next.
   */
  async #prove(): Promise<void> {
    if (this.#proving) return;
    this.#proving = true;
    try {
      while (this.#unproven.size > 0 && !this.#closing.signal.aborted) {
        const watches = [...this.#unproven];
        this.#unproven.clear();
        await proveProgress(this.#channel, watches, await this.#revision(), {
          signal: this.#closing.signal,
          deadlineMilliseconds: this.#readMilliseconds,
        });
      }
    } catch {
      // Watches that still need a mark request it again.
    } finally {
      this.#proving = false;
    }
  }
}

/** Opens a store on an etcd cluster. No connection is made before the first request. */
export const openEtcd = (options: EtcdOptions): EtcdStore => new EtcdStore(options);
