// Truncation: events that are too large lose their bodies; those that are still too large are dropped.
import type { AuditBackend } from "./backend.ts";
import type { AuditEvent } from "./event.ts";
import { eventText } from "./event-text.ts";

export interface TruncateOptions {
  readonly maxEventBytes: number;
  readonly apiVersion: string;
  /** The annotation that marks a truncated event. */
  readonly annotation: string;
  /** Called with the number of events that are too large even without their bodies. */
  readonly dropped: (count: number, error: Error) => void;
}

export function truncating(backend: AuditBackend, options: TruncateOptions): AuditBackend {
  const { maxEventBytes, apiVersion, annotation, dropped } = options;
  const tooLarge = (event: AuditEvent): boolean =>
    Buffer.byteLength(eventText(event, apiVersion)) > maxEventBytes;
  const fit = (event: AuditEvent): AuditEvent | undefined => {
    if (!tooLarge(event)) return event;
    const { requestObject, responseObject, ...rest } = event;
    const truncated =
      requestObject === undefined && responseObject === undefined
        ? rest
        : {
            ...rest,
            annotations: [
              ...(rest.annotations ?? []).filter(([key]) => key !== annotation),
              [annotation, "true"] as const,
            ],
          };
    return tooLarge(truncated) ? undefined : truncated;
  };
  return {
    process: (events) => {
      const kept = events.map(fit).filter((event) => event !== undefined);
      if (kept.length < events.length)
        dropped(events.length - kept.length, new Error(`the event is larger than ${maxEventBytes} bytes`));
      return kept.length > 0 ? backend.process(kept) : undefined;
    },
    flush: () => backend.flush?.(),
    close: () => backend.close(),
  };
}

/**
 * Splits a batch so that the events of each part are below the size limit in total; an event is never split.
 */
export function splitBySize(
  events: readonly AuditEvent[],
  maxBytes: number,
  apiVersion: string,
): readonly (readonly AuditEvent[])[] {
  const parts: AuditEvent[][] = [];
  let bytes = Infinity;
  for (const event of events) {
    const size = Buffer.byteLength(eventText(event, apiVersion));
    if (bytes + size > maxBytes) {
      parts.push([]);
      bytes = 0;
    }
    parts.at(-1)!.push(event);
    bytes += size;
  }
  return parts;
}
