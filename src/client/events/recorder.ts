// Records events about objects, with correlation. Events wait in a bounded queue and are sent at a limited
// rate; those that do not fit are counted and reported.
import { hostname } from "node:os";
import { CoreEvent, Event, type ObjectReference } from "#api";
import { ApiError, type Clock, type Log, microTimeOfMillis, timeOfMillis } from "#base";
import type { AnyObject, ApiClient, ResourceKind } from "../client.ts";
import { rateLimiter } from "../rate-limiter.ts";
import { type EventOccurrence, type KnownEvent, correlator } from "./correlator.ts";

export type EventType = "Normal" | "Warning";

export interface EventExtras {
  readonly annotations?: Readonly<Record<string, string>> | undefined;
  /** A related object; only part of events in the newer group. */
  readonly related?: AnyObject | undefined;
}

export interface EventRecorder {
  event(
    regarding: ObjectReference | AnyObject,
    type: EventType,
    reason: string,
    message: string,
    action?: string,
    more?: EventExtras,
  ): void;
}

export interface RunningEventRecorder extends EventRecorder {
  /** Resolves when the queue is empty. */
  sent(): Promise<void>;
  /** Resolves when the queue is empty or the given time has passed. */
  flush(milliseconds: number): Promise<void>;
  stop(): void;
}

export interface EventRecorderOptions {
  readonly client: ApiClient;
  readonly clock: Clock;
  readonly log: Log;
  /** The reporting component, as shown to users. */
  readonly component: string;
  /** The host of the component. */
  readonly host?: string;
  /** `core` writes counts to the event, as most components do; `events` writes series in the newer group. */
  readonly form?: "core" | "events";
  /** Requests per second; 0 or absent for no limit. */
  readonly queriesPerSecond?: number;
  readonly burst?: number;
  readonly queueSize?: number;
  /** The object of the event that reports lost events. */
  readonly lossesRegarding?: ObjectReference;
  readonly observer?: EventObserver;
}

export interface EventObserver {
  sent(verb: "create" | "patch"): void;
  dropped(reason: "object limit" | "queue full" | "refused" | "server unreachable"): void;
}

const coreEvents: ResourceKind<typeof CoreEvent> = { schema: CoreEvent, plural: "events", namespaced: true };
const newerEvents: ResourceKind<typeof Event> = { schema: Event, plural: "events", namespaced: true };
const retryMilliseconds = 10_000;
const maxAttempts = 60;
const summaryMilliseconds = 60_000;
/** Maximum length of the note in the newer group. */
const maxNoteLength = 1024;

export function eventRecorder(options: EventRecorderOptions): RunningEventRecorder {
  const { client, clock, log, component, host, form = "core", lossesRegarding, observer } = options;
  const queueSize = options.queueSize ?? 1000;
  const decide = correlator({ aggregates: form === "core" });
  const waiting = new Set<KnownEvent>();
  const stopping = new AbortController();
  const take = rateLimiter(clock, options.queriesPerSecond ?? 0, options.burst ?? 0);
  let lost = 0;
  let summaryDue: (() => void) | undefined;
  let running: Promise<void> | undefined;

  return {
    event: (regarding, type, reason, message, action, { annotations, related } = {}) =>
      record({
        regarding: referenceTo(regarding),
        type,
        reason,
        message,
        action,
        annotations,
        related: related && referenceTo(related),
        at: clock.now(),
      }),
    sent: async () => {
      while (running) await running;
    },
    flush: async (milliseconds) => {
      const limit = new AbortController();
      await Promise.race([running, clock.sleep(milliseconds, limit.signal).catch(() => undefined)]);
      limit.abort();
    },
    stop: () => {
      stopping.abort(new Error("the recorder was stopped"));
      summaryDue?.();
    },
  };

  function record(occurrence: EventOccurrence): void {
    const { regarding, type, reason, message } = occurrence;
    log.verbose(3, "event", {
      object: `${regarding.namespace ?? ""}/${regarding.name}`,
      kind: regarding.kind ?? "",
      type,
      reason,
      message,
    });
    if (stopping.signal.aborted) return;
    const decision = decide(occurrence);
    if (decision.do === "drop") dropEvent("object limit");
    if (decision.do !== "send" || waiting.has(decision.event)) return;
    if (waiting.size >= queueSize) {
      dropEvent("queue full");
      return;
    }
    waiting.add(decision.event);
    run();
  }

  function run(): void {
    running ??= drain().finally(() => {
      running = undefined;
      if (waiting.size > 0 && !stopping.signal.aborted) run();
    });
  }

  /** Counts an event that is not recorded, and reports the losses at most once a minute. */
  function dropEvent(why: "object limit" | "queue full" | "server unreachable"): void {
    observer?.dropped(why);
    lost++;
    summaryDue ??= clock.after(summaryMilliseconds, () => {
      summaryDue = undefined;
      const count = lost;
      lost = 0;
      log.warn("events were not recorded", { component, count: count });
      if (!lossesRegarding) return;
      record({
        regarding: lossesRegarding,
        type: "Warning",
        reason: "EventsDropped",
        message: `${count} events of this node were not recorded: too many at once`,
        at: clock.now(),
      });
    });
  }

  async function drain(): Promise<void> {
    for (const event of waiting) {
      await take(stopping.signal).catch(() => undefined);
      if (stopping.signal.aborted) return;
      waiting.delete(event);
      await deliver(event);
    }
  }

  async function deliver(event: KnownEvent): Promise<void> {
    for (let tries = 1; !stopping.signal.aborted; tries++) {
      try {
        await send(event);
        return;
      } catch (error) {
        if (isPermanent(error)) {
          refused(event, error as ApiError);
          return;
        }
        if (tries >= maxAttempts) {
          dropEvent("server unreachable");
          return;
        }
        // Spread the first retry, so that agents do not all reconnect to a restarted server at once.
        await clock
          .sleep(tries === 1 ? retryMilliseconds * Math.random() : retryMilliseconds, stopping.signal)
          .catch(() => undefined);
      }
    }
  }

  /** Events cannot be written to a terminating namespace, which is expected. */
  function refused({ namespace, name, first: { reason } }: KnownEvent, error: ApiError): void {
    observer?.dropped("refused");
    const about = { event: `${namespace}/${name}`, reason, error: error.message };
    if (error.code === 404 || error.details?.causes?.[0]?.reason === "NamespaceTerminating")
      log.verbose(2, "event not written: its namespace goes away", about);
    else log.error("event rejected by the API server", about);
  }

  async function send(event: KnownEvent): Promise<void> {
    const { count } = event;
    const verb = (await patchExisting(event)) ? "patch" : "create";
    if (verb === "create") await createEvent(event);
    event.sentCount = count;
    observer?.sent(verb);
  }

  /** Updates the count of an existing event. Returns false if it does not exist. */
  async function patchExisting({
    name,
    namespace,
    count,
    lastAt,
    message,
    sentCount,
  }: KnownEvent): Promise<boolean> {
    if (sentCount === 0) return false;
    try {
      if (form === "core") {
        const patch = { count, lastTimestamp: timeOfMillis(lastAt), message };
        await client.of(coreEvents).patch(name, "strategic", patch, { namespace });
      } else {
        const series = { count, lastObservedTime: microTimeOfMillis(lastAt) };
        await client.of(newerEvents).patch(name, "merge", { series }, { namespace });
      }
      return true;
    } catch (error) {
      if (!(error instanceof ApiError) || error.code !== 404) throw error;
      return false;
    }
  }

  async function createEvent(event: KnownEvent): Promise<void> {
    try {
      if (form === "core") await client.of(coreEvents).create(coreForm(event) as never);
      else await client.of(newerEvents).create(newerForm(event) as never);
    } catch (error) {
      // The event already exists if the response to an earlier attempt was lost.
      if (!(error instanceof ApiError) || error.reason !== "AlreadyExists") throw error;
    }
  }

  function coreForm({ first, name, namespace, message, lastAt, count, aggregated }: KnownEvent): object {
    const { regarding, type, reason, action, annotations, at } = first;
    return {
      metadata: { name, namespace, ...(annotations && { annotations }) },
      involvedObject: regarding,
      reason,
      message,
      source: { component, ...(host !== undefined && { host }) },
      firstTimestamp: timeOfMillis(at),
      lastTimestamp: timeOfMillis(lastAt),
      count,
      type,
      ...(action && { action }),
      // Aggregated events name no reporter, as in client-go.
      reportingComponent: aggregated ? "" : component,
      reportingInstance: aggregated ? "" : (host ?? ""),
    };
  }

  function newerForm({ first, name, namespace, message, lastAt, count }: KnownEvent): object {
    const { regarding, related, type, reason, action, annotations, at } = first;
    return {
      metadata: { name, namespace, ...(annotations && { annotations }) },
      eventTime: microTimeOfMillis(at),
      ...(count > 1 && { series: { count, lastObservedTime: microTimeOfMillis(lastAt) } }),
      reportingController: component,
      reportingInstance: `${component}-${host ?? hostname()}`,
      action: action ?? reason,
      reason,
      regarding,
      ...(related && { related }),
      note: message.slice(0, maxNoteLength),
      type,
    };
  }
}

/** A recorder that only logs events, for use without an API server. */
export const loggedEvents = (log: Log): EventRecorder => ({
  event: (regarding, type, reason, message) =>
    log.verbose(2, "event", { regarding: referenceTo(regarding).name ?? "", type, reason, message }),
});

function referenceTo(regarding: ObjectReference | AnyObject): ObjectReference {
  if (!("metadata" in regarding)) return regarding;
  const { apiVersion, kind, metadata } = regarding;
  const { namespace, name, uid, resourceVersion } = metadata;
  return { apiVersion, kind, namespace, name, uid, resourceVersion };
}

/**
 * Reports whether a retry would fail the same way: the server responded, and neither with 429 nor with a
 * server error.
 */
const isPermanent = (error: unknown): boolean =>
  error instanceof ApiError && error.code !== 429 && error.code < 500;
