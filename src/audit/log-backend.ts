// Events as lines of a file or of standard output. Lines of one turn of the event loop are written together, and
// their requests wait for that: a write costs more than what is in it.
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
const mostGathered = 64 * 1024;

export function logBackend({ format, apiVersion, file, strict }: LogBackendOptions): AuditBackend {
  const line = (event: AuditEvent): string =>
    `${format === "json" ? eventText(event, apiVersion) : legacyText(event)}\n`;
  let lines = "";
  let waiting: PromiseWithResolvers<void> | undefined;
  const flush = (): void => {
    if (!waiting) return;
    const { resolve, reject } = waiting;
    const text = lines;
    lines = "";
    waiting = undefined;
    try {
      file.write(text);
      resolve();
    } catch (error) {
      reject(error);
    }
  };
  const gather = (event: AuditEvent): Promise<void> => {
    const text = line(event);
    if (lines.length + text.length > mostGathered) flush();
    if (!waiting) {
      waiting = Promise.withResolvers<void>();
      setImmediate(flush);
    }
    lines += text;
    return waiting.promise;
  };
  return {
    process: (events) => {
      const stored = events.length === 1 ? gather(events[0]!) : together(events.map(gather));
      if (strict || events.some(({ stage }) => stage !== "RequestReceived")) return stored;
      // The event of a later stage, behind it in the file, tells of a failure.
      stored.catch(() => undefined);
      return undefined;
    },
    close: async () => {
      flush();
      await file.close();
    },
  };
}

const together = (writes: readonly Promise<void>[]): Promise<void> =>
  Promise.all(new Set(writes)).then(() => undefined);

/** Standard output in place of a file. */
export const standardOutput = (write: (text: string) => void): RotatingFile => ({
  write,
  close: async () => undefined,
});
