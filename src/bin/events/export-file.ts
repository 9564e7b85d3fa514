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
  let waiting: string[] = [];
  let reached = (await handle.stat()).size;
  return {
    write: (line) => void waiting.push(text(line)),
    flush: async () => {
      const lines = waiting.length;
      if (lines === 0) return reached;
      const bytes = Buffer.from(waiting.join(""));
      try {
        await handle.appendFile(bytes);
        await handle.datasync();
      } catch (error) {
        // E.g. the disk is full: remove partial lines and retry all of them.
        await handle.truncate(reached).catch(() => undefined);
        throw error;
      }
      waiting = waiting.slice(lines);
      reached += bytes.length;
      return reached;
    },
    rewind: async (bytes) => {
      if (bytes > reached)
        throw new Error(`${file} is shorter than its cursor says; remove both to begin anew`);
      await handle.truncate(bytes);
      reached = bytes;
      waiting = [];
    },
    close: () => handle.close(),
  };
}

/** Returns a target that writes to a stream. Lines may be repeated after a crash. */
export function streamTarget(stream: NodeJS.WritableStream): ExportTarget {
  let waiting: string[] = [];
  return {
    write: (line) => void waiting.push(text(line)),
    flush: async () => {
      const lines = waiting.join("");
      waiting = [];
      if (lines !== "")
        await new Promise<void>((resolve, reject) => {
          stream.write(lines, (error) => (error ? reject(error) : resolve()));
        });
      return 0;
    },
    rewind: async () => void (waiting = []),
    close: async () => undefined,
  };
}
