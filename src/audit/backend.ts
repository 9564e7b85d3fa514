// Where audit events go. A backend that must not lose an event before the request goes on answers with a
// promise; one that gathers events stores them before the answer leaves.
import type { AuditEvent } from "./event.ts";

export interface AuditBackend {
  /** Takes events; the promise settles when they are stored, and is rejected when they are lost. */
  process(events: readonly AuditEvent[]): Promise<void> | undefined;
  /** Stores what it has gathered. */
  flush?(): void;
  /** Delivers what is still buffered and lets go of files and connections. */
  close(): Promise<void>;
}

/** How a backend is used: its failures fail requests (strict), hold them up (blocking), or neither. */
export type AuditMode = "batch" | "blocking" | "blocking-strict";

/** A backend ready to be used by the audit filter. */
export interface AuditSink {
  /**
   * Takes one event. A returned promise is waited for before the request goes on; it resolves to whether the
   * event was stored by every backend that insists on it.
   */
  write(event: AuditEvent): Promise<boolean> | undefined;
  /** Stores what is gathered: called before an answer leaves, so that its events are stored by then. */
  flush(): void;
  close(): Promise<void>;
}

/** Told about events that did not reach a backend. */
export type LostEvents = (backend: string, count: number, error: Error) => void;

export interface ModeOptions {
  readonly name: string;
  readonly mode: AuditMode;
  readonly lost: LostEvents;
}

/** A backend in its mode: only blocking-strict reports failures to the request. */
export function sinkOf(backend: AuditBackend, { name, mode, lost }: ModeOptions): AuditSink {
  const strict = mode === "blocking-strict";
  return {
    write: (event) => {
      const stored = backend.process([event]);
      return stored?.then(
        () => true,
        (error: Error) => {
          lost(name, 1, error);
          return !strict;
        },
      );
    },
    flush: () => backend.flush?.(),
    close: () => backend.close(),
  };
}

/** Events go to every sink. */
export function unionSink(sinks: readonly AuditSink[]): AuditSink {
  return {
    write: (event) => {
      const waits = sinks.map((sink) => sink.write(event)).filter((wait) => wait !== undefined);
      if (waits.length < 2) return waits[0];
      return Promise.all(waits).then((stored) => stored.every(Boolean));
    },
    flush: () => {
      for (const sink of sinks) sink.flush();
    },
    close: async () => {
      await Promise.all(sinks.map((sink) => sink.close()));
    },
  };
}
