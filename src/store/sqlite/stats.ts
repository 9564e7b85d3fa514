// Space usage of an embedded store by resource. Another process may have the store open: rows are read in
// short steps, so that its write-ahead log can be checkpointed in the meantime.

import { existsSync, statSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { resourceOf } from "../encryption/survey.ts";
import { storeFile } from "./files.ts";
import { damageOf } from "./reader.ts";

export interface ResourceSpace {
  /** `pods`, or `example.com/widgets`. */
  readonly resource: string;
  readonly objects: number;
  readonly bytes: number;
  readonly largestBytes: number;
  /** Replaced or deleted versions that wait for compaction, and deletion markers. */
  readonly oldVersions: number;
  readonly oldBytes: number;
}

export interface StoreSpace {
  /** Sorted by size, largest first. */
  readonly resources: readonly ResourceSpace[];
  readonly fileBytes: number;
  /** Free space within the file, used before the file grows. */
  readonly freeBytes: number;
  readonly logBytes: number;
}

type Row = [revision: number, key: string, created: number, before: number, bytes: number | null];
const rowsPerStep = 5000;

export async function storeSpace(dir: string): Promise<StoreSpace> {
  const file = storeFile(dir);
  if (!existsSync(file)) throw new Error(`there is no store in ${dir}`);
  const db = new DatabaseSync(file, { readOnly: true, timeout: 5000 });
  try {
    const pragma = (name: string): number =>
      Number(Object.values(db.prepare(`PRAGMA ${name}`).get() ?? {})[0]);
    const resources = await resourceSpace(db);
    return {
      resources: resources.toSorted((a, b) => b.bytes + b.oldBytes - a.bytes - a.oldBytes),
      fileBytes: statSync(file).size,
      freeBytes: pragma("freelist_count") * pragma("page_size"),
      logBytes: statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0,
    };
  } catch (error) {
    throw damageOf(file, error) ?? error;
  } finally {
    db.close();
  }
}

/**
 * Reads from the newest row to the oldest, so that a version is known to be replaced when its row is read.
 */
async function resourceSpace(db: DatabaseSync): Promise<ResourceSpace[]> {
  const found = new Map<string, { -readonly [K in keyof ResourceSpace]: ResourceSpace[K] }>();
  const replaced = new Set<number>();
  const step = db.prepare(
    "SELECT log.revision, key, created, before, length(bytes) FROM log LEFT JOIN value USING (revision) WHERE log.revision < ? ORDER BY log.revision DESC LIMIT ?",
  );
  step.setReturnArrays(true);
  for (let below = Number.MAX_SAFE_INTEGER; ;) {
    const rows = step.all(below, rowsPerStep) as unknown as Row[];
    for (const [revision, key, created, before, length] of rows) {
      const resource = resourceOf(key.slice(key.indexOf("/", 1) + 1));
      const space = found.getOrInsertComputed(resource, () => ({
        resource,
        objects: 0,
        bytes: 0,
        largestBytes: 0,
        oldVersions: 0,
        oldBytes: 0,
      }));
      const bytes = length ?? 0;
      if (created < 0 || replaced.delete(revision)) {
        space.oldVersions++;
        space.oldBytes += bytes;
      } else {
        space.objects++;
        space.bytes += bytes;
        space.largestBytes = Math.max(space.largestBytes, bytes);
      }
      if (before > 0) replaced.add(before);
    }
    if (rows.length < rowsPerStep) return [...found.values()];
    below = rows.at(-1)![0];
    await new Promise((resolve) => setImmediate(resolve));
  }
}
