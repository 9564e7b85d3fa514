// An object in the watch cache: its encoded JSON, and the labels and fields that selectors and indexes need.
//
//   {"kind":"Event","apiVersion":"v1","metadata":{"name":"a","uid":"…","resourceVersion":"42","creation…
//   |<------- typeHeaderBytes ------>|                                revisionStart ^  ^ revisionEnd
//
// A list drops the type header by slicing; another revision is spliced in. Neither parses the JSON.
import type { Selectable } from "#base";
import type { Revision } from "#store";

export interface CachedObject extends Selectable {
  /** Key in the store. */
  readonly key: string;
  readonly namespace: string;
  readonly name: string;
  readonly revision: Revision;
  /** Canonical JSON of the stored version, including the revision. */
  readonly json: Buffer;
  /** The same bytes with the newline that ends a response. */
  readonly line: Buffer;
  /** Offset of the first JSON field after kind and apiVersion. */
  readonly typeHeaderBytes: number;
  readonly revisionStart: number;
  readonly revisionEnd: number;
}

/** The metadata that a reader extracts once from an object. */
export interface Selected extends Selectable {
  /** Items of lists keep kind and apiVersion. */
  readonly typedItems?: boolean;
  readonly namespace: string;
  readonly name: string;
}

/** The metadata of stored bytes that is known without decoding, and a function that decodes the rest. */
export interface NamedSelection {
  readonly namespace: string;
  readonly name: string;
  select(json: Buffer): Pick<Selectable, "labels" | "fields">;
}

/** The fields that precede the revision, in this order, as far as they are present. */
const fieldsBefore = ["name", "generateName", "namespace", "selfLink", "uid"].map((name) =>
  Buffer.from(`"${name}":"`),
);
const uidKey = fieldsBefore.at(-1)!;
const metadataKey = Buffer.from('"metadata":{');
const quote = 0x22;
const comma = 0x2c;
const backslash = 0x5c;
const newline = 0x0a;

/** Inserts the revision into encoded JSON without one, after the uid or the last field that precedes it. */
export function withRevision(
  key: string,
  revision: Revision,
  encoded: Uint8Array,
  known: Selected,
): CachedObject {
  const { line, metadata, revisionEnd } = spliced(key, revision, encoded);
  return new CachedBytes(key, revision, known, line, known.typedItems ? 1 : metadata, revisionEnd);
}

/** Same for bytes that have not been decoded: labels and fields are decoded on first access. */
export function fromStored(
  key: string,
  revision: Revision,
  encoded: Uint8Array,
  known: NamedSelection,
): CachedObject {
  const { line, metadata, revisionEnd } = spliced(key, revision, encoded);
  return new StoredBytes(key, revision, known, line, metadata, revisionEnd);
}

interface Spliced {
  readonly line: Buffer;
  /** Offset of the metadata. */
  readonly metadata: number;
  readonly revisionEnd: number;
}

/** Returns the encoded revision field of the metadata. */
export const revisionMark = (revision: Revision): string => `,"resourceVersion":"${revision}"`;

/** Returns the offset of the metadata, and that of the revision within it. */
export function placesIn(key: string, bytes: Buffer): { readonly metadata: number; readonly at: number } {
  const metadata = bytes.indexOf(metadataKey);
  const first = metadata + metadataKey.length;
  let at = first;
  for (const field of fieldsBefore) {
    const from = bytes[at] === comma ? at + 1 : at;
    if (standsAt(bytes, from, field)) at = endOfText(bytes, from + field.length);
  }
  if (metadata < 0 || at === first) throw new Error(`the stored value of ${key} is not an encoded object`);
  return { metadata, at };
}

/** Returns the offset after the closing quote. */
function endOfText(bytes: Buffer, from: number): number {
  let at = from;
  for (; at < bytes.length && bytes[at] !== quote; at++) if (bytes[at] === backslash) at++;
  return at + 1;
}

function standsAt(bytes: Buffer, from: number, wanted: Buffer): boolean {
  for (let i = 0; i < wanted.length; i++) if (bytes[from + i] !== wanted[i]) return false;
  return true;
}

export const bufferOf = ({ buffer, byteOffset, byteLength }: Uint8Array): Buffer =>
  Buffer.from(buffer, byteOffset, byteLength);

function spliced(key: string, revision: Revision, encoded: Uint8Array): Spliced {
  const bytes = bufferOf(encoded);
  const { metadata, at } = placesIn(key, bytes);
  const mark = revisionMark(revision);
  // A separate allocation: a slice of a shared slab would keep the whole slab alive.
  const line = Buffer.allocUnsafeSlow(bytes.length + mark.length + 1);
  bytes.copy(line, 0, 0, at);
  line.write(mark, at, "latin1");
  bytes.copy(line, at + mark.length, at);
  line[line.length - 1] = newline;
  return { line, metadata, revisionEnd: at + mark.length - 1 };
}

/** Returns the uid, which precedes the revision, or an empty text if the stored object has none. */
export function uidOf(cached: CachedObject): string {
  const end = revisionKeyStart(cached) - 1;
  const start = cached.line.lastIndexOf(quote, end - 1) + 1;
  const isUid = standsAt(cached.line, start - uidKey.length, uidKey);
  return isUid ? cached.line.toString("latin1", start, end) : "";
}

const revisionKeyStart = ({ revisionStart }: CachedObject): number =>
  revisionStart - ',"resourceVersion":"'.length;

/** Reports whether encoded JSON without a revision equals the cached object. */
export function sameContent(cached: CachedObject, encoded: Uint8Array): boolean {
  const { line, revisionEnd } = cached;
  const start = revisionKeyStart(cached);
  const rest = revisionEnd + 1;
  if (encoded.length !== start + line.length - 1 - rest) return false;
  return (
    line.compare(encoded, start, encoded.length, rest, line.length - 1) === 0 &&
    line.compare(encoded, 0, start, 0, start) === 0
  );
}

/**
 * Returns the cached object without its revision, or with the one a client sent, for the result of a dry run.
 */
export function withoutRevision(cached: CachedObject, madeUp?: string): CachedObject {
  const at = revisionKeyStart(cached);
  const shown = madeUp ? `,"resourceVersion":${JSON.stringify(madeUp)}` : "";
  const rest = cached.line.subarray(cached.revisionEnd + 1);
  const line = Buffer.concat([cached.line.subarray(0, at), Buffer.from(shown), rest]);
  const { key, namespace, name, labels, fields, revision, typeHeaderBytes } = cached;
  const json = line.subarray(0, -1);
  const known = { key, namespace, name, labels, fields, revision };
  return { ...known, line, json, typeHeaderBytes, revisionStart: at, revisionEnd: at };
}

/** Holds the bytes once, and besides them only numbers and strings: there may be a million instances. */
class CachedBytes implements CachedObject {
  readonly key: string;
  readonly revision: Revision;
  readonly namespace: string;
  readonly name: string;
  readonly labels: Selected["labels"];
  readonly fields: Selected["fields"];
  readonly line: Buffer;
  readonly typeHeaderBytes: number;
  readonly revisionEnd: number;
  constructor(
    key: string,
    revision: Revision,
    known: Selected,
    line: Buffer,
    typeHeaderBytes: number,
    revisionEnd: number,
  ) {
    this.key = key;
    this.revision = revision;
    this.namespace = known.namespace;
    this.name = known.name;
    this.labels = known.labels;
    this.fields = known.fields;
    this.line = line;
    this.typeHeaderBytes = typeHeaderBytes;
    this.revisionEnd = revisionEnd;
  }
  get json(): Buffer {
    return this.line.subarray(0, -1);
  }
  get revisionStart(): number {
    return this.revisionEnd - String(this.revision).length;
  }
}

/** Decodes labels and fields on first access: most objects are only sent. */
class StoredBytes implements CachedObject {
  readonly key: string;
  readonly revision: Revision;
  readonly namespace: string;
  readonly name: string;
  readonly line: Buffer;
  readonly typeHeaderBytes: number;
  readonly revisionEnd: number;
  #select: NamedSelection["select"] | undefined;
  #labels: Selectable["labels"] | undefined = undefined;
  #fields: Selectable["fields"] | undefined = undefined;
  constructor(
    key: string,
    revision: Revision,
    known: NamedSelection,
    line: Buffer,
    typeHeaderBytes: number,
    revisionEnd: number,
  ) {
    this.key = key;
    this.revision = revision;
    this.namespace = known.namespace;
    this.name = known.name;
    this.#select = known.select;
    this.line = line;
    this.typeHeaderBytes = typeHeaderBytes;
    this.revisionEnd = revisionEnd;
  }
  get labels(): Selectable["labels"] {
    this.#decode();
    return this.#labels!;
  }
  get fields(): Selectable["fields"] {
    this.#decode();
    return this.#fields!;
  }
  get json(): Buffer {
    return this.line.subarray(0, -1);
  }
  get revisionStart(): number {
    return this.revisionEnd - String(this.revision).length;
  }
  #decode(): void {
    if (!this.#select) return;
    const { labels, fields } = this.#select(this.json);
    this.#labels = labels;
    this.#fields = fields;
    this.#select = undefined;
  }
}

/** Returns the object with another revision, as a deletion shows it. */
export function atRevision(cached: CachedObject, revision: Revision): CachedObject {
  const text = String(revision);
  const line = Buffer.allocUnsafeSlow(
    cached.line.length - (cached.revisionEnd - cached.revisionStart) + text.length,
  );
  cached.line.copy(line, 0, 0, cached.revisionStart);
  line.write(text, cached.revisionStart, "latin1");
  cached.line.copy(line, cached.revisionStart + text.length, cached.revisionEnd);
  return new CachedBytes(
    cached.key,
    revision,
    cached,
    line,
    cached.typeHeaderBytes,
    cached.revisionStart + text.length,
  );
}
