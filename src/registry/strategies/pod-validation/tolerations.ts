// Validation of taints and tolerations.
import type { Taint, Toleration } from "#api";
import { type FieldError, LiteralValue, invalidValue, notSupported, required } from "#base";
import { labelValueProblems } from "#schema";
import { qualifiedNameErrors } from "../rules/format.ts";

const effects = ["NoSchedule", "PreferNoSchedule", "NoExecute"];

export function tolerationErrors(tolerations: readonly Toleration[] | undefined, path: string): FieldError[] {
  return (tolerations ?? []).flatMap((toleration, position) => {
    const at = `${path}[${position}]`;
    const { key, operator, value, effect, tolerationSeconds } = toleration;
    const errors = key ? qualifiedNameErrors(key, `${at}.key`) : [];
    if (!key && operator !== "Exists")
      errors.push(
        invalidValue(
          `${at}.operator`,
          operator ?? "",
          'operator must be Exists when `key` is empty, which means "match all values and all keys"',
        ),
      );
    if (tolerationSeconds !== undefined && effect !== "NoExecute")
      errors.push(
        invalidValue(
          `${at}.effect`,
          effect ?? "",
          "effect must be 'NoExecute' when `tolerationSeconds` is set",
        ),
      );
    if (!operator || operator === "Equal") errors.push(...valueErrors(value, `${at}.operator`));
    else if (operator !== "Exists")
      errors.push(notSupported(`${at}.operator`, operator, ["Equal", "Exists"]));
    else if (value)
      errors.push(
        invalidValue(`${at}.operator`, toleration, "value must be empty when `operator` is 'Exists'"),
      );
    if (effect && !effects.includes(effect)) errors.push(notSupported(`${at}.effect`, effect, effects));
    return errors;
  });
}

/** Returns a key of the tolerated taint; tolerationSeconds does not distinguish tolerations. */
export const toleratedTaint = ({ key, operator, value, effect }: Toleration): string =>
  JSON.stringify([key ?? "", operator ?? "", value ?? "", effect ?? ""]);

export function taintErrors(taints: readonly Taint[] | undefined, path: string): FieldError[] {
  const seen = new Set<string>();
  return (taints ?? []).flatMap((taint, position) => {
    const at = `${path}[${position}]`;
    const { key, value, effect } = taint;
    const errors = [...qualifiedNameErrors(key, `${at}.key`), ...valueErrors(value, `${at}.value`)];
    if (!effect) errors.push(required(`${at}.effect`));
    else if (!effects.includes(effect)) errors.push(notSupported(`${at}.effect`, effect, effects));
    const id = `${key}:${effect}`;
    if (seen.has(id))
      errors.push({
        type: "FieldValueDuplicate",
        field: at,
        value: new LiteralValue(
          `core.Taint{Key:${JSON.stringify(key)}, Value:${JSON.stringify(value ?? "")}, ` +
            `Effect:${JSON.stringify(effect)}, TimeAdded:${taint.timeAdded ?? "<nil>"}}`,
        ),
        detail: "taints must be unique by key and effect pair",
      });
    seen.add(id);
    return errors;
  });
}

/** Reports all problems of the value in one error. */
function valueErrors(value: string | undefined, field: string): FieldError[] {
  const problems = labelValueProblems(value ?? "");
  return problems.length ? [invalidValue(field, value, problems.join(";"))] : [];
}
