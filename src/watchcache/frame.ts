// A change as delivered to watchers. Its encodings are made on demand and shared by all watchers for a while.
import type { Revision } from "#store";
import { type CachedObject, atRevision } from "./cached-object.ts";
import { StoredObject } from "./stored-object.ts";

export type FrameType = "ADDED" | "MODIFIED" | "DELETED" | "BOOKMARK";

/** The wire format of a frame. Frames cache encodings by encoder: use one encoder object per format. */
export interface FrameEncoder {
  encode(type: FrameType, item: CachedObject): Uint8Array;
}

export class Frame {
  readonly type: FrameType;
  /** The previous state of a changed object, if known. */
  readonly previous: CachedObject | undefined;
  #item: CachedObject | Revision;
  #made: Map<FrameEncoder, Uint8Array> | undefined;
  /** For a deletion its revision is sufficient as the item. */
  constructor(type: FrameType, item: CachedObject | Revision, previous?: CachedObject) {
    this.type = type;
    this.#item = item;
    this.previous = previous;
  }
  /**
   * The object as this frame shows it. For a deletion it is made on first access, which often never happens.
   */
  get item(): CachedObject {
    if (typeof this.#item === "number") this.#item = atRevision(this.previous!, this.#item);
    return this.#item;
  }
  get key(): string {
    return (this.previous ?? this.item).key;
  }
  bytes(encoder: FrameEncoder): Uint8Array {
    let bytes = this.#made?.get(encoder);
    if (!bytes) {
      bytes = encoder.encode(this.type, this.item);
      if (!this.#made) cacheEncodings(this);
      (this.#made ??= new Map()).set(encoder, bytes);
    }
    return bytes;
  }
  /** Drops the encodings; later calls of bytes() encode again. */
  dropEncodings(): void {
    this.#made = undefined;
  }
}

// A change is sent to all current watchers at once, but stays in the history for much longer. Of the frames that
// watchers read from it, only the latest keep their encodings: small slices of large buffers, each of which keeps
// its whole buffer alive.
const cachedFrames = 256;
const recent: (Frame | undefined)[] = Array.from({ length: cachedFrames });
let next = 0;

function cacheEncodings(frame: Frame): void {
  recent[next]?.dropEncodings();
  recent[next] = frame;
  next = (next + 1) % cachedFrames;
}

const joined = new WeakMap<readonly Frame[], Map<FrameEncoder, Uint8Array>>();

/**
 * Returns the encodings of frames delivered together, concatenated once for all watchers that share the
 * array.
 */
export function bytesOf(frames: readonly Frame[], encoder: FrameEncoder): Uint8Array {
  if (frames.length === 1) return frames[0]!.bytes(encoder);
  let known = joined.get(frames);
  if (!known) joined.set(frames, (known = new Map()));
  let bytes = known.get(encoder);
  if (!bytes) known.set(encoder, (bytes = Buffer.concat(frames.map((frame) => frame.bytes(encoder)))));
  return bytes;
}

/** A change of one object: its new state (or the last one before a deletion), and its previous state. */
export class Change {
  readonly revision: Revision;
  /** The new state, or for a deletion the last one: frames show it with the revision of the deletion. */
  readonly item: CachedObject;
  readonly previous: CachedObject | undefined;
  readonly deleted: boolean;
  /** Bytes it keeps in memory: 0 for objects that stay in the store and are read on demand. */
  readonly bytes: number;
  /** The first frame made, and those of other types, which watchers with different selectors may see. */
  #first: Frame | undefined;
  #others: Partial<Record<FrameType, Frame>> | undefined;
  constructor(revision: Revision, item: CachedObject, previous: CachedObject | undefined, deleted: boolean) {
    this.revision = revision;
    this.item = item;
    this.previous = previous;
    this.deleted = deleted;
    this.bytes = item instanceof StoredObject ? 0 : item.line.length;
  }

  /**
   * Returns the frame for a watcher that sees only objects accepted by `sees`; undefined if the change is
   * invisible to it.
   */
  frameFor(sees: (item: CachedObject) => boolean): Frame | undefined {
    const now = !this.deleted && sees(this.item);
    const before = this.previous !== undefined && sees(this.previous);
    if (now) return this.#frame(before ? "MODIFIED" : "ADDED");
    return before ? this.#frame("DELETED") : undefined;
  }

  #frame(type: FrameType): Frame {
    if (this.#first?.type === type) return this.#first;
    const known = this.#others?.[type];
    if (known) return known;
    const frame = new Frame(type, type === "DELETED" ? this.revision : this.item, this.previous);
    if (this.#first) (this.#others ??= {})[type] = frame;
    else this.#first = frame;
    return frame;
  }
}
