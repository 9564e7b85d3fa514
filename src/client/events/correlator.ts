// Event correlation: a repeated event increments its count, similar events are aggregated, and the events of
// each object are rate-limited.
import { LRUCache } from "lru-cache";
import type { ObjectReference } from "#api";

export interface EventOccurrence {
  readonly regarding: ObjectReference;
  readonly type: "Normal" | "Warning";
  readonly reason: string;
  readonly message: string;
  readonly action?: string | undefined;
  readonly annotations?: Readonly<Record<string, string>> | undefined;
  readonly related?: ObjectReference | undefined;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/** An event in the API server, or to be created there. */
export interface KnownEvent {
  readonly name: string;
  readonly namespace: string;
  readonly first: EventOccurrence;
  count: number;
  /** The count last sent to the API server. */
  sentCount: number;
  lastAt: number;
  message: string;
  /** The event aggregates others that differ only in their message. */
  readonly aggregated: boolean;
}

export type EventDecision =
  | { readonly do: "send"; readonly event: KnownEvent }
  /** Counted, and sent with the next occurrence. */
  | { readonly do: "hold" }
  | { readonly do: "drop" };

const maxEntries = 4096;
/** When this number of events within the window differ only in their message, they are aggregated. */
const aggregationThreshold = 10;
const aggregationWindowMilliseconds = 600_000;
/** Burst limit of events per object; one more is allowed every five minutes. */
const burstPerObject = 25;
const refillMilliseconds = 300_000;

const keyOf = (
  { kind, namespace, name, uid, apiVersion }: ObjectReference,
  ...more: readonly string[]
): string => JSON.stringify([kind, namespace, name, uid, apiVersion, ...more]);

interface CorrelatorCaches {
  readonly known: LRUCache<string, KnownEvent>;
  readonly similar: LRUCache<string, { messages: Set<string>; at: number }>;
  readonly tokens: LRUCache<string, { left: number; at: number }>;
}

const newCaches = (): CorrelatorCaches => ({
  known: new LRUCache({ max: maxEntries }),
  similar: new LRUCache({ max: maxEntries }),
  tokens: new LRUCache({ max: maxEntries }),
});

export interface CorrelatorOptions {
  /** Aggregates events that differ only in their message. */
  readonly aggregates: boolean;
}

/**
 * Returns a function that decides what to do with each event. State is bounded: entries not used for long are
 * evicted.
 */
export function correlator({
  aggregates,
}: CorrelatorOptions): (occurrence: EventOccurrence) => EventDecision {
  let caches: CorrelatorCaches | undefined;
  let lastStamp = 0n;
  // Other recorders may report on the same object in the same millisecond, so the digits below it are random
  // per recorder.
  const ownNanoseconds = BigInt(Math.floor(Math.random() * 1_000_000));

  /**
   * Combines the object's name and the time in nanoseconds; events in one millisecond differ in the digits
   * below it.
   */
  const eventName = (object: string, at: number): string => {
    const stamp = BigInt(Math.trunc(at)) * 1_000_000n + ownNanoseconds;
    lastStamp = stamp > lastStamp ? stamp : lastStamp + 1n;
    return `${object}.${lastStamp.toString(16)}`;
  };
  const isFlooding = ({ regarding, at }: EventOccurrence, tokens: CorrelatorCaches["tokens"]): boolean => {
    const key = keyOf(regarding);
    const bucket = tokens.get(key) ?? { left: burstPerObject, at };
    bucket.left = Math.min(burstPerObject, bucket.left + (at - bucket.at) / refillMilliseconds);
    bucket.at = at;
    tokens.set(key, bucket);
    if (bucket.left < 1) return true;
    bucket.left--;
    return false;
  };
  const shouldAggregate = (occurrence: EventOccurrence, similar: CorrelatorCaches["similar"]): boolean => {
    const { regarding, type, reason, message, at } = occurrence;
    const key = keyOf(regarding, type, reason);
    const last = similar.get(key);
    const group =
      last && at - last.at <= aggregationWindowMilliseconds ? last : { messages: new Set<string>(), at };
    group.at = at;
    group.messages.add(message);
    similar.set(key, group);
    if (group.messages.size < aggregationThreshold) return false;
    // Remove a message, so that the set stays small while the aggregation continues.
    group.messages.delete(group.messages.values().next().value!);
    return true;
  };
  return (occurrence) => {
    const { regarding, type, reason, message, at } = occurrence;
    // The caches are allocated on first use: they take a quarter of a megabyte, and many recorders never
    // record an event.
    const { known, similar, tokens } = (caches ??= newCaches());
    const aggregated = aggregates && shouldAggregate(occurrence, similar);
    const key = keyOf(regarding, regarding.fieldPath ?? "", type, reason, aggregated ? "" : message);
    const shown = aggregated ? `(combined from similar events): ${message}` : message;
    const flooding = isFlooding(occurrence, tokens);
    const old = known.get(key);
    if (old) {
      old.count++;
      old.lastAt = at;
      old.message = shown;
      return flooding ? { do: "hold" } : { do: "send", event: old };
    }
    if (flooding) return { do: "drop" };
    const event: KnownEvent = {
      name: eventName(regarding.name ?? "", at),
      namespace: regarding.namespace || "default",
      first: occurrence,
      count: 1,
      sentCount: 0,
      lastAt: at,
      message: shown,
      aggregated,
    };
    known.set(key, event);
    return { do: "send", event };
  };
}
