// Checks that a host path has the type the pod specifies, and creates it if the type says so.
import { open, stat } from "node:fs/promises";
import { makeFolderAsync } from "#base";

const kinds = {
  Directory: ["a directory", "isDirectory"],
  File: ["a file", "isFile"],
  Socket: ["a socket file", "isSocket"],
  CharDevice: ["a character device", "isCharacterDevice"],
  BlockDevice: ["a block device", "isBlockDevice"],
} as const;

/**
 * Throws if the path does not have the type. The empty type accepts anything and leaves a missing path to the
 * runtime.
 */
export async function checkHostPath(path: string, type: string): Promise<void> {
  const failed = (why: string): Error => new Error(`hostPath type check failed: ${why}`);
  if (type === "") return;
  const found = await stat(path).catch((error: unknown) => {
    if ((error as { code?: string }).code === "ENOENT") return undefined;
    throw failed((error as Error).message);
  });
  if (type === "DirectoryOrCreate") {
    if (!found) await makeFolderAsync(path, 0o755);
    else if (!found.isDirectory()) throw failed(`${path} is not a directory`);
    return;
  }
  if (type === "FileOrCreate") {
    if (!found) await (await open(path, "a", 0o644)).close();
    else if (!found.isFile()) throw failed(`${path} is not a file`);
    return;
  }
  const kind = kinds[type as keyof typeof kinds];
  if (!kind) throw failed(`${type} is an invalid volume type`);
  const [words, is] = kind;
  if (!found || !found[is]()) throw failed(`${path} is not ${words}`);
}
