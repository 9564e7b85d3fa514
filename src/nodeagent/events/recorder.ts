// Tells the API server what happens to pods and to the node. Events wait in a bounded queue and leave at a
// bounded rate; what does not fit is counted and told in one event of its own.
import { CoreEvent, type ObjectReference } from "#api";
import { ApiError, type Clock, type Log, type Metrics, timeOfMillis } from "#base";
import type { ApiClient, ResourceKind } from "#client";
import type { EventRecorder } from "../interfaces.ts";
import { type Happening, type KnownEvent, correlator } from "./correlate.ts";

export interface RecorderOptions {
  readonly client: ApiClient;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly node: ObjectReference;
  /** Zero is no limit. */
  readonly queriesPerSecond: number;
  readonly burst: number;
  readonly queueSize?: number;
}

export interface RunningRecorder extends EventRecorder {
  /** Resolves when nothing waits any more, or after the time given. */
  flush(milliseconds: number): Promise<void>;
  stop(): void;
}

const coreEvents: ResourceKind<typeof CoreEvent> = { schema: CoreEvent, plural: "events", namespaced: true };
const retryMilliseconds = 10_000;
const mostTries = 60;
const summaryMilliseconds = 60_000;

export function eventRecorder(options: RecorderOptions): RunningRecorder {
  const { client, clock, log, metrics, node } = options;
  const component = client.dialect.cli.agent;
  const host = node.name ?? "";
  const queueSize = options.queueSize ?? 1000;
  const resource = client.of(coreEvents);
  const decide = correlator();
  const waiting = new Set<KnownEvent>();
  const stopping = new AbortController();
  const prefix = client.dialect.data.agentMetricPrefix;
  const sent = metrics.counter({
    name: `${prefix}events_sent_total`,
    help: "Events told to the API server, by what was done.",
    labels: ["verb"],
  });
  const dropped = metrics.counter({
    name: `${prefix}events_dropped_total`,
    help: "Events that were not recorded, by reason.",
    labels: ["reason"],
  });
  const take = rateLimiter(clock, options.queriesPerSecond, options.burst);
  let lost = 0;
  let summaryDue: (() => void) | undefined;
  let running: Promise<void> | undefined;

  return {
    event: (regarding, type, reason, message, action, annotations) =>
      record({ regarding, type, reason, message, action, annotations, at: clock.now() }),
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

  function record(happening: Happening): void {
    const { regarding, type, reason, message } = happening;
    log.verbose(3, "event", {
      object: `${regarding.namespace ?? ""}/${regarding.name}`,
      kind: regarding.kind ?? "",
      type,
      reason,
      message,
    });
    if (stopping.signal.aborted) return;
    const verdict = decide(happening);
    if (verdict.do === "drop") lose("object limit");
    if (verdict.do !== "send" || waiting.has(verdict.event)) return;
    if (waiting.size >= queueSize) {
      lose("queue full");
      return;
    }
    waiting.add(verdict.event);
    run();
  }

  function run(): void {
    running ??= drain().finally(() => {
      running = undefined;
      if (waiting.size > 0 && !stopping.signal.aborted) run();
    });
  }

  /** Counts an event that is not recorded, and says so about the node once a minute at most. */
  function lose(why: string): void {
    dropped.with(why).add();
    lost++;
    summaryDue ??= clock.after(summaryMilliseconds, () => {
      summaryDue = undefined;
      const many = lost;
      lost = 0;
      log.warn("events were not recorded", { count: many });
      record({
        regarding: node,
        type: "Warning",
        reason: "EventsDropped",
        message: `${many} events of this node were not recorded: too many at once`,
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
        await tell(event);
        return;
      } catch (error) {
        if (isFinal(error)) {
          log.error("event rejected by the API server", {
            event: `${event.namespace}/${event.name}`,
            reason: event.first.reason,
            error,
          });
          dropped.with("refused").add();
          return;
        }
        if (tries >= mostTries) {
          lose("server unreachable");
          return;
        }
        // Servers that come back meet agents one by one.
        await clock
          .sleep(tries === 1 ? retryMilliseconds * Math.random() : retryMilliseconds, stopping.signal)
          .catch(() => undefined);
      }
    }
  }

  async function tell(event: KnownEvent): Promise<void> {
    const { count } = event;
    if (event.told > 0) {
      try {
        const patch = { count, lastTimestamp: timeOfMillis(event.lastAt), message: event.message };
        await resource.patch(event.name, "strategic", patch, { namespace: event.namespace });
        event.told = count;
        sent.with("patch").add();
        return;
      } catch (error) {
        if (!(error instanceof ApiError) || error.code !== 404) throw error;
      }
    }
    await resource.create(written(event) as never, { namespace: event.namespace }).catch((error: unknown) => {
      // It is there already when the answer to an earlier try was lost.
      if (!(error instanceof ApiError) || error.reason !== "AlreadyExists") throw error;
    });
    event.told = count;
    sent.with("create").add();
  }

  function written(event: KnownEvent): Partial<CoreEvent> {
    const { regarding, type, reason, action, annotations, at } = event.first;
    return {
      metadata: {
        name: event.name,
        namespace: event.namespace,
        ...(annotations && { annotations }),
      } as CoreEvent["metadata"],
      involvedObject: regarding,
      reason,
      message: event.message,
      source: { component, host },
      firstTimestamp: timeOfMillis(at),
      lastTimestamp: timeOfMillis(event.lastAt),
      count: event.count,
      type,
      ...(action && { action }),
      reportingComponent: component,
      reportingInstance: host,
    };
  }
}

/**
 * Whether trying again cannot help: the server answered, and neither with "later" nor with trouble of its
 * own.
 */
const isFinal = (error: unknown): boolean =>
  error instanceof ApiError && error.code !== 429 && error.code < 500;

/** A token bucket: resolves when the caller may go on. */
export function rateLimiter(
  clock: Clock,
  perSecond: number,
  burst: number,
): (signal: AbortSignal) => Promise<void> {
  if (perSecond <= 0) return () => Promise.resolve();
  const most = Math.max(1, burst);
  let tokens = most;
  let at = clock.now();
  return async (signal) => {
    const now = clock.now();
    tokens = Math.min(most, tokens + ((now - at) * perSecond) / 1000) - 1;
    at = now;
    if (tokens < 0) await clock.sleep((-tokens * 1000) / perSecond, signal);
  };
}
