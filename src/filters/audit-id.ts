// The id under which a request is known in logs, audit events and answers.
import { newUuid } from "#base";
import { type Call, header } from "#http";

/** The client's own id where it sent a usable one. */
export const newAuditId = (call: Call): string => {
  const given = header(call.headers, "audit-id");
  return given !== undefined && given.length <= 64 && /^[\x21-\x7e]+$/.test(given) ? given : newUuid();
};
