// The records of the journal in order, as JSON text: as objects they would be most of what the garbage collector
// visits in a busy server, and they are rarely read. The oldest are removed first; their places are given up in
// groups, because copying the rest each time would cost more than recording.
//
//   records   –  –  –  r4 r5 r6        first = 3: three records were removed
import type { JournalRecord } from "./journal-record.ts";

/** A record as JSON text. */
export interface EncodedRecord {
  readonly sequence: number;
  /** Microseconds since the epoch. */
  readonly time: number;
  readonly text: string;
}

/** Memory of a record besides its text. */
const bytesEach = 100;
const minRemoved = 1024;

export class RecordList {
  #records: (EncodedRecord | undefined)[] = [];
  #first = 0;
  /** The estimated memory of all records. */
  bytes = 0;

  get oldest(): EncodedRecord | undefined {
    return this.#records[this.#first];
  }

  add(record: JournalRecord): EncodedRecord {
    const { sequence, time } = record;
    const encoded = { sequence, time, text: JSON.stringify(record) };
    this.#records.push(encoded);
    this.bytes += sizeOf(encoded);
    return encoded;
  }

  /** Removes the oldest record. */
  removeOldest(): void {
    const { oldest } = this;
    if (!oldest) return;
    this.bytes -= sizeOf(oldest);
    this.#records[this.#first++] = undefined;
    if (this.#first < minRemoved || this.#first < this.#records.length / 2) return;
    this.#records = this.#records.slice(this.#first);
    this.#first = 0;
  }

  /** Returns the records without the first `skipped` ones. Each is parsed when it is reached. */
  all(skipped = 0): Iterable<JournalRecord> {
    return parsed(this.#records.slice(this.#first + skipped));
  }
}

export const parsedRecord = ({ text }: EncodedRecord): JournalRecord => JSON.parse(text) as JournalRecord;

function* parsed(records: readonly (EncodedRecord | undefined)[]): Generator<JournalRecord> {
  for (const record of records) yield parsedRecord(record!);
}

/** Texts with other characters than ASCII take two bytes for each. */
const sizeOf = ({ text }: EncodedRecord): number =>
  bytesEach + (Buffer.byteLength(text) === text.length ? text.length : 2 * text.length);
