// Writes events as lines to a file or standard output. In blocking mode the lines of one turn of the event
// loop are written together, before any of their responses is sent, because a write call costs more than its
// content.
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
  /** Called with buffered events that could not be written. */
  readonly lost: (count: number, error: Error) => void;
}

/** Maximum size of the buffer; more than that is written at once. */
const mostGathered = 64 * 1024;
/** Delay after which events are written whose response is never sent, because its client has disconnected. */
const unsentMilliseconds = 50;

export function logBackend({ format, apiVersion, file, mode, clock, lost }: LogBackendOptions): AuditBackend {
  const line = format === "json" ? (event: AuditEvent) => eventText(event, apiVersion) : legacyText;
  let gathered: AuditEvent[] = [];
  let gatheredBytes = 0;
  let isSoon = false;
  let cancelFlush: (() => void) | undefined;
  // Events are encoded here rather than on arrival: encoding them in a row takes a fifth less time.
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
    // The received request must be in the log even if it crashes the server.
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
  /**
   * Reports whether the caller waits for the write: in blocking-strict mode the first event may fail the
   * request, and a batch is not buffered a second time.
   */
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

/** Typical size of an event without its bodies. */
const usualBytes = 1024;
const aboutBytes = ({ requestObject = "", responseObject = "" }: AuditEvent): number =>
  usualBytes + requestObject.length + responseObject.length;

/** Joins lines to chunks of bounded size. */
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

/** A RotatingFile that writes to standard output. */
export const standardOutput = (write: (text: string) => void): RotatingFile => ({
  write,
  close: async () => undefined,
});
