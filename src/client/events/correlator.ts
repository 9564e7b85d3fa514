// What becomes of an event that happens again: the same one counts up, many alike become one, and no object
// may flood the rest.
import { LRUCache } from "lru-cache";
import type { ObjectReference } from "#api";

export interface Happening {
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

/** An event as it stands in the API server, or will. */
export interface KnownEvent {
  readonly name: string;
  readonly namespace: string;
  readonly first: Happening;
  count: number;
  /** How many of the count the API server was told. */
  told: number;
  lastAt: number;
  message: string;
  /** Whether it stands for many that differ only in their message. */
  readonly combined: boolean;
}

export type EventDecision =
  | { readonly do: "send"; readonly event: KnownEvent }
  /** Counted, and told with the next one that is sent. */
  | { readonly do: "hold" }
  | { readonly do: "drop" };

const keptEntries = 4096;
/** More than this many alike within the window, differing only in their message, become one. */
const mostAlike = 10;
const alikeWindowMilliseconds = 600_000;
/** An object may have this many events at once, and then one more every five minutes. */
const burstPerObject = 25;
const refillMilliseconds = 300_000;

const keyOf = (
  { kind, namespace, name, uid, apiVersion }: ObjectReference,
  ...more: readonly string[]
): string => JSON.stringify([kind, namespace, name, uid, apiVersion, ...more]);

interface Remembered {
  readonly known: LRUCache<string, KnownEvent>;
  readonly alike: LRUCache<string, { messages: Set<string>; at: number }>;
  readonly tokens: LRUCache<string, { left: number; at: number }>;
}

const nothingYet = (): Remembered => ({
  known: new LRUCache({ max: keptEntries }),
  alike: new LRUCache({ max: keptEntries }),
  tokens: new LRUCache({ max: keptEntries }),
});

export interface CorrelatorOptions {
  /** Whether events that differ only in their message become one. */
  readonly combines: boolean;
}

/** Decides about one happening after the other. Bounded: what was not heard of for long is forgotten. */
export function correlator({ combines }: CorrelatorOptions): (happening: Happening) => EventDecision {
  let remembered: Remembered | undefined;
  let lastStamp = 0n;
  // Others report about the same object in the same millisecond: what is below it is each recorder's own.
  const ownNanoseconds = BigInt(Math.floor(Math.random() * 1_000_000));

  /** The object's name and the time in nanoseconds; two of one millisecond differ in the digits below it. */
  const eventName = (object: string, at: number): string => {
    const stamp = BigInt(Math.trunc(at)) * 1_000_000n + ownNanoseconds;
    lastStamp = stamp > lastStamp ? stamp : lastStamp + 1n;
    return `${object}.${lastStamp.toString(16)}`;
  };
  const isFlooding = ({ regarding, at }: Happening, tokens: Remembered["tokens"]): boolean => {
    const key = keyOf(regarding);
    const bucket = tokens.get(key) ?? { left: burstPerObject, at };
    bucket.left = Math.min(burstPerObject, bucket.left + (at - bucket.at) / refillMilliseconds);
    bucket.at = at;
    tokens.set(key, bucket);
    if (bucket.left < 1) return true;
    bucket.left--;
    return false;
  };
  const hasManyAlike = (happening: Happening, alike: Remembered["alike"]): boolean => {
    const { regarding, type, reason, message, at } = happening;
    const key = keyOf(regarding, type, reason);
    const last = alike.get(key);
    const group =
      last && at - last.at <= alikeWindowMilliseconds ? last : { messages: new Set<string>(), at };
    group.at = at;
    group.messages.add(message);
    alike.set(key, group);
    if (group.messages.size < mostAlike) return false;
    // One of the messages makes room, so that the set stays small while the group goes on.
    group.messages.delete(group.messages.values().next().value!);
    return true;
  };
  return (happening) => {
    const { regarding, type, reason, message, at } = happening;
    // Their room is taken at once, a quarter of a megabyte, and many recorders never have an event.
    const { known, alike, tokens } = (remembered ??= nothingYet());
    const together = combines && hasManyAlike(happening, alike);
    const key = keyOf(regarding, regarding.fieldPath ?? "", type, reason, together ? "" : message);
    const shown = together ? `(combined from similar events): ${message}` : message;
    const flooding = isFlooding(happening, tokens);
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
      first: happening,
      count: 1,
      told: 0,
      lastAt: at,
      message: shown,
      combined: together,
    };
    known.set(key, event);
    return { do: "send", event };
  };
}
