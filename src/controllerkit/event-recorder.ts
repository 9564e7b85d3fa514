// Writes events about objects. One that repeats counts up in place; an object that causes too many is cut
// short, and when too many wait the newest are dropped and counted.
import { hostname } from "node:os";
import { ApiError, type Clock, type Log, microTimeOfMillis, timeOfMillis } from "#base";
import { type AnyObject, type ApiClient, kinds } from "#client";

export type EventType = "Normal" | "Warning";

export interface EventRecorder {
  event(regarding: AnyObject, type: EventType, reason: string, message: string, action?: string): void;
  /** Resolves when everything recorded so far has been sent or given up. */
  sent(): Promise<void>;
}

export interface RecorderOptions {
  readonly client: ApiClient;
  readonly clock: Clock;
  readonly log: Log;
  /** Who reports, as users read it. */
  readonly component: string;
  /** Where it runs; events in the newer group name the instance by both. */
  readonly host?: string;
  /** `core` counts in the event, as most components do; `events` writes series in the newer group. */
  readonly form?: "core" | "events";
}

interface Occurrence {
  readonly regarding: AnyObject;
  readonly type: EventType;
  readonly reason: string;
  readonly message: string;
  readonly action: string | undefined;
}

const mostWaiting = 1000;
const mostKnown = 4096;
const longestMessage = 1024;
/** An object may cause so many events at once, and one more every five minutes. */
const burst = 25;
const refillMilliseconds = 300_000;

export function eventRecorder({
  client,
  clock,
  log,
  component,
  host = hostname(),
  form = "core",
}: RecorderOptions): EventRecorder {
  const known = new Map<string, { readonly name: string; readonly namespace: string; count: number }>();
  const budgets = new Map<string, { tokens: number; at: number }>();
  let waiting = 0;
  let dropped = 0;
  let last = Promise.resolve();
  let stamp = 0n;

  const nameFor = (object: string): string => {
    const now = BigInt(Math.trunc(clock.now())) * 1_000_000n;
    stamp = now > stamp ? now : stamp + 1n;
    return `${object}.${stamp.toString(16)}`;
  };

  async function send({ regarding, type, reason, message, action }: Occurrence): Promise<void> {
    const { apiVersion, kind, metadata } = regarding;
    const key = JSON.stringify([kind, metadata.uid, metadata.name, type, reason, message]);
    const now = clock.now();
    const before = known.get(key);
    if (before) {
      const count = before.count + 1;
      const patch =
        form === "core"
          ? { count, lastTimestamp: timeOfMillis(now) }
          : { series: { count, lastObservedTime: microTimeOfMillis(now) } };
      const events = form === "core" ? client.of(kinds.coreEvents) : client.of(kinds.events);
      const found = await events
        .patch(before.name, "merge", patch, { namespace: before.namespace })
        .then(() => true, isGone);
      if (found) {
        before.count = count;
        return;
      }
    }
    const namespace = metadata.namespace || "default";
    const name = nameFor(metadata.name ?? "");
    const reference = {
      apiVersion,
      kind,
      namespace: metadata.namespace,
      name: metadata.name,
      uid: metadata.uid,
      resourceVersion: metadata.resourceVersion,
    };
    const text = message.slice(0, longestMessage);
    if (form === "core")
      await client.of(kinds.coreEvents).create({
        metadata: { name, namespace },
        involvedObject: reference,
        reason,
        message: text,
        source: { component },
        firstTimestamp: timeOfMillis(now),
        lastTimestamp: timeOfMillis(now),
        count: 1,
        type,
        reportingComponent: component,
        reportingInstance: "",
      });
    else
      await client.of(kinds.events).create({
        metadata: { name, namespace },
        eventTime: microTimeOfMillis(now),
        reportingController: component,
        reportingInstance: `${component}-${host}`,
        action: action ?? reason,
        reason,
        regarding: reference,
        note: text,
        type,
      });
    remember(known, key, { name, namespace, count: 1 });
  }

  function allowed({ metadata }: AnyObject): boolean {
    const now = clock.now();
    const key = metadata.uid ?? `${metadata.namespace}/${metadata.name}`;
    const budget = budgets.get(key) ?? { tokens: burst, at: now };
    budget.tokens = Math.min(burst, budget.tokens + (now - budget.at) / refillMilliseconds);
    budget.at = now;
    remember(budgets, key, budget);
    if (budget.tokens < 1) return false;
    budget.tokens--;
    return true;
  }

  return {
    event: (regarding, type, reason, message, action) => {
      if (!allowed(regarding)) return;
      if (waiting >= mostWaiting) {
        if (dropped++ === 0)
          log.warn("events come faster than they can be written; some are dropped", { component });
        return;
      }
      waiting++;
      last = last
        .then(() => send({ regarding, type, reason, message, action }))
        .catch((error: unknown) =>
          log.verbose(2, "event not written", { reason, error: (error as Error).message }),
        )
        .finally(() => {
          if (--waiting > 0 || dropped === 0) return;
          log.warn("events were dropped", { component, count: dropped });
          dropped = 0;
        });
    },
    sent: () => last,
  };
}

/** Keeps the newest entries of a map. */
function remember<T>(map: Map<string, T>, key: string, value: T): void {
  map.delete(key);
  map.set(key, value);
  if (map.size > mostKnown) map.delete(map.keys().next().value!);
}

function isGone(error: unknown): boolean {
  if (error instanceof ApiError && error.code === 404) return false;
  throw error;
}
