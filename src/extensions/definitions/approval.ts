// Definitions in groups of the project need an annotation that states who approved them.
import type { Dialect } from "#dialect";
import { type FieldError, invalidValue, required } from "#base";

export type Approval =
  | { readonly state: "not needed" }
  | { readonly state: "approved" | "bypassed" | "missing" | "invalid"; readonly reason: string };

export function approvalOf(
  group: string,
  annotations: Readonly<Record<string, string>> | undefined,
  dialect: Dialect,
): Approval {
  const domains = [dialect.wire.groupSuffix, dialect.data.labelDomain];
  if (!domains.some((domain) => group === domain || group.endsWith(`.${domain}`)))
    return { state: "not needed" };
  const key = approvalAnnotation(dialect);
  const given = annotations?.[key] ?? "";
  if (given === "")
    return { state: "missing", reason: `protected groups must have approval annotation "${key}"` };
  if (given.startsWith("unapproved")) return { state: "bypassed", reason: `not approved: "${given}"` };
  if (URL.canParse(given) && new URL(given).host !== "")
    return { state: "approved", reason: `approved in ${given}` };
  return {
    state: "invalid",
    reason: `protected groups must have approval annotation "${key}" with either a URL or a reason starting with "unapproved"`,
  };
}

export const approvalAnnotation = (dialect: Dialect): string => dialect.names.annotations.apiApproved;

/** Returns the errors of the approval annotation; an unchanged one is not checked. */
export function approvalErrors(
  now: Approval,
  before: Approval | undefined,
  given: string,
  dialect: Dialect,
): FieldError[] {
  if (now.state === "not needed" || now.state === before?.state) return [];
  const field = `metadata.annotations[${approvalAnnotation(dialect)}]`;
  if (now.state === "missing") return [required(field, now.reason)];
  return now.state === "invalid" ? [invalidValue(field, given, now.reason)] : [];
}
