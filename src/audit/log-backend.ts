// Events as lines of a file or of standard output. In blocking mode the lines of one turn of the event loop are
// written together, before any of their answers leaves: a write costs more than what is in it.
import type { Clock } from "#base";
import type { AuditBackend, AuditMode } from "./backend.ts";
import type { AuditEvent } from "./event.ts";
import { eventText, legacyText } from "./event-text.ts";
import type { RotatingFile } from "./rotating-file.ts";

export interface LogBackendOptions {
  readonly format: "json" | "legacy";
  readonly apiVersion: string;
  readonly file: RotatingFile;
  readonly mode: AuditMode;
  readonly clock: Clock;
  /** Told of gathered events that could not be written. */
  readonly lost: (count: number, error: Error) => void;
}

/** More than this is not gathered before it is written. */
const mostGathered = 64 * 1024;
/** Events of answers that never leave, because nobody waits for them any more, are written after this time. */
const unsentMilliseconds = 50;

export function logBackend({ format, apiVersion, file, mode, clock, lost }: LogBackendOptions): AuditBackend {
  const line = format === "json" ? (event: AuditEvent) => eventText(event, apiVersion) : legacyText;
  let gathered: AuditEvent[] = [];
  let gatheredBytes = 0;
  let isSoon = false;
  let cancelFlush: (() => void) | undefined;
  // Texts are made here and not when their events come: one after the other they take a fifth less.
  const flush = (): void => {
    if (gathered.length === 0) return;
    const events = gathered;
    gathered = [];
    gatheredBytes = 0;
    try {
      file.write(`${events.map(line).join("\n")}\n`);
    } catch (error) {
      lost(events.length, error as Error);
    }
  };
  const flushSoon = (): true => {
    setImmediate(() => {
      isSoon = false;
      flush();
    });
    return true;
  };
  const gather = (event: AuditEvent): void => {
    const bytes = aboutBytes(event);
    if (gatheredBytes + bytes >= mostGathered) flush();
    gathered.push(event);
    gatheredBytes += bytes;
    // What a request is about to do is known though it ends the server.
    if (event.stage === "RequestReceived") isSoon ||= flushSoon();
    else
      cancelFlush ??= clock.after(unsentMilliseconds, () => {
        cancelFlush = undefined;
        flush();
      });
  };
  const writeNow = (events: readonly AuditEvent[]): Promise<void> => {
    flush();
    try {
      for (const text of joined(events.map(line))) file.write(text);
      return Promise.resolve();
    } catch (error) {
      return Promise.reject(error);
    }
  };
  /** A request that fails with its first event waits for it; a batch is not gathered once more. */
  const isAwaited = ({ stage }: AuditEvent): boolean =>
    mode === "batch" || (mode === "blocking-strict" && stage === "RequestReceived");
  return {
    process: (events) => {
      if (events.some(isAwaited)) return writeNow(events);
      for (const event of events) gather(event);
      return undefined;
    },
    flush,
    close: async () => {
      cancelFlush?.();
      flush();
      await file.close();
    },
  };
}

/** What most events take, besides their bodies. */
const usualBytes = 1024;
const aboutBytes = ({ requestObject = "", responseObject = "" }: AuditEvent): number =>
  usualBytes + requestObject.length + responseObject.length;

/** Lines joined to texts of a good size. */
function* joined(lines: readonly string[]): Generator<string> {
  let text = "";
  for (const line of lines) {
    if (text !== "" && text.length + line.length >= mostGathered) {
      yield text;
      text = "";
    }
    text += `${line}\n`;
  }
  yield text;
}

/** Standard output in place of a file. */
export const standardOutput = (write: (text: string) => void): RotatingFile => ({
  write,
  close: async () => undefined,
});
