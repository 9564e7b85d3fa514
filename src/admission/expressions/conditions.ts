// Match conditions: all must be true. If one is false the result is false, even if others fail.

import type { MatchCondition } from "#api";
import { types } from "#cel";
import {
  BudgetExceeded,
  type CompiledExpression,
  Evaluator,
  type Expressions,
  type RequestView,
  type VariableChoice,
  bindingsOf,
  conditionsBudget,
  sliceOf,
} from "./expressions.ts";

export type ConditionsResult =
  | { readonly matches: boolean }
  /** Some could not be evaluated, and none of the others was false. */
  | { readonly error: string };

export type Conditions = (view: RequestView, onError: () => void) => Promise<ConditionsResult>;

export function conditionsOf(
  expressions: Expressions,
  conditions: readonly MatchCondition[],
  failurePolicy: string | undefined,
  seen: VariableChoice,
): Conditions {
  const compiled = conditions.map(({ expression }) => expressions.compile(expression, [types.bool], seen));
  return async (view, onError) => {
    const result = await evaluateAll(
      compiled,
      new Evaluator(bindingsOf(expressions.environment, view), conditionsBudget, sliceOf(view.attributes)),
      onError,
    );
    return "error" in result && failurePolicy === "Ignore" ? { matches: false } : result;
  };
}

async function evaluateAll(
  compiled: readonly CompiledExpression[],
  evaluator: Evaluator,
  onError: () => void,
): Promise<ConditionsResult> {
  const errors: string[] = [];
  let isFalse = false;
  try {
    for (const condition of compiled) {
      const result = await evaluator.run(condition);
      if ("error" in result) {
        errors.push(result.error);
        if (!isFalse) onError();
      } else if (result.value === false) isFalse = true;
    }
  } catch (error) {
    if (!(error instanceof BudgetExceeded)) throw error;
    return { error: error.message };
  }
  if (isFalse) return { matches: false };
  return errors.length > 0 ? { error: aggregate(errors) } : { matches: true };
}

/** Combines distinct messages into one. */
export function aggregate(messages: readonly string[]): string {
  const unique = [...new Set(messages)];
  return unique.length === 1 ? unique[0]! : `[${unique.join(", ")}]`;
}
