// An object as the server holds it: its JSON bytes, and the few words that selectors and indexes need.
//
//   {"kind":"Event","apiVersion":"v1","metadata":{"name":"a","uid":"…","resourceVersion":"42","creation…
//   |<------- typeHeaderBytes ------>|                                revisionStart ^  ^ revisionEnd
//
// A list drops the type header by slicing; another revision is put in by splicing. Nobody parses.
import type { Selectable } from "#base";
import type { Revision } from "#store";

export interface Held extends Selectable {
  /** The store's key. */
  readonly key: string;
  readonly namespace: string;
  readonly name: string;
  readonly revision: Revision;
  /** Canonical JSON of the stored kind, its revision included. */
  readonly json: Buffer;
  /** The same bytes with the newline that ends an answer. */
  readonly line: Buffer;
  /** Where the JSON's first field behind kind and apiVersion starts. */
  readonly typeHeaderBytes: number;
  readonly revisionStart: number;
  readonly revisionEnd: number;
}

/** What a reader finds out about an object once, beside its bytes. */
export interface Known extends Selectable {
  readonly namespace: string;
  readonly name: string;
}

const uidKey = Buffer.from('"uid":"');
const metadataKey = Buffer.from('"metadata":{');
const quote = 0x22;
const newline = 0x0a;

/** Puts the revision into encoded JSON that has none yet, right behind the uid. */
export function hold(key: string, revision: Revision, encoded: Uint8Array, known: Known): Held {
  const bytes = Buffer.from(encoded.buffer, encoded.byteOffset, encoded.byteLength);
  const metadata = bytes.indexOf(metadataKey);
  const uid = bytes.indexOf(uidKey, metadata);
  if (metadata < 0 || uid < 0) throw new Error(`the stored value of ${key} is not an encoded object`);
  const at = bytes.indexOf(quote, uid + uidKey.length) + 1;
  const mark = `,"resourceVersion":"${revision}"`;
  // Memory of its own: a slice of a shared slab would keep its short-lived neighbours alive.
  const line = Buffer.allocUnsafeSlow(bytes.length + mark.length + 1);
  bytes.copy(line, 0, 0, at);
  line.write(mark, at, "latin1");
  bytes.copy(line, at + mark.length, at);
  line[line.length - 1] = newline;
  return new HeldBytes(key, revision, known, line, metadata, at + mark.length - 1);
}

/** The uid stands right before the revision. */
export function uidOf(held: Held): string {
  const end = revisionKeyStart(held) - 1;
  return held.line.toString("latin1", held.line.lastIndexOf(quote, end - 1) + 1, end);
}

const revisionKeyStart = ({ revisionStart }: Held): number => revisionStart - ',"resourceVersion":"'.length;

/** Whether encoded JSON that has no revision yet says what is held. */
export function saysTheSame(held: Held, encoded: Uint8Array): boolean {
  const { line, revisionEnd } = held;
  const start = revisionKeyStart(held);
  const rest = revisionEnd + 1;
  if (encoded.length !== start + line.length - 1 - rest) return false;
  return (
    line.compare(encoded, start, encoded.length, rest, line.length - 1) === 0 &&
    line.compare(encoded, 0, start, 0, start) === 0
  );
}

/** What is held without its revision, for what has none. */
export function withoutRevision(held: Held): Held {
  const at = revisionKeyStart(held);
  const line = Buffer.concat([held.line.subarray(0, at), held.line.subarray(held.revisionEnd + 1)]);
  return { ...held, line, json: line.subarray(0, -1), revisionStart: at, revisionEnd: at };
}

/** The bytes once, and beside them only numbers and words: there may be a million of these. */
class HeldBytes implements Held {
  readonly key: string;
  readonly revision: Revision;
  readonly namespace: string;
  readonly name: string;
  readonly labels: Known["labels"];
  readonly fields: Known["fields"];
  readonly line: Buffer;
  readonly typeHeaderBytes: number;
  readonly revisionEnd: number;
  constructor(
    key: string,
    revision: Revision,
    known: Known,
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

/** The same object under another revision, as a deletion shows it. */
export function heldAt(held: Held, revision: Revision): Held {
  const text = String(revision);
  const line = Buffer.allocUnsafeSlow(
    held.line.length - (held.revisionEnd - held.revisionStart) + text.length,
  );
  held.line.copy(line, 0, 0, held.revisionStart);
  line.write(text, held.revisionStart, "latin1");
  held.line.copy(line, held.revisionStart + text.length, held.revisionEnd);
  return new HeldBytes(
    held.key,
    revision,
    held,
    line,
    held.typeHeaderBytes,
    held.revisionStart + text.length,
  );
}
