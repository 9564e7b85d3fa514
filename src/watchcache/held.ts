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

/** Puts the revision into encoded JSON that has none yet, right behind the uid. */
export function hold(key: string, revision: Revision, encoded: Uint8Array, known: Known): Held {
  const bytes = Buffer.from(encoded.buffer, encoded.byteOffset, encoded.byteLength);
  const metadata = bytes.indexOf(metadataKey);
  const uid = bytes.indexOf(uidKey, metadata);
  if (metadata < 0 || uid < 0) throw new Error(`the stored value of ${key} is not an encoded object`);
  const at = bytes.indexOf(quote, uid + uidKey.length) + 1;
  const mark = `,"resourceVersion":"${revision}"`;
  const json = Buffer.allocUnsafe(bytes.length + mark.length);
  bytes.copy(json, 0, 0, at);
  json.write(mark, at, "latin1");
  bytes.copy(json, at + mark.length, at);
  return {
    key,
    namespace: known.namespace,
    name: known.name,
    revision,
    labels: known.labels,
    fields: known.fields,
    json,
    typeHeaderBytes: metadata,
    revisionStart: at + mark.length - 1 - String(revision).length,
    revisionEnd: at + mark.length - 1,
  };
}

/** The same object under another revision, as a deletion shows it. */
export function heldAt(held: Held, revision: Revision): Held {
  const text = String(revision);
  const json = Buffer.concat([held.json.subarray(0, held.revisionStart), Buffer.from(text), held.json.subarray(held.revisionEnd)]);
  return { ...held, revision, json, revisionEnd: held.revisionStart + text.length };
}
