// The id that identifies a request in logs, audit events and responses.
import { newUuid } from "#base";
import { type Call, header } from "#http";

/** Returns the client's own audit id if it sent a valid one, otherwise a new one. */
export const newAuditId = (call: Call): string => {
  const given = header(call.headers, "audit-id");
  return given !== undefined && given.length <= 64 && /^[\x21-\x7e]+$/.test(given) ? given : newUuid();
};
