// Objects that can be frozen: once immutable, they stay so, and so does what they hold.
import { type FieldError, forbiddenField } from "#base";
import { same } from "./unchanged.ts";

const frozen = "field is immutable when `immutable` is set";
const contents = (value: object | undefined): unknown =>
  value && Object.keys(value).length > 0 ? value : undefined;

export function frozenErrors<K extends string>(
  obj: { immutable?: boolean | undefined } & { [field in K]?: object | undefined },
  old: { immutable?: boolean | undefined } & { [field in K]?: object | undefined },
  fields: readonly K[],
): FieldError[] {
  if (!old.immutable) return [];
  const errors = obj.immutable ? [] : [forbiddenField("immutable", frozen)];
  for (const field of fields)
    if (!same(contents(obj[field]), contents(old[field]))) errors.push(forbiddenField(field, frozen));
  return errors;
}
