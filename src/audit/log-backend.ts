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
const maxBufferedBytes = 64 * 1024;
/** Delay after which events are written whose response is never sent, because its client has disconnected. */
const unsentMilliseconds = 50;

export function logBackend({ format, apiVersion, file, mode, clock, lost }: LogBackendOptions): AuditBackend {
  const line = format === "json" ? (event: AuditEvent) => eventText(event, apiVersion) : legacyText;
  let buffered: AuditEvent[] = [];
  let bufferedBytes = 0;
  let flushScheduled = false;
  let cancelFlush: (() => void) | undefined;
  // Events are encoded here rather than on arrival: encoding them in a row takes a fifth less time.
  const flush = (): void => {
    if (buffered.length === 0) return;
    const events = buffered;
    buffered = [];
    bufferedBytes = 0;
    // One string made by concatenation is copied once, into the buffer of the file.
    let text = "";
    for (const event of events) text += `${line(event)}\n`;
    try {
      file.write(text);
    } catch (error) {
      lost(events.length, error as Error);
    }
  };
  const flushSoon = (): true => {
    setImmediate(() => {
      flushScheduled = false;
      flush();
    });
    return true;
  };
  const buffer = (event: AuditEvent): void => {
    const bytes = estimatedBytes(event);
    if (bufferedBytes + bytes >= maxBufferedBytes) flush();
    buffered.push(event);
    bufferedBytes += bytes;
    // The received request must be in the log even if it crashes the server.
    if (event.stage === "RequestReceived") flushScheduled ||= flushSoon();
    else
      cancelFlush ??= clock.after(unsentMilliseconds, () => {
        cancelFlush = undefined;
        flush();
      });
  };
  const writeNow = (events: readonly AuditEvent[]): Promise<void> => {
    flush();
    try {
      for (const text of chunks(events.map(line))) file.write(text);
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
      for (const event of events) buffer(event);
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
const typicalBytes = 1024;
const estimatedBytes = ({ requestObject = "", responseObject = "" }: AuditEvent): number =>
  typicalBytes + requestObject.length + responseObject.length;

/** Joins lines to chunks of bounded size. */
function* chunks(lines: readonly string[]): Generator<string> {
  let text = "";
  for (const line of lines) {
    if (text !== "" && text.length + line.length >= maxBufferedBytes) {
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
