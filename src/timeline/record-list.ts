// The records of the journal in order, with the memory they take. The oldest are removed first; their places are
// given up in groups, because copying the rest each time would cost more than recording.
//
//   records   –  –  –  r4 r5 r6        first = 3: three records were removed
import type { JournalRecord } from "./journal-record.ts";

interface ListedRecord {
  readonly record: JournalRecord;
  readonly bytes: number;
}

const minRemoved = 1024;

export class RecordList {
  #records: (ListedRecord | undefined)[] = [];
  #first = 0;
  /** The estimated memory of all records. */
  bytes = 0;

  get oldest(): JournalRecord | undefined {
    return this.#records[this.#first]?.record;
  }

  add(record: JournalRecord): void {
    const bytes = sizeInMemory(record);
    this.#records.push({ record, bytes });
    this.bytes += bytes;
  }

  /** Removes the oldest record. */
  removeOldest(): void {
    const oldest = this.#records[this.#first];
    if (!oldest) return;
    this.bytes -= oldest.bytes;
    this.#records[this.#first++] = undefined;
    if (this.#first < minRemoved || this.#first < this.#records.length / 2) return;
    this.#records = this.#records.slice(this.#first);
    this.#first = 0;
  }

  /** Returns the records, without the first `skipped` ones. */
  all(skipped = 0): JournalRecord[] {
    return this.#records.slice(this.#first + skipped).map((listed) => listed!.record);
  }
}

/** Estimates the memory a record takes: its members, and two bytes per character of its strings. */
function sizeInMemory({ namespace, name, managers, owners, fields }: JournalRecord): number {
  let bytes = 400 + 2 * (namespace.length + name.length);
  for (const manager of managers ?? []) bytes += 16 + 2 * manager.length;
  for (const owner of owners ?? []) bytes += 300 + 2 * owner.name.length;
  for (const { path, from = "", to = "" } of fields ?? [])
    bytes += 120 + 2 * (path.length + from.length + to.length);
  return bytes;
}
