// Folds floods of events into series: of the events of one object with the same reason, type and controller,
// the first and the last are kept, and the first counts those in between.
//
//   before   e1  e2  e3  e4  e5      after   e1 (count 4, last seen with e4, 3 folded)   e5
import type { Event } from "#api";
import { type Clock, type Log, formatTime } from "#base";
import { foldedAnnotation } from "#dialect";
import type { CachedObject, Frame, ObjectSource } from "#watchcache";
import { followEvents } from "./follow-events.ts";
import { readEvent, storedEvent, timeText } from "./stored-event.ts";

export interface FoldingOptions {
  /** Maximum number of events per group before it is folded; at least two. */
  readonly most: number;
  readonly events: ObjectSource;
  /** Updates the event unless it has changed in the meantime; resolves with whether it did. */
  readonly replace: (item: CachedObject, change: (event: Event) => void) => Promise<boolean>;
  readonly remove: (key: string, revision: number) => Promise<boolean>;
  readonly clock: Clock;
  readonly log: Log;
  readonly signal: AbortSignal;
}

interface Group {
  readonly key: string;
  readonly items: Map<string, CachedObject>;
}

/** Delay before folding, so that floods are folded together. */
const pauseMilliseconds = 1000;
/**
 * Maximum number of events of one group folded at once: of a larger group the oldest are folded, the rest
 * after the next pause.
 */
const maxFoldedAtOnce = 4096;

export class EventFolding {
  readonly #options: FoldingOptions;
  readonly #groups = new Map<string, Group>();
  readonly #groupOf = new Map<string, Group>();
  readonly #large = new Set<Group>();
  #cancel: (() => void) | undefined;
  /** The number of events that were folded into others. */
  folded = 0;

  constructor(options: FoldingOptions) {
    this.#options = options;
    options.signal.addEventListener("abort", () => this.#cancel?.(), { once: true });
  }

  async start(): Promise<void> {
    const { events, clock, log, signal } = this.#options;
    await followEvents({
      events,
      clock,
      log,
      signal,
      without: "they are not folded",
      deliver: (frames) => this.#deliver(frames),
      forget: () => {
        this.#groups.clear();
        this.#groupOf.clear();
        this.#large.clear();
      },
    });
  }

  #deliver(frames: readonly Frame[]): void {
    for (const frame of frames) {
      if (frame.type === "DELETED") this.#forget(frame.key);
      else if (frame.type !== "BOOKMARK") this.#add(frame.item);
    }
    if (this.#large.size > 0)
      this.#cancel ??= this.#options.clock.after(pauseMilliseconds, () => {
        this.#cancel = undefined;
        void this.fold();
      });
  }

  #add(item: CachedObject): void {
    const known = this.#groupOf.get(item.key);
    const key = groupKey(item);
    const group = known ?? this.#groups.getOrInsertComputed(key, () => ({ key, items: new Map() }));
    group.items.set(item.key, item);
    this.#groupOf.set(item.key, group);
    if (group.items.size > this.#options.most) this.#large.add(group);
  }

  #forget(key: string): void {
    const group = this.#groupOf.get(key);
    if (!group) return;
    this.#groupOf.delete(key);
    group.items.delete(key);
    if (group.items.size === 0) this.#groups.delete(group.key);
  }

  /** Folds the groups that exceed the maximum. */
  async fold(): Promise<void> {
    const groups = [...this.#large];
    this.#large.clear();
    for (const { items } of groups) {
      if (this.#options.signal.aborted) return;
      try {
        await this.#foldGroup([...items.values()]);
      } catch (error) {
        this.#options.log.error("events could not be folded", { error: (error as Error).message });
      }
    }
  }

  async #foldGroup(items: readonly CachedObject[]): Promise<void> {
    const { replace, remove } = this.#options;
    const oldest = items.toSorted((a, b) => a.revision - b.revision).slice(0, maxFoldedAtOnce);
    const read = oldest.map((item) => ({ item, ...readEvent(storedEvent(item)) }));
    const [first, ...rest] = read.sort((a, b) => a.first - b.first || a.item.revision - b.item.revision);
    const isAll = oldest.length === items.length;
    const latest = rest.reduce((most, each) => (each.last >= most.last ? each : most), rest[0]!);
    const between = isAll ? rest.filter((each) => each !== latest) : rest;
    if (!first || between.length === 0) return;
    const count = between.reduce((sum, each) => sum + each.count, 0);
    const last = between.reduce((most, each) => Math.max(most, each.last), first.last);
    if (!(await replace(first.item, (event) => addSeen(event, count, last, between.length)))) return;
    await Promise.all(between.map(({ item }) => remove(item.key, item.revision)));
    this.folded += between.length;
  }
}

/** Adds occurrences in the form the event uses: a count in the older one, a series in the newer one. */
function addSeen(event: Event, count: number, lastMicros: number, folded: number): void {
  if (event.eventTime)
    event.series = { count: (event.series?.count ?? 1) + count, lastObservedTime: timeText(lastMicros) };
  else {
    event.deprecatedCount = (event.deprecatedCount || 1) + count;
    event.deprecatedLastTimestamp = formatTime({ seconds: Math.floor(lastMicros / 1e6) });
  }
  event.metadata.annotations = {
    ...event.metadata.annotations,
    [foldedAnnotation]: String(Number(event.metadata.annotations?.[foldedAnnotation] ?? 0) + folded),
  };
}

const groupKey = ({ namespace, fields }: CachedObject): string =>
  JSON.stringify([
    namespace,
    fields["involvedObject.uid"],
    fields["involvedObject.kind"],
    fields["involvedObject.name"],
    fields["reason"],
    fields["type"],
    fields["source"],
  ]);
