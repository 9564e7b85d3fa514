// Validation of the pod deletion cost annotation: a 32-bit integer in canonical form.
import { type FieldError, invalidValue } from "#base";
import type { Dialect } from "#dialect";

const plain = /^(?:0|-?[1-9]\d*)$/;

export function deletionCostErrors(
  annotations: Readonly<Record<string, string>> | undefined,
  { names }: Dialect,
  path: string,
): FieldError[] {
  const key = names.annotations.podDeletionCost;
  const value = annotations?.[key];
  if (value === undefined) return [];
  const fits = plain.test(value) && Number(value) >= -(2 ** 31) && Number(value) < 2 ** 31;
  return fits ? [] : [invalidValue(`${path}[${key}]`, value, "must be a 32bit integer")];
}
