// Validation of match conditions of webhooks and admission policies.
import { admissionExpressions } from "#admission";
import type { MatchCondition } from "#api";
import { type FieldError, duplicate, invalidValue, required, tooMany } from "#base";
import { types } from "#cel";
import type { RequestContext } from "../../strategy.ts";
import { qualifiedNameErrors } from "./format.ts";
import { repeats } from "./repeats.ts";

const maxConditions = 64;

export function matchConditionErrors(
  conditions: readonly MatchCondition[] | undefined,
  path: string,
  { dialect, settings }: Pick<RequestContext, "dialect" | "settings">,
  strictCosts: boolean | undefined,
  seen: Parameters<ReturnType<typeof admissionExpressions>["compile"]>[2],
): FieldError[] {
  if (!conditions) return [];
  const errors = conditions.length > maxConditions ? [tooMany(path, conditions.length, maxConditions)] : [];
  const repeated = repeats<string>();
  const expressions = admissionExpressions(dialect.cli.product, settings.expressionRelease, strictCosts);
  conditions.forEach(({ name, expression }, position) => {
    const at = `${path}[${position}]`;
    const source = (expression ?? "").trim();
    if (source === "") errors.push(required(`${at}.expression`));
    else {
      const { error } = expressions.compile(source, [types.bool], seen);
      if (error !== undefined) errors.push(invalidValue(`${at}.expression`, source, error));
    }
    if (!name) errors.push(required(`${at}.name`));
    else {
      errors.push(...qualifiedNameErrors(name, `${at}.name`));
      if (repeated(name)) errors.push(duplicate(`${at}.name`, name));
    }
  });
  return errors;
}
