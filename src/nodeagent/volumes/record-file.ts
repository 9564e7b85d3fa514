// A small file beside a volume that says how to take it down again. It is there whole or not at all, however
// full the disk is.
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

/** Undefined when there is none that can be read. */
export async function readRecord(path: string): Promise<object | undefined> {
  try {
    const found: unknown = JSON.parse(await readFile(path, "utf8"));
    return typeof found === "object" && found !== null ? found : undefined;
  } catch {
    return undefined;
  }
}

/** What an agent left that was killed while it wrote. */
export const removeDraft = (path: string): Promise<void> => rm(draftOf(path), { force: true });

export async function removeRecord(path: string): Promise<void> {
  await removeDraft(path);
  await rm(path, { force: true });
}
