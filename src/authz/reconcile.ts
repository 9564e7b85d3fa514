// Reconciles stored roles and bindings with the expected ones: adds what is missing, removes nothing, and
// skips objects that opted out.

import { isDeepStrictEqual } from "node:util";
import type { ClusterRole, ClusterRoleBinding, LabelSelector, Role, RoleBinding, Subject } from "#api";
import type { Dialect } from "#dialect";
import { uncovered } from "./rules.ts";

export type Reconciled<T> =
  | { readonly action: "none" }
  /** The object lacks something, but has opted out by annotation. */
  | { readonly action: "skip" }
  | { readonly action: "create" | "update"; readonly object: T }
  /** A binding's roleRef is immutable: delete the stored binding, then create this one. */
  | { readonly action: "recreate"; readonly object: T };

type Stored = Role | ClusterRole | RoleBinding | ClusterRoleBinding;

/** Reconciles a role or a binding. */
export const reconcile = <T extends Stored>(
  existing: T | undefined,
  expected: T,
  dialect: Dialect,
): Reconciled<T> =>
  ("roleRef" in expected
    ? reconcileBinding(existing as RoleBinding | undefined, expected as RoleBinding, dialect)
    : reconcileRole(existing as Role | undefined, expected as Role, dialect)) as Reconciled<T>;

export function reconcileRole<T extends Role | ClusterRole>(
  existing: T | undefined,
  expected: T,
  dialect: Dialect,
): Reconciled<T> {
  if (!existing) return { action: "create", object: expected };
  const missing = uncovered(expected.rules ?? [], existing.rules ?? []);
  const object: T = {
    ...existing,
    metadata: mergedMetadata(existing, expected),
    ...(missing.length && { rules: [...(existing.rules ?? []), ...missing] }),
  };
  const [before, wanted] = [aggregationOf(existing), aggregationOf(expected)];
  if (before && !wanted) delete (object as ClusterRole).aggregationRule;
  else if (wanted) {
    const added = wanted.filter((selector) => !before?.some((each) => isDeepStrictEqual(each, selector)));
    if (added.length)
      (object as ClusterRole).aggregationRule = { clusterRoleSelectors: [...(before ?? []), ...added] };
  }
  return settled(existing, object, dialect);
}

export function reconcileBinding<T extends RoleBinding | ClusterRoleBinding>(
  existing: T | undefined,
  expected: T,
  dialect: Dialect,
): Reconciled<T> {
  if (!existing) return { action: "create", object: expected };
  if (!isDeepStrictEqual({ ...existing.roleRef }, { ...expected.roleRef }))
    return optedOut(existing, dialect) ? { action: "skip" } : { action: "recreate", object: expected };
  const present = existing.subjects ?? [];
  const missing = (expected.subjects ?? []).filter(
    (subject) => !present.some((each) => sameSubject(each, subject)),
  );
  const object: T = {
    ...existing,
    metadata: mergedMetadata(existing, expected),
    ...(missing.length && { subjects: [...present, ...missing] }),
  };
  return settled(existing, object, dialect);
}

function settled<T extends Stored>(existing: T, object: T, dialect: Dialect): Reconciled<T> {
  if (isDeepStrictEqual(existing, object)) return { action: "none" };
  return optedOut(existing, dialect) ? { action: "skip" } : { action: "update", object };
}

const optedOut = ({ metadata }: Stored, dialect: Dialect): boolean =>
  metadata.annotations?.[dialect.names.annotations.rbacAutoUpdate] === "false";

/** Merges labels and annotations; stored values take precedence. */
function mergedMetadata<T extends Stored>({ metadata }: T, expected: T): T["metadata"] {
  const merged = { ...metadata };
  for (const field of ["labels", "annotations"] as const) {
    const both = { ...expected.metadata[field], ...metadata[field] };
    if (Object.keys(both).length) merged[field] = both;
  }
  return merged;
}

const aggregationOf = (role: Role | ClusterRole): readonly LabelSelector[] | undefined =>
  "aggregationRule" in role && role.aggregationRule
    ? (role.aggregationRule.clusterRoleSelectors ?? [])
    : undefined;

const sameSubject = (a: Subject, b: Subject): boolean =>
  a.kind === b.kind &&
  a.name === b.name &&
  (a.apiGroup ?? "") === (b.apiGroup ?? "") &&
  (a.namespace ?? "") === (b.namespace ?? "");
