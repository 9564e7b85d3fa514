// Follows all events and records what the timeline index needs of each, in the background and in time slices,
// so that the index can be built quickly, also after a restart, without reading the events. Only the newest
// rows stay in memory; full pieces are saved as derived data of the store.
import { type Clock, TimeSlice, selectEverything } from "#base";
import { Compacted, type DerivedData } from "#store";
import type { CachedObject, Frame, ObjectSource } from "#watchcache";
import { EventRows, type RowSpan, decodeRows, encodeRows, maxRows, spanOf } from "./event-rows.ts";
import { scanEvent } from "./scan-event.ts";

export interface EventSummariesOptions {
  readonly events: ObjectSource;
  readonly derived: DerivedData;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly rowsPerPiece?: number;
}

const name = "timeline rows";
/** Delay before new events are recorded, so that many are recorded together. */
const gatherMilliseconds = 1000;
const gatheredAtOnce = 1024;
/** Number of new rows after which the incomplete piece is saved as well. */
const rowsBetweenSaves = 8192;
/** Pieces with less than this share of live rows are rewritten. */
const minShare = 1 / 4;

export class EventSummaries {
  readonly #options: EventSummariesOptions;
  /** The full pieces in order of revision; the number of each is its first revision. */
  #saved: RowSpan[] = [];
  readonly #maxRows: number;
  #open = new EventRows();
  #openSaved = 0;
  #lastRevision = 0;
  #gathered: CachedObject[] = [];
  #working: Promise<void> | undefined;
  #cancelTimer = (): void => undefined;
  #pruneAt = 0;

  constructor(options: EventSummariesOptions) {
    this.#options = options;
    this.#maxRows = options.rowsPerPiece ?? maxRows;
  }

  /**
   * Reads the saved rows, records events that arrived since, and follows the events until the signal aborts.
   */
  async start(): Promise<void> {
    const { signal } = this.#options;
    this.#readSaved();
    signal.addEventListener("abort", () => this.#cancelTimer(), { once: true });
    await this.#follow();
  }

  /**
   * Returns every row: the saved ones, read in slices, and the newest. The result must be used immediately.
   */
  async read(): Promise<readonly EventRows[]> {
    await this.#settle();
    const slice = new TimeSlice();
    const found: EventRows[] = [];
    for (const { piece, bytes } of this.#options.derived.read(name)) {
      if (this.#open.length > 0 && piece >= this.#open.firstRevision) continue;
      const rows = decodeRows(bytes);
      if (rows) found.push(rows);
      if (slice.expired) await slice.yield();
    }
    if (this.#open.length > 0) found.push(this.#open);
    return found;
  }

  /** Saves unsaved rows. */
  async stop(): Promise<void> {
    this.#cancelTimer();
    await this.#working;
    if (this.#open.length > this.#openSaved) await this.#save();
  }

  #readSaved(): void {
    for (const { piece, bytes } of this.#options.derived.read(name)) {
      const span = spanOf(bytes);
      if (span?.first === piece && piece > this.#lastRevision) {
        this.#saved.push(span);
        this.#lastRevision = span.last;
      } else void this.#write(piece, null);
    }
  }

  async #follow(): Promise<void> {
    const { events, signal, clock } = this.#options;
    const again = (): void => {
      if (!signal.aborted) this.#cancelTimer = clock.after(gatherMilliseconds, () => void this.#follow());
    };
    try {
      const { items, revision } = await everyEvent(events);
      const slice = new TimeSlice("background");
      const missing: CachedObject[] = [];
      for (const item of items) {
        if (item.revision > this.#lastRevision) missing.push(item);
        if (slice.tick()) await slice.yield();
      }
      this.#gathered = missing.sort((a, b) => a.revision - b.revision);
      await this.#settle();
      await events.watch(
        { below: "", selector: selectEverything, from: revision, signal },
        { deliver: (frames) => this.#gather(frames), ended: again },
      );
    } catch (error) {
      if (!(error instanceof Compacted)) throw error;
      again();
    }
  }

  #gather(frames: readonly Frame[]): void {
    const wasEmpty = this.#gathered.length === 0;
    for (const frame of frames)
      if (frame.type !== "DELETED" && frame.type !== "BOOKMARK" && frame.item.revision > this.#lastRevision)
        this.#gathered.push(frame.item);
    if (this.#gathered.length >= gatheredAtOnce) void this.#settle();
    else if (wasEmpty && this.#gathered.length > 0)
      this.#cancelTimer = this.#options.clock.after(gatherMilliseconds, () => void this.#settle());
  }

  /** Records the gathered events. */
  async #settle(): Promise<void> {
    this.#working ??= this.#record().finally(() => (this.#working = undefined));
    await this.#working;
  }

  async #record(): Promise<void> {
    const slice = new TimeSlice("background");
    while (this.#gathered.length > 0 && !this.#options.signal.aborted) {
      const items = this.#gathered;
      this.#gathered = [];
      for (const item of items) {
        if (item.revision <= this.#lastRevision) continue;
        this.#open.append(item.revision, scanEvent(item));
        this.#lastRevision = item.revision;
        if (this.#open.length === this.#maxRows) await this.#seal();
        if (slice.tick()) await slice.yield();
      }
    }
    if (this.#open.length - this.#openSaved >= rowsBetweenSaves) await this.#save();
  }

  async #seal(): Promise<void> {
    const { firstRevision: first, lastRevision: last, length: rows } = this.#open;
    await this.#save();
    this.#saved.push({ first, last, rows });
    this.#open = new EventRows();
    this.#openSaved = 0;
    const total = this.#saved.reduce((sum, piece) => sum + piece.rows, 0);
    if (total > Math.max(this.#pruneAt, 2 * this.#options.events.count() + 2 * this.#maxRows))
      await this.#prune();
  }

  async #save(): Promise<void> {
    this.#openSaved = this.#open.length;
    await this.#write(this.#open.firstRevision, encodeRows(this.#open));
  }

  /** Events whose rows could not be saved are read again after the next start. */
  async #write(piece: number, bytes: Uint8Array | null): Promise<void> {
    await this.#options.derived.write(name, piece, bytes).catch(() => undefined);
  }

  /**
   * Removes rows of deleted events from pieces where most rows are obsolete; small adjacent pieces are
   * merged.
   */
  async #prune(): Promise<void> {
    const slice = new TimeSlice("background");
    const pieceOf = (revision: number): number => {
      const at = this.#saved.findLastIndex(({ first }) => first <= revision);
      return at >= 0 && revision <= this.#saved[at]!.last ? at : -1;
    };
    const items = this.#options.events.listCached("");
    const counts = this.#saved.map(() => 0);
    for (const { revision } of items) {
      const at = pieceOf(revision);
      if (at >= 0) counts[at]!++;
      if (slice.tick()) await slice.yield();
    }
    const sparse = this.#saved.map(({ rows }, at) =>
      counts[at]! < rows * minShare ? new Set<number>() : undefined,
    );
    for (const { revision } of items) {
      sparse[pieceOf(revision)]?.add(revision);
      if (slice.tick()) await slice.yield();
    }
    const remaining: RowSpan[] = [];
    const pieces = new Map(this.#options.derived.read(name).map(({ piece, bytes }) => [piece, bytes]));
    let joined = new EventRows();
    const flush = async (): Promise<void> => {
      if (joined.length === 0) return;
      const { firstRevision: first, lastRevision: last, length: rows } = joined;
      await this.#write(first, encodeRows(joined));
      remaining.push({ first, last, rows });
      joined = new EventRows();
    };
    for (const [at, piece] of this.#saved.entries()) {
      const alive = sparse[at];
      const rows = alive && decodeRows(pieces.get(piece.first) ?? new Uint8Array());
      if (!rows) {
        await flush();
        remaining.push(piece);
        continue;
      }
      if (joined.length + alive.size > this.#maxRows) await flush();
      for (let row = 0; row < rows.length; row++) {
        const revision = rows.revisions[row]!;
        if (alive.has(revision)) joined.append(revision, rows.reading(row));
        if (slice.tick()) await slice.yield();
      }
      if (joined.length === 0 || joined.firstRevision !== piece.first) await this.#write(piece.first, null);
    }
    await flush();
    this.#saved = remaining;
    this.#pruneAt = 1.5 * remaining.reduce((sum, { rows }) => sum + rows, 0) + this.#maxRows;
  }
}

/** Returns all current events, without reading their bytes if they are cached. */
export async function everyEvent(
  events: ObjectSource,
): Promise<{ readonly items: readonly CachedObject[]; readonly revision: number }> {
  await events.get("", { at: "latest" });
  const revision = events.revision();
  const items = events.listCached("");
  if (items.length > 0) return { items, revision };
  return await events.list({ below: "", selector: selectEverything, freshness: { at: "latest" } });
}

/** For stores without derived data: the rows are computed again after a restart. */
export function derivedInMemory(): DerivedData {
  const pieces = new Map<number, Uint8Array>();
  return {
    read: () => [...pieces].map(([piece, bytes]) => ({ piece, bytes })).sort((a, b) => a.piece - b.piece),
    write: async (_name, piece, bytes) => {
      if (bytes) pieces.set(piece, bytes);
      else pieces.delete(piece);
    },
  };
}
