// The index of all events, built on first use and kept up to date by a watch until it has been idle for a
// while: a server whose timeline is not used does no work for it.
import { type Clock, TimeSlice, selectEverything } from "#base";
import { Compacted } from "#store";
import type { Frame, ObjectSource } from "#watchcache";
import type { EventRows } from "./event-rows.ts";
import { everyEvent } from "./event-summaries.ts";
import type { JournalRecord } from "./journal-record.ts";
import type { Journal } from "./journal.ts";
import { OwnerGraph } from "./owner-graph.ts";
import { TimelineIndex } from "./timeline-index.ts";

export interface LiveIndexOptions {
  readonly events: ObjectSource;
  /** Returns the recorded rows, which save reading the events. */
  readonly rows: () => Promise<readonly EventRows[]>;
  readonly journal: Journal;
  readonly clock: Clock;
  /** Ends everything when aborted. */
  readonly signal: AbortSignal;
}

export interface Indexed {
  readonly index: TimelineIndex;
  readonly graph: OwnerGraph;
}

/** How long an unused index is kept. */
const idleMilliseconds = 10 * 60_000;
const maxAttempts = 5;

export class LiveIndex {
  readonly #options: LiveIndexOptions;
  #current: { readonly made: Promise<Indexed>; readonly stop: AbortController } | undefined;
  #lastUse = 0;

  constructor(options: LiveIndexOptions) {
    this.#options = options;
  }

  get active(): boolean {
    return this.#current !== undefined;
  }

  /** Returns the index, including everything written before the call. */
  async use(): Promise<Indexed> {
    const { clock, events, signal, journal } = this.#options;
    this.#lastUse = clock.monotonic();
    if (!this.#current) {
      const stop = new AbortController();
      signal.addEventListener("abort", () => stop.abort(), { once: true, signal: stop.signal });
      const made = this.#make(stop);
      this.#current = { made, stop };
      made.catch(() => this.#drop(stop));
      this.#dropWhenIdle(stop);
    }
    const indexed = await this.#current.made;
    // A caller must see its own writes.
    await events.get("", { at: "latest" });
    journal.settle();
    return indexed;
  }

  async #make(stop: AbortController): Promise<Indexed> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#load(stop);
      } catch (error) {
        // More changes happened during the build than the cache retains.
        if (!(error instanceof Compacted) || attempt === maxAttempts) throw error;
      }
    }
  }

  async #load(stop: AbortController): Promise<Indexed> {
    const { events, journal, rows } = this.#options;
    const index = new TimelineIndex();
    const graph = new OwnerGraph();
    const known = await rows();
    const { items, revision } = await everyEvent(events);
    const slice = new TimeSlice();
    // Journal updates during the build must wait: they may concern records that are not loaded yet.
    let waiting: (() => void)[] | undefined = [];
    const later =
      <T>(act: (value: T) => void) =>
      (value: T): void =>
        waiting ? void waiting.push(() => act(value)) : act(value);
    const changes: JournalRecord[] = [];
    const following = journal.follow(
      {
        added: later((record) => index.addChange(record)),
        removed: later((record) => index.removeChange(record.sequence)),
        owners: later((object) => graph.set(object)),
        forgotten: later((uid) => graph.delete(uid)),
      },
      stop.signal,
    );
    for (const change of following) {
      changes.push(change);
      if (slice.tick()) await slice.yield();
    }
    for (const _ of index.load(items, known, changes)) if (slice.tick()) await slice.yield();
    for (const { owners, ...object } of changes) if (owners) graph.set({ ...object, owners });
    for (const object of journal.owned()) {
      if (object) graph.set(object);
      if (slice.tick()) await slice.yield();
    }
    for (const act of waiting) act();
    waiting = undefined;
    const apply = (frames: readonly Frame[]): void => {
      for (const frame of frames) {
        if (frame.type === "BOOKMARK") continue;
        if (frame.previous) index.removeEvent(frame.previous.revision);
        if (frame.type !== "DELETED") index.addEvent(frame.item);
      }
    };
    await events.watch(
      { below: "", selector: selectEverything, from: revision, signal: stop.signal },
      { deliver: apply, ended: () => this.#drop(stop) },
    );
    return { index, graph };
  }

  #drop(stop: AbortController): void {
    stop.abort();
    if (this.#current?.stop === stop) this.#current = undefined;
  }

  #dropWhenIdle(stop: AbortController): void {
    const { clock } = this.#options;
    const cancel = clock.after(idleMilliseconds, () => {
      if (clock.monotonic() - this.#lastUse >= idleMilliseconds) this.#drop(stop);
      else this.#dropWhenIdle(stop);
    });
    stop.signal.addEventListener("abort", cancel, { once: true });
  }
}
