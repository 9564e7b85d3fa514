// Conflicts of an apply with other managers, and their messages.

import { pathsOf } from "./field-set.ts";
import type { Operation } from "./managed-fields.ts";
import type { Conflicting } from "./ownership.ts";
import { compareText, pathText } from "./path-element.ts";

export interface Conflict {
  readonly manager: string;
  readonly operation: Operation;
  readonly apiVersion: string;
  readonly subresource: string;
  /** The path of the field, such as `.spec.replicas`. */
  readonly field: string;
  /** Message of the status cause: `conflict with "x" using v1`. */
  readonly message: string;
}

/** Returns one conflict per field, ordered by manager. */
export function describeConflicts(conflicting: readonly Conflicting[]): readonly Conflict[] {
  return conflicting
    .toSorted((a, b) => compareText(a.identity, b.identity))
    .flatMap(({ manager: { name, operation, apiVersion, subresource }, fields }) =>
      pathsOf(fields).map((path) => {
        const shared = { manager: name, operation, apiVersion, subresource };
        return { ...shared, field: pathText(path), message: `conflict with ${managerText(shared)}` };
      }),
    );
}

function managerText({
  manager,
  operation,
  apiVersion,
  subresource,
}: Pick<Conflict, "manager" | "operation" | "apiVersion" | "subresource">): string {
  const name =
    subresource === ""
      ? JSON.stringify(manager)
      : `${JSON.stringify(manager)} with subresource ${JSON.stringify(subresource)}`;
  return operation === "Update" ? `${name} using ${apiVersion}` : name;
}

/** Returns the message of the Conflict status. */
export function conflictMessage(conflicts: readonly Conflict[]): string {
  if (conflicts.length === 1)
    return `Apply failed with 1 conflict: ${conflicts[0]!.message}: ${conflicts[0]!.field}`;
  const lines: string[] = [];
  let last: string | undefined;
  for (const conflict of conflicts) {
    const heading = `conflicts with ${managerText(conflict)}:`;
    if (heading !== last) lines.push(heading);
    last = heading;
    lines.push(`- ${conflict.field}`);
  }
  return `Apply failed with ${conflicts.length} conflicts: ${lines.join("\n")}`;
}
