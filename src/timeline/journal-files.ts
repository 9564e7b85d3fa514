// The journal on disk: JSON lines in numbered segments, appended in batches. The oldest segment is deleted as
// a whole once all its records have expired.
//
//   journal-000000000001.jsonl   journal-000000004097.jsonl     the number is that of the segment's first record
import { type FileHandle, open, readFile, readdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { makeFolder } from "#base";
import type { JournalRecord } from "./journal-record.ts";
import type { EncodedRecord } from "./record-list.ts";

/** The start of a journal: later changes belong in it. */
export interface JournalBeginning {
  /** Microseconds since the epoch. */
  readonly time: number;
  readonly revision: number;
}

export interface JournalFiles {
  /** Returns what was recorded at the first start; undefined before it. */
  beginning(): Promise<JournalBeginning | undefined>;
  begin(beginning: JournalBeginning): Promise<void>;
  /** Returns all records, oldest first. Records that a crash left incomplete are skipped. */
  read(): Promise<readonly JournalRecord[]>;
  append(records: readonly EncodedRecord[]): Promise<void>;
  /** Deletes segments that end before this record. */
  forgetBefore(sequence: number): Promise<void>;
  close(): Promise<void>;
}

interface Segment {
  readonly first: number;
  readonly file: string;
}

/** Opens the journal in a folder. Throws if the folder cannot be created. */
export function journalFiles(folder: string, segmentBytes: number): JournalFiles {
  makeFolder(folder);
  let segments: Segment[] = [];
  let current: { readonly handle: FileHandle; bytes: number } | undefined;

  const segmentFrom = (first: number): Segment => ({
    first,
    file: join(folder, `journal-${String(first).padStart(12, "0")}.jsonl`),
  });

  const close = async (): Promise<void> => {
    const { handle } = current ?? {};
    current = undefined;
    await handle?.close();
  };

  const note = join(folder, "beginning.json");

  return {
    beginning: async () => {
      try {
        const { time, revision } = JSON.parse(await readFile(note, "utf8")) as Partial<JournalBeginning>;
        return typeof time === "number" && typeof revision === "number" ? { time, revision } : undefined;
      } catch {
        return undefined;
      }
    },
    begin: (beginning) => writeFile(note, `${JSON.stringify(beginning)}\n`, { mode: 0o600 }),
    read: async () => {
      const found = (await readdir(folder)).flatMap((name) => {
        const number = /^journal-([0-9]{12})\.jsonl$/.exec(name)?.[1];
        return number === undefined ? [] : [segmentFrom(Number(number))];
      });
      segments = found.sort((a, b) => a.first - b.first);
      const records: JournalRecord[] = [];
      // One by one: a segment may have more records than a call can take arguments.
      for (const { file } of segments)
        for (const record of parsed(await readFile(file, "utf8"))) records.push(record);
      return records;
    },
    append: async (records) => {
      if (records.length === 0) return;
      if (current && current.bytes > segmentBytes) await close();
      if (!current) {
        // Every start begins a new segment, so that nothing is appended to an incomplete record left by a
        // crash.
        const segment = segmentFrom(records[0]!.sequence);
        current = { handle: await open(segment.file, "w", 0o600), bytes: 0 };
        segments = [...segments.filter(({ first }) => first !== segment.first), segment];
      }
      const bytes = Buffer.from(records.map(({ text }) => `${text}\n`).join(""));
      current.bytes += bytes.length;
      await current.handle.appendFile(bytes);
    },
    forgetBefore: async (sequence) => {
      while (segments.length > 1 && segments[1]!.first <= sequence) {
        const [oldest] = segments;
        segments = segments.slice(1);
        await rm(oldest!.file, { force: true });
      }
    },
    close,
  };
}

function parsed(text: string): JournalRecord[] {
  return text.split("\n").flatMap((line) => {
    try {
      const record = JSON.parse(line) as JournalRecord;
      return typeof record.sequence === "number" && typeof record.time === "number" ? [record] : [];
    } catch {
      return [];
    }
  });
}
