// Exported events as JSON lines: into a file that is flushed to disk, or to standard output.
import { type FileHandle, open } from "node:fs/promises";
import type { ExportTarget, ExportedLine } from "./export.ts";

const text = (line: ExportedLine): string => `${JSON.stringify(line)}\n`;

/** Lines behind the cursor that a crash has left are cut off: none is there twice. */
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
        // A full disk, say: nothing is left half written, and everything is tried again.
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

/** A crash may leave lines that come again after it. */
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
