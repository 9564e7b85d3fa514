// Audit backends and sinks. A backend that must store an event before the request continues returns a
// promise; one that buffers events stores them before the response is sent.
import type { AuditEvent } from "./event.ts";

export interface AuditBackend {
  /** Takes events. The promise settles once they are stored and rejects if they are lost. */
  process(events: readonly AuditEvent[]): Promise<void> | undefined;
  /** Stores the buffered events. */
  flush?(): void;
  /** Delivers the events still buffered and releases files and connections. */
  close(): Promise<void>;
}

/**
 * Mode of a backend: its failures fail requests (blocking-strict), it delays them (blocking), or neither
 * (batch).
 */
export type AuditMode = "batch" | "blocking" | "blocking-strict";

/** A backend as used by the audit filter. */
export interface AuditSink {
  /**
   * Takes one event. The request waits for a returned promise; it resolves to whether every backend in strict
   * mode has stored the event.
   */
  write(event: AuditEvent): Promise<boolean> | undefined;
  /** Stores buffered events; called before a response is sent, so that its events are stored by then. */
  flush(): void;
  close(): Promise<void>;
}

/** Called with events that did not reach a backend. */
export type LostEvents = (backend: string, count: number, error: Error) => void;

export interface ModeOptions {
  readonly name: string;
  readonly mode: AuditMode;
  readonly lost: LostEvents;
}

/** Adapts a backend to its mode: only blocking-strict reports failures to the request. */
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

/** Returns a sink that passes events to every one of the sinks. */
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
