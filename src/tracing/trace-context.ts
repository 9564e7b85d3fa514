// The traceparent header (W3C Trace Context): `00-<trace id>-<span id>-<flags>`.
import type { RemoteSpan, Span } from "./span.ts";

const form = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;

/** Parses the header; returns undefined if it is missing or malformed. */
export function parseTraceparent(header: string | undefined): RemoteSpan | undefined {
  const found = header === undefined ? null : form.exec(header.trim());
  if (!found) return undefined;
  const [, version, traceId, spanId, flags, more] = found;
  // Later versions may have more fields after the flags, version 00 does not, and version ff is invalid.
  if (version === "ff" || (version === "00" && more !== undefined)) return undefined;
  if (/^0+$/.test(traceId!) || /^0+$/.test(spanId!)) return undefined;
  return { traceId: traceId!, spanId: spanId!, sampled: (Number.parseInt(flags!, 16) & 1) === 1 };
}

/** Returns the header that makes a request to another process part of the span's trace. */
export const traceparentOf = (span: Span | undefined): string | undefined =>
  span?.trace && `00-${span.trace.traceId}-${span.id}-01`;
