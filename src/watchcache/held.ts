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
  const line = Buffer.allocUnsafe(bytes.length + mark.length + 1);
  bytes.copy(line, 0, 0, at);
  line.write(mark, at, "latin1");
  bytes.copy(line, at + mark.length, at);
  line[line.length - 1] = newline;
  return {
    key,
    namespace: known.namespace,
    name: known.name,
    revision,
    labels: known.labels,
    fields: known.fields,
    json: line.subarray(0, -1),
    line,
    typeHeaderBytes: metadata,
    revisionStart: at + mark.length - 1 - String(revision).length,
    revisionEnd: at + mark.length - 1,
  };
}

/** The same object under another revision, as a deletion shows it. */
export function heldAt(held: Held, revision: Revision): Held {
  const text = String(revision);
  const line = Buffer.concat([held.line.subarray(0, held.revisionStart), Buffer.from(text), held.line.subarray(held.revisionEnd)]);
  return { ...held, revision, line, json: line.subarray(0, -1), revisionEnd: held.revisionStart + text.length };
}
