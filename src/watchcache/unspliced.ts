// Objects that are read for one answer: bytes as they are stored, into which the revision is put while they are copied
// into the answer.
import type { Selectable } from "#base";
import type { Revision } from "#store";
import {
  type CachedObject,
  type NamedSelection,
  bufferOf,
  fromStored,
  placesIn,
  revisionMark,
} from "./cached-object.ts";

/** An object for one answer, without a copy of its bytes. */
export function unspliced(
  key: string,
  revision: Revision,
  encoded: Uint8Array,
  known: NamedSelection,
): CachedObject {
  return new UnsplicedBytes(key, revision, known, encoded);
}

/** Whether an object was read for one answer: what is made of it is of no use to others. */
export const isForOneAnswer = (item: CachedObject | undefined): boolean => item instanceof UnsplicedBytes;

/** How long an object is as an item of a list, without kind and apiVersion. */
export const itemBytes = (item: CachedObject): number =>
  item instanceof UnsplicedBytes ? item.itemBytes : item.line.length - 1 - item.typeHeaderBytes;

/** Puts an item of a list into a buffer; gives its length. */
export const copyItem = (item: CachedObject, out: Buffer, at: number): number =>
  item instanceof UnsplicedBytes
    ? item.copyItem(out, at)
    : item.line.copy(out, at, item.typeHeaderBytes, item.line.length - 1);

/** What needs bytes with the revision makes them when it is asked for. */
class UnsplicedBytes implements CachedObject {
  readonly key: string;
  readonly revision: Revision;
  readonly #known: NamedSelection;
  readonly #bytes: Buffer;
  readonly #metadata: number;
  readonly #at: number;
  #made: CachedObject | undefined;
  constructor(key: string, revision: Revision, known: NamedSelection, encoded: Uint8Array) {
    this.key = key;
    this.revision = revision;
    this.#known = known;
    this.#bytes = bufferOf(encoded);
    const { metadata, at } = placesIn(key, this.#bytes);
    this.#metadata = metadata;
    this.#at = at;
  }
  get itemBytes(): number {
    return this.#bytes.length - this.#metadata + revisionMark(this.revision).length;
  }
  copyItem(out: Buffer, start: number): number {
    let at = start + this.#bytes.copy(out, start, this.#metadata, this.#at);
    at += out.write(revisionMark(this.revision), at, "latin1");
    return at + this.#bytes.copy(out, at, this.#at) - start;
  }
  get namespace(): string {
    return this.#known.namespace;
  }
  get name(): string {
    return this.#known.name;
  }
  get labels(): Selectable["labels"] {
    return this.#spliced().labels;
  }
  get fields(): Selectable["fields"] {
    return this.#spliced().fields;
  }
  get json(): Buffer {
    return this.#spliced().json;
  }
  get line(): Buffer {
    return this.#spliced().line;
  }
  get typeHeaderBytes(): number {
    return this.#metadata;
  }
  get revisionStart(): number {
    return this.#spliced().revisionStart;
  }
  get revisionEnd(): number {
    return this.#spliced().revisionEnd;
  }
  #spliced(): CachedObject {
    return (this.#made ??= fromStored(this.key, this.revision, this.#bytes, this.#known));
  }
}
