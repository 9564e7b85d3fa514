// Headers common to all responses: the audit id, cache control, and warnings.
import type { Filter } from "./filter.ts";

export const commonHeaders: Filter = {
  name: "common headers",
  run: async (call, next) => {
    const reply = await next();
    const warnings = call.warnings.length > 0 ? { warning: warningValues(call.warnings) } : undefined;
    return {
      ...reply,
      headers: {
        "audit-id": call.auditId,
        "cache-control": "no-cache, private",
        ...call.headers,
        ...reply.headers,
        ...warnings,
      },
    };
  },
};

const maxWarningCharacters = 4096;
const maxTruncatedLength = 256;

/**
 * Formats warnings as header values. Empty warnings and those with control characters are omitted. If they
 * exceed the total limit, each is truncated and the last ones are dropped.
 */
export function warningValues(given: readonly string[]): string[] {
  const texts = given.filter((text) => text !== "" && !/\p{Cc}/u.test(text));
  const fits = texts.reduce((sum, text) => sum + text.length, 0) <= maxWarningCharacters;
  const values: string[] = [];
  let left = maxWarningCharacters;
  for (const text of texts) {
    if (left <= 0) break;
    const shown = fits ? text : text.slice(0, maxTruncatedLength);
    left -= shown.length;
    values.push(`299 - ${quoted(shown)}`);
  }
  return values;
}

const quoted = (text: string): string => `"${text.replace(/[^\x20-\x7e]/g, "?").replace(/[\\"]/g, "\\$&")}"`;
