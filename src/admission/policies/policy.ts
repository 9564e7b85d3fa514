// A compiled policy and its evaluation.

import type { ValidatingAdmissionPolicy } from "#api";
import { type Value, types } from "#cel";
import { type Conditions, conditionsOf } from "../expressions/conditions.ts";
import {
  BudgetExceeded,
  type CompiledExpression,
  Evaluator,
  type Expressions,
  type RequestView,
  bindingsOf,
  policyBudget,
  sliceOf,
} from "../expressions/expressions.ts";
import { LazyVariables, compileVariables } from "./variables.ts";

/** A validation that was violated or could not be evaluated. */
export interface Failure {
  readonly message: string;
  readonly reason: string;
  /** Index of the validation in the policy. */
  readonly index: number;
  /** Duration of the evaluation. */
  readonly seconds: number;
}

export interface PolicyResult {
  readonly failures: readonly Failure[];
  /** Failures that deny the request whatever the binding's actions: of audit annotation expressions. */
  readonly denials: readonly Failure[];
  readonly annotations: readonly { readonly key: string; readonly value: string }[];
  /** Validations that could not be evaluated, which the failure policy ignores. */
  readonly ignored: readonly Failure[];
}

export interface CompiledPolicy {
  evaluate(view: RequestView, onConditionError: () => void): Promise<PolicyResult>;
}

const maxMessageBytes = 5 * 1024;
const nothing: PolicyResult = { failures: [], denials: [], annotations: [], ignored: [] };

interface Rule {
  readonly test: CompiledExpression;
  readonly message: CompiledExpression | undefined;
  readonly text: string;
  readonly source: string;
  readonly reason: string;
}

export function compilePolicy(
  expressions: Expressions,
  { spec }: ValidatingAdmissionPolicy,
  later: boolean,
): CompiledPolicy {
  const params = spec.paramKind !== undefined;
  const variables = compileVariables(expressions, spec);
  const seen = { params, later: later ? { variables: variables.types } : undefined };
  const ignore = spec.failurePolicy === "Ignore";
  const rules = (spec.validations ?? []).map(
    ({ expression, message = "", messageExpression = "", reason }): Rule => ({
      test: expressions.compile(expression, [types.bool], seen),
      message:
        messageExpression === ""
          ? undefined
          : expressions.compile(messageExpression, [types.string], { ...seen, authorizer: false }),
      text: message.trim(),
      source: expression.trim(),
      reason: reason ?? "Invalid",
    }),
  );
  const annotations = (spec.auditAnnotations ?? []).map(({ key, valueExpression }) => ({
    key,
    value: expressions.compile(valueExpression.trim(), [types.string, types.null], seen),
  }));
  const conditions: Conditions | undefined = spec.matchConditions?.length
    ? conditionsOf(expressions, spec.matchConditions, spec.failurePolicy, {
        params,
        later: later ? {} : undefined,
      })
    : undefined;
  /** Classifies evaluation errors by the failure policy. */
  const failed = (...errors: readonly Failure[]): Pick<PolicyResult, "failures" | "ignored"> =>
    ignore ? { failures: [], ignored: errors } : { failures: errors, ignored: [] };
  return {
    evaluate: async (view, onConditionError) => {
      const matched = conditions ? await conditions(view, onConditionError) : { matches: true };
      if ("error" in matched) return { ...nothing, ...failed(errorAt(0, matched.error, 0)) };
      if (!matched.matches) return nothing;
      const known = bindingsOf(expressions.environment, view);
      const lazy = variables.types && new LazyVariables(variables, known);
      const bindings = lazy ? { ...known, variables: lazy } : known;
      const slice = sliceOf(view.attributes);
      const evaluator = () => new Evaluator(bindings, policyBudget, slice, lazy && (() => lazy.takeCost()));
      try {
        const { violations, errors } = await evaluateRules(rules, evaluator());
        const { failures, ignored } = failed(...errors);
        const annotated = await evaluateAnnotations(annotations, evaluator(), ignore);
        return { failures: [...violations, ...failures].toSorted(byIndex), ignored, ...annotated };
      } catch (error) {
        if (!(error instanceof BudgetExceeded)) throw error;
        return { ...nothing, ...failed(errorAt(0, error.message, 0)) };
      }
    },
  };
}

const errorAt = (index: number, message: string, seconds: number): Failure => ({
  message,
  reason: "Invalid",
  index,
  seconds,
});
const byIndex = (left: Failure, right: Failure): number => left.index - right.index;

/** Returns the violated validations, and those that could not be evaluated. */
async function evaluateRules(
  rules: readonly Rule[],
  evaluator: Evaluator,
): Promise<{ readonly violations: readonly Failure[]; readonly errors: readonly Failure[] }> {
  const results = [];
  for (const rule of rules) results.push(await timed(() => evaluator.run(rule.test)));
  const violations: Failure[] = [];
  const errors: Failure[] = [];
  for (const [index, rule] of rules.entries()) {
    const { result, seconds } = results[index]!;
    if ("error" in result) errors.push(errorAt(index, result.error, seconds));
    else if (result.value !== true)
      violations.push({ message: await messageOf(rule, evaluator), reason: rule.reason, index, seconds });
  }
  return { violations, errors };
}

async function timed<T>(run: () => Promise<T>): Promise<{ readonly result: T; readonly seconds: number }> {
  const began = performance.now();
  const result = await run();
  return { result, seconds: (performance.now() - began) / 1000 };
}

/**
 * Returns the value of the message expression, if it is a single line of allowed length; else the message or
 * the expression.
 */
async function messageOf(rule: Rule, evaluator: Evaluator): Promise<string> {
  const result = rule.message && (await evaluator.run(rule.message));
  const messageText =
    result && "value" in result && typeof result.value === "string" ? result.value.trim() : "";
  const usable = Buffer.byteLength(messageText) <= maxMessageBytes && !messageText.includes("\n");
  return (usable && messageText) || rule.text || `failed expression: ${rule.source}`;
}

async function evaluateAnnotations(
  annotations: readonly { readonly key: string; readonly value: CompiledExpression }[],
  evaluator: Evaluator,
  ignore: boolean,
): Promise<Pick<PolicyResult, "annotations" | "denials">> {
  const found: { key: string; value: string }[] = [];
  const denials: Failure[] = [];
  for (const { key, value } of annotations) {
    const { result, seconds } = await timed(() => evaluator.run(value));
    if ("error" in result) {
      if (!ignore) denials.push(errorAt(0, result.error, seconds));
      continue;
    }
    const text = textOf(result.value);
    if (text !== "") found.push({ key, value: text });
  }
  return { annotations: found, denials };
}

const textOf = (value: Value): string => (typeof value === "string" ? value.trim() : "");
