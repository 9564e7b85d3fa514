// A small file next to a volume that records how to tear it down. It is written atomically, even on a full
// disk.
import { readFile, rename, rm, writeFile } from "node:fs/promises";

const draftOf = (path: string): string => `${path}.new`;

export async function writeRecord(path: string, value: object): Promise<void> {
  const draft = draftOf(path);
  try {
    await writeFile(draft, JSON.stringify(value), { mode: 0o600 });
    await rename(draft, path);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
}

/** Returns undefined if there is no valid record. */
export async function readRecord(path: string): Promise<object | undefined> {
  try {
    const found: unknown = JSON.parse(await readFile(path, "utf8"));
    return typeof found === "object" && found !== null ? found : undefined;
  } catch {
    return undefined;
  }
}

/** Removes the draft left by an agent that was killed while writing. */
export const removeDraft = (path: string): Promise<void> => rm(draftOf(path), { force: true });

export async function removeRecord(path: string): Promise<void> {
  await removeDraft(path);
  await rm(path, { force: true });
}
