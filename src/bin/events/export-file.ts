// Export targets for JSON lines: a file that is synced to disk, and standard output.
import { type FileHandle, open } from "node:fs/promises";
import type { ExportTarget, ExportedLine } from "./export.ts";

const text = (line: ExportedLine): string => `${JSON.stringify(line)}\n`;

/**
 * Returns a target that appends to a file. Lines after the cursor, left by a crash, are truncated, so that no
 * line occurs twice.
 */
export async function fileTarget(file: string): Promise<ExportTarget> {
  const handle: FileHandle = await open(file, "a+", 0o600);
  let pending: string[] = [];
  let length = (await handle.stat()).size;
  return {
    write: (line) => void pending.push(text(line)),
    flush: async () => {
      const lines = pending.length;
      if (lines === 0) return length;
      const bytes = Buffer.from(pending.join(""));
      try {
        await handle.appendFile(bytes);
        await handle.datasync();
      } catch (error) {
        // E.g. the disk is full: remove partial lines and retry all of them.
        await handle.truncate(length).catch(() => undefined);
        throw error;
      }
      pending = pending.slice(lines);
      length += bytes.length;
      return length;
    },
    rewind: async (bytes) => {
      if (bytes > length)
        throw new Error(`${file} is shorter than its cursor indicates; remove both to start over`);
      await handle.truncate(bytes);
      length = bytes;
      pending = [];
    },
    close: () => handle.close(),
  };
}

/** Returns a target that writes to a stream. Lines may be repeated after a crash. */
export function streamTarget(stream: NodeJS.WritableStream): ExportTarget {
  let pending: string[] = [];
  return {
    write: (line) => void pending.push(text(line)),
    flush: async () => {
      const lines = pending.join("");
      pending = [];
      if (lines !== "")
        await new Promise<void>((resolve, reject) => {
          stream.write(lines, (error) => (error ? reject(error) : resolve()));
        });
      return 0;
    },
    rewind: async () => void (pending = []),
    close: async () => undefined,
  };
}
