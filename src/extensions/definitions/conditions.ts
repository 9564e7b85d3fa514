// Conditions of a definition: one of each type, with a transition time that changes only with the status.
import type { CustomResourceDefinition, CustomResourceDefinitionCondition } from "#api";
import { timestamp } from "#registry";

type Status = CustomResourceDefinition["status"];
export type NewCondition = Omit<CustomResourceDefinitionCondition, "lastTransitionTime">;

/** Sets a condition in place; reports whether anything changed. */
export function setCondition(status: Status, next: NewCondition, now: Date): boolean {
  const conditions = (status.conditions ??= []);
  const at = conditions.findIndex(({ type }) => type === next.type);
  const known = at < 0 ? undefined : conditions[at]!;
  if (known && known.status === next.status && known.reason === next.reason && known.message === next.message)
    return false;
  const lastTransitionTime = known?.status === next.status ? known.lastTransitionTime : timestamp(now);
  const made: CustomResourceDefinitionCondition = { ...next, lastTransitionTime };
  if (known) conditions[at] = made;
  else conditions.push(made);
  return true;
}

export function removeCondition(status: Status, type: string): boolean {
  const kept = (status.conditions ?? []).filter((condition) => condition.type !== type);
  if (kept.length === (status.conditions ?? []).length) return false;
  status.conditions = kept;
  return true;
}
