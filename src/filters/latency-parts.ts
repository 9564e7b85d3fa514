// Breaks down the latency of a slow request by the spans of its operation, with the names that kube-apiserver
// uses in audit events.
import type { Dialect } from "#dialect";
import { responding } from "#endpoints";
import { Span } from "#tracing";

/** The minimum time of each part of a response: most take less than the resolution of the clock. */
const leastMilliseconds = 0.001;

/**
 * Returns milliseconds by name of the part; parts that a request does not have are omitted. Objects are
 * transformed, encoded and handed to the connection in one pass, whose time is reported for each of these parts;
 * errors are not transformed. Of the store, kube-apiserver measures only reads.
 */
export function latencyParts(
  operation: Span | undefined,
  dialect: Dialect,
): Readonly<Record<string, number>> {
  const parts = { store: 0, mutating: 0, validating: 0, response: 0 };
  const add = (span: Span): void => {
    for (const item of span.items) {
      if (!(item instanceof Span)) {
        if (item.name === responding && !Number.isNaN(span.ended))
          parts.response += Math.max(span.ended - item.at, leastMilliseconds);
        continue;
      }
      const milliseconds = item.milliseconds || 0;
      // Mutating webhooks are called sequentially, validating ones concurrently.
      if (item.name === `List(recursive=true) ${dialect.wire.storeSpan}`) parts.store += milliseconds;
      else if (item.name === "Call mutating webhook") parts.mutating += milliseconds;
      else if (item.name === "Call validating webhook")
        parts.validating = Math.max(parts.validating, milliseconds);
      else add(item);
    }
  };
  if (operation) add(operation);
  const written = parts.response || leastMilliseconds;
  const named: Record<string, number> = {
    [dialect.wire.storeHealthCheck]: parts.store,
    "mutating-webhook": parts.mutating,
    "validating-webhook": parts.validating,
    "transform-response-object": parts.response,
    "serialize-response-object": written,
    "response-write": written,
  };
  return Object.fromEntries(Object.entries(named).filter(([, milliseconds]) => milliseconds > 0));
}
