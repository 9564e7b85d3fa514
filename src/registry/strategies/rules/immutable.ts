// Objects that can be made immutable: the flag cannot be cleared and the data cannot change.
import { type FieldError, forbiddenField } from "#base";
import { same } from "./unchanged.ts";

const frozen = "field is immutable when `immutable` is set";

/** As in kube-apiserver, an empty value differs from an absent one and counts as a change. */
export function immutableErrors<K extends string>(
  obj: { immutable?: boolean | undefined } & { [field in K]?: object | undefined },
  old: { immutable?: boolean | undefined } & { [field in K]?: object | undefined },
  fields: readonly K[],
): FieldError[] {
  if (!old.immutable) return [];
  const errors = obj.immutable ? [] : [forbiddenField("immutable", frozen)];
  for (const field of fields) if (!same(obj[field], old[field])) errors.push(forbiddenField(field, frozen));
  return errors;
}
