// One change on its way to watchers. Its encodings are made on first ask and shared by every watcher who asks
// within a while.
import type { Revision } from "#store";
import { type CachedObject, atRevision } from "./cached-object.ts";
import { StoredObject } from "./stored-object.ts";

export type FrameType = "ADDED" | "MODIFIED" | "DELETED" | "BOOKMARK";

/**
 * How a frame is put on the wire. Frames remember for a while what an encoder made: use one encoder object
 * per representation.
 */
export interface FrameEncoder {
  encode(type: FrameType, item: CachedObject): Uint8Array;
}

export class Frame {
  readonly type: FrameType;
  /** What a changed object was before, where that is known. */
  readonly previous: CachedObject | undefined;
  #item: CachedObject | (() => CachedObject);
  #made: Map<FrameEncoder, Uint8Array> | undefined;
  constructor(type: FrameType, item: CachedObject | (() => CachedObject), previous?: CachedObject) {
    this.type = type;
    this.#item = item;
    this.previous = previous;
  }
  /** The object as this frame shows it. That of a deletion is made when somebody first asks: many never do. */
  get item(): CachedObject {
    if (typeof this.#item === "function") this.#item = this.#item();
    return this.#item;
  }
  get key(): string {
    return (this.previous ?? this.item).key;
  }
  bytes(encoder: FrameEncoder): Uint8Array {
    let bytes = this.#made?.get(encoder);
    if (!bytes) {
      bytes = encoder.encode(this.type, this.item);
      if (!this.#made) remember(this);
      (this.#made ??= new Map()).set(encoder, bytes);
    }
    return bytes;
  }
  /** Whoever asks again has it made again. */
  forget(): void {
    this.#made = undefined;
  }
}

// A change is sent to everybody within a moment, and stays in the history for much longer. Only the last
// frames keep their bytes: small pieces of large buffers, each of which would keep all of its buffer.
const remembered = 256;
const recent: (Frame | undefined)[] = Array.from({ length: remembered });
let next = 0;

function remember(frame: Frame): void {
  recent[next]?.forget();
  recent[next] = frame;
  next = (next + 1) % remembered;
}

const joined = new WeakMap<readonly Frame[], Map<FrameEncoder, Uint8Array>>();

/** The bytes of frames that were delivered together, joined once for all who were given the same array. */
export function bytesOf(frames: readonly Frame[], encoder: FrameEncoder): Uint8Array {
  if (frames.length === 1) return frames[0]!.bytes(encoder);
  let known = joined.get(frames);
  if (!known) joined.set(frames, (known = new Map()));
  let bytes = known.get(encoder);
  if (!bytes) known.set(encoder, (bytes = Buffer.concat(frames.map((frame) => frame.bytes(encoder)))));
  return bytes;
}

/** A change of one object: what it is now (or was, when deleted), and what it was before. */
export class Change {
  readonly revision: Revision;
  /** The new state, or for a deletion the last one: frames show it under the deletion's revision. */
  readonly item: CachedObject;
  readonly previous: CachedObject | undefined;
  readonly deleted: boolean;
  /** Bytes that it keeps in memory: an object that stays in the store is read only when somebody asks. */
  readonly bytes: number;
  #frames: Partial<Record<FrameType, Frame>> = {};
  constructor(revision: Revision, item: CachedObject, previous: CachedObject | undefined, deleted: boolean) {
    this.revision = revision;
    this.item = item;
    this.previous = previous;
    this.deleted = deleted;
    this.bytes = item instanceof StoredObject ? 0 : item.line.length;
  }

  /**
   * How this change looks to one who sees only what `sees` accepts; undefined when it does not concern them.
   */
  frameFor(sees: (item: CachedObject) => boolean): Frame | undefined {
    const now = !this.deleted && sees(this.item);
    const before = this.previous !== undefined && sees(this.previous);
    if (now) return this.#frame(before ? "MODIFIED" : "ADDED");
    return before ? this.#frame("DELETED") : undefined;
  }

  #frame(type: FrameType): Frame {
    return (this.#frames[type] ??= new Frame(
      type,
      type === "DELETED" ? () => atRevision(this.previous!, this.revision) : this.item,
      this.previous,
    ));
  }
}
