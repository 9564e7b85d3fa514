// Objects read for one answer: stored bytes into which the revision is spliced only while they are copied
// into the response.
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

/** Returns an object for one answer, without copying its bytes. */
export function unspliced(
  key: string,
  revision: Revision,
  encoded: Uint8Array,
  known: NamedSelection,
): CachedObject {
  return new UnsplicedBytes(key, revision, known, encoded);
}

/** Reports whether an object was read for one answer, so that its encodings cannot be shared. */
export const isForOneAnswer = (item: CachedObject | undefined): boolean => item instanceof UnsplicedBytes;

/** Returns the length of an object as a list item, without kind and apiVersion. */
export const itemBytes = (item: CachedObject): number =>
  item instanceof UnsplicedBytes ? item.itemBytes : item.line.length - 1 - item.typeHeaderBytes;

/** Copies a list item into a buffer and returns its length. */
export const copyItem = (item: CachedObject, out: Buffer, at: number): number =>
  item instanceof UnsplicedBytes
    ? item.copyItem(out, at)
    : item.line.copy(out, at, item.typeHeaderBytes, item.line.length - 1);

/** The spliced bytes are made on first access of a property that needs them. */
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
