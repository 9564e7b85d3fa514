// Keeps the stored events within their limits: follows them and deletes the excess. A deletion that conflicts
// with an update leaves the event alone.
import type { Clock, Log } from "#base";
import type { CachedObject, Frame, ObjectSource } from "#watchcache";
import {
  EventBudget,
  type EventClass,
  type EventLimits,
  type Evicted,
  type LimitName,
} from "./event-budget.ts";
import { followEvents } from "./follow-events.ts";

export interface RetentionOptions {
  readonly limits: EventLimits;
  readonly events: ObjectSource;
  /** Deletes an event unless it has changed in the meantime; resolves with whether it did. */
  readonly remove: (key: string, revision: number) => Promise<boolean>;
  readonly clock: Clock;
  readonly log: Log;
  readonly signal: AbortSignal;
  /** Called for each event that was deleted before it expired. */
  readonly evicted: (type: EventClass, limit: LimitName) => void;
}

/** Maximum number of concurrent deletions: the store batches those that arrive together. */
const maxConcurrentDeletions = 64;
const retryMilliseconds = 1000;

export class EventRetention {
  readonly #options: RetentionOptions;
  readonly #budget: EventBudget;
  #queue: Evicted[] = [];
  #next = 0;
  #working = 0;
  #idle: (() => void)[] = [];
  evicted = 0;

  constructor(options: RetentionOptions) {
    this.#options = options;
    this.#budget = new EventBudget(options.limits);
  }

  get count(): number {
    return this.#budget.count;
  }

  get bytes(): number {
    return this.#budget.bytes;
  }

  /** Resolves once the existing events are within the limits. */
  async start(): Promise<void> {
    const { events, clock, log, signal } = this.#options;
    await followEvents({
      events,
      clock,
      log,
      signal,
      without: "their limits are not kept",
      deliver: (frames) => this.#deliver(frames),
      forget: () => this.#budget.clear(),
    });
    await this.settled();
  }

  /** Resolves when nothing is left to delete. */
  async settled(): Promise<void> {
    if (this.#working > 0) await new Promise<void>((resolve) => this.#idle.push(resolve));
  }

  #deliver(frames: readonly Frame[]): void {
    for (const frame of frames) {
      if (frame.type === "DELETED") this.#budget.remove(frame.key);
      else if (frame.type !== "BOOKMARK") this.#budget.add(eventOf(frame.item));
    }
    this.#enforce();
  }

  #enforce(): void {
    for (const evicted of this.#budget.overflow()) this.#queue.push(evicted);
    while (this.#working < maxConcurrentDeletions && this.#next < this.#queue.length) void this.#work();
  }

  async #work(): Promise<void> {
    const { remove, evicted: onEvicted, signal, log, clock } = this.#options;
    this.#working++;
    for (let next = this.#take(); next && !signal.aborted; next = this.#take()) {
      const { event, limit } = next;
      try {
        if (!(await remove(event.key, event.revision))) continue;
        this.evicted++;
        onEvicted(event.type, limit);
      } catch (error) {
        log.error("an event beyond the limits could not be deleted; retrying", {
          event: event.key,
          error: (error as Error).message,
        });
        this.#budget.add(event);
        await clock.sleep(retryMilliseconds, signal).catch(() => undefined);
        for (const again of this.#budget.overflow()) this.#queue.push(again);
      }
    }
    if (--this.#working === 0) for (const resolve of this.#idle.splice(0)) resolve();
  }

  #take(): Evicted | undefined {
    const next = this.#queue[this.#next++];
    if (!next) {
      this.#queue = [];
      this.#next = 0;
    }
    return next;
  }
}

const eventOf = ({ key, namespace, fields, line, revision }: CachedObject) => ({
  key,
  namespace,
  type: fields["type"] === "Warning" ? ("Warning" as const) : ("Normal" as const),
  bytes: line.length,
  revision,
});
