// Decides which of its names a definition may use: within a group, a name belongs to the definition that was
// accepted with it first.
import type { CustomResourceDefinition, CustomResourceDefinitionNames } from "#api";
import { isDeepStrictEqual } from "node:util";
import type { NewCondition } from "./conditions.ts";

export interface NameDecision {
  readonly accepted: CustomResourceDefinitionNames;
  readonly namesAccepted: NewCondition;
}

/** Decides for one definition, given all others of its group. */
export function decideNames(
  { spec, status }: CustomResourceDefinition,
  others: readonly CustomResourceDefinition[],
): NameDecision {
  const resources = new Set<string>();
  const kinds = new Set<string>();
  for (const other of others) {
    const { plural, singular, shortNames, kind, listKind } = other.status.acceptedNames;
    for (const name of [plural, singular, ...(shortNames ?? [])]) if (name) resources.add(name);
    for (const name of [kind, listKind]) if (name) kinds.add(name);
  }
  const { names: wanted } = spec;
  const known = status.acceptedNames;
  const accepted: CustomResourceDefinitionNames = { ...known };
  let conflict: { reason: string; message: string } | undefined;
  const take = (
    key: "plural" | "singular" | "kind" | "listKind",
    used: Set<string>,
    reason: string,
  ): void => {
    const name = wanted[key] ?? "";
    if (name !== (known[key] ?? "") && used.has(name))
      conflict = { reason, message: `"${name}" is already in use` };
    else accepted[key] = name;
  };
  take("plural", resources, "PluralConflict");
  take("singular", resources, "SingularConflict");
  const mine = new Set(known.shortNames ?? []);
  const taken = (wanted.shortNames ?? []).filter((name) => !mine.has(name) && resources.has(name));
  if (!isDeepStrictEqual(wanted.shortNames, known.shortNames)) {
    if (taken.length > 0)
      conflict = {
        reason: "ShortNamesConflict",
        message: taken.map((name) => `"${name}" is already in use`).join(", "),
      };
    else if (wanted.shortNames) accepted.shortNames = wanted.shortNames;
    else delete accepted.shortNames;
  }
  take("kind", kinds, "KindConflict");
  take("listKind", kinds, "ListKindConflict");
  if (wanted.categories) accepted.categories = wanted.categories;
  else delete accepted.categories;
  return {
    accepted,
    namesAccepted: conflict
      ? { type: "NamesAccepted", status: "False", ...conflict }
      : { type: "NamesAccepted", status: "True", reason: "NoConflicts", message: "no conflicts found" },
  };
}
