// Objects that can be frozen: once immutable, they stay so, and so does what they hold.
import { type FieldError, forbiddenField } from "#base";
import { same } from "./unchanged.ts";

const frozen = "field is immutable when `immutable` is set";

/** Empty is not what was absent, in kube-apiserver: who sends it wants a change. */
export function frozenErrors<K extends string>(
  obj: { immutable?: boolean | undefined } & { [field in K]?: object | undefined },
  old: { immutable?: boolean | undefined } & { [field in K]?: object | undefined },
  fields: readonly K[],
): FieldError[] {
  if (!old.immutable) return [];
  const errors = obj.immutable ? [] : [forbiddenField("immutable", frozen)];
  for (const field of fields) if (!same(obj[field], old[field])) errors.push(forbiddenField(field, frozen));
  return errors;
}
