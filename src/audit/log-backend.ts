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
const mostGathered = 256 * 1024;

export function logBackend({ format, apiVersion, file, strict }: LogBackendOptions): AuditBackend {
  let lines: string[] = [];
  let size = 0;
  let waiting: PromiseWithResolvers<void> | undefined;
  const flush = (): void => {
    if (!waiting) return;
    const { resolve, reject } = waiting;
    const written = lines;
    lines = [];
    size = 0;
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
        const line = `${text(event)}
`;
        lines.push(line);
        size += line.length;
      }
      if (size >= mostGathered) flush();
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

/** Many lines at once: a write costs more than what is in it. */
function writeLines(file: RotatingFile, lines: readonly string[]): void {
  for (let at = 0; at < lines.length;) {
    let text = lines[at++]!;
    while (at < lines.length && text.length + lines[at]!.length <= mostTogether) text += lines[at++]!;
    file.write(Buffer.from(text));
  }
}
const mostTogether = 64 * 1024;

/** Standard output in place of a file. */
export const standardOutput = (write: (bytes: Uint8Array) => void): RotatingFile => ({
  write,
  close: async () => undefined,
});
