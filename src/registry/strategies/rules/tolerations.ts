// What taints a pod puts up with.
import type { Toleration } from "#api";
import { type FieldError, invalidValue, notSupported } from "#base";
import { labelValueProblems } from "#schema";
import { formatErrors, qualifiedNameErrors } from "./format.ts";
import { supported } from "./one-of.ts";

export function tolerationErrors(tolerations: readonly Toleration[] | undefined, path: string): FieldError[] {
  return (tolerations ?? []).flatMap(({ key, operator, value, effect, tolerationSeconds }, position) => {
    const at = `${path}[${position}]`;
    const errors = key ? qualifiedNameErrors(key, `${at}.key`) : [];
    if (!key && operator !== "Exists") errors.push(invalidValue(`${at}.operator`, operator ?? "", "operator must be Exists when `key` is empty"));
    if (tolerationSeconds !== undefined && effect !== "NoExecute")
      errors.push(invalidValue(`${at}.effect`, effect ?? "", "effect must be 'NoExecute' when `tolerationSeconds` is set"));
    if (!operator || operator === "Equal") errors.push(...formatErrors(value ?? "", `${at}.operator`, labelValueProblems));
    else if (operator !== "Exists") errors.push(notSupported(`${at}.operator`, operator, ["Equal", "Exists"]));
    else if (value) errors.push(invalidValue(`${at}.operator`, value, "value must be empty when `operator` is 'Exists'"));
    if (effect) errors.push(...supported(effect, `${at}.effect`, ["NoSchedule", "PreferNoSchedule", "NoExecute"]));
    return errors;
  });
}
