// Events as lines of a file or of standard output. Lines of one turn of the event loop are written together.
import type { AuditBackend } from "./backend.ts";
import { type AuditEvent, eventText, legacyText } from "./event.ts";
import type { RotatingFile } from "./rotating-file.ts";

export interface LogBackendOptions {
  readonly format: "json" | "legacy";
  readonly apiVersion: string;
  readonly file: RotatingFile;
  /** Whether a request waits for its first event, too. */
  readonly strict: boolean;
}

/** More than this is not gathered before it is written. */
const mostGatheredBytes = 256 * 1024;

export function logBackend({ format, apiVersion, file, strict }: LogBackendOptions): AuditBackend {
  let lines: Buffer[] = [];
  let bytes = 0;
  let waiting: PromiseWithResolvers<void> | undefined;
  const flush = (): void => {
    if (!waiting) return;
    const { resolve, reject } = waiting;
    const written = lines;
    lines = [];
    bytes = 0;
    waiting = undefined;
    try {
      writeLines(file, written);
      resolve();
    } catch (error) {
      reject(error);
    }
  };
  const text = (event: AuditEvent): string =>
    format === "json" ? eventText(event, apiVersion) : legacyText(event);
  return {
    process: (events) => {
      if (!waiting) {
        waiting = Promise.withResolvers<void>();
        setImmediate(flush);
      }
      const { promise } = waiting;
      for (const event of events) {
        const line = Buffer.from(`${text(event)}\n`);
        lines.push(line);
        bytes += line.length;
      }
      if (bytes >= mostGatheredBytes) flush();
      if (!strict && events.every(({ stage }) => stage === "RequestReceived")) {
        // The event of a later stage, behind it in the file, tells of a failure.
        promise.catch(() => undefined);
        return undefined;
      }
      return promise;
    },
    close: async () => {
      flush();
      await file.close();
    },
  };
}

/** All at once where that stays below the limit of the file, else line by line. */
function writeLines(file: RotatingFile, lines: readonly Buffer[]): void {
  if (lines.length === 1) return file.write(lines[0]!);
  let at = 0;
  while (at < lines.length) {
    const from = at;
    let size = 0;
    while (at < lines.length && (size === 0 || size + lines[at]!.length <= mostTogether))
      size += lines[at++]!.length;
    file.write(Buffer.concat(lines.slice(from, at)));
  }
}
const mostTogether = 64 * 1024;

/** Standard output in place of a file. */
export const standardOutput = (write: (bytes: Uint8Array) => void): RotatingFile => ({
  write,
  close: async () => undefined,
});
