// Variables of a policy: named values shared by its expressions. Each is evaluated lazily, once per request,
// and may read the preceding ones.

import type { ValidatingAdmissionPolicySpec } from "#api";
import { type Bindings, type CelType, type Value, View, evaluationError } from "#cel";
import { type CompiledExpression, type Expressions, costLimit } from "../expressions/expressions.ts";

type Types = Readonly<Record<string, CelType>>;

export interface CompiledVariables {
  /** Types of the variables that compile; undefined when the policy has none. */
  readonly types: Types | undefined;
  readonly variables: readonly { readonly name: string; readonly compiled: CompiledExpression }[];
}

export function compileVariables(
  expressions: Expressions,
  { paramKind, variables: given }: ValidatingAdmissionPolicySpec,
): CompiledVariables {
  let types: Types | undefined = given && {};
  const variables = (given ?? []).map(({ name, expression }) => {
    const later = { variables: types };
    const compiled = expressions.compile(expression, [], { params: paramKind !== undefined, later });
    if (compiled.program) types = { ...types, [name]: compiled.program.resultType };
    return { name, compiled };
  });
  return { types, variables };
}

type Known = { readonly value: Value } | { readonly error: string };

/** The variables of one request as seen by expressions. */
export class LazyVariables extends View {
  readonly view = "object";
  readonly raw = {};
  readonly #compiled: ReadonlyMap<string, CompiledExpression>;
  readonly #bindings: Bindings;
  readonly #known = new Map<string, Known>();
  #cost = 0;

  constructor({ variables }: CompiledVariables, bindings: Bindings) {
    super();
    this.#compiled = new Map(variables.map(({ name, compiled }) => [name, compiled]));
    this.#bindings = { ...bindings, variables: this };
  }

  get size(): number {
    return this.#compiled.size;
  }

  values(): readonly Value[] {
    return [...this.#compiled.keys()];
  }

  get(name: string | number): Value | undefined {
    const compiled = this.#compiled.get(String(name));
    if (!compiled) return undefined;
    const known = this.#known.getOrInsertComputed(String(name), () => this.#evaluate(String(name), compiled));
    if ("error" in known) throw evaluationError(known.error);
    return known.value;
  }

  #evaluate(name: string, { program, error }: CompiledExpression): Known {
    const quoted = JSON.stringify(name);
    if (!program) return { error: `composited variable ${quoted} fails to compile: ${error ?? ""}` };
    const outcome = program.evaluate(this.#bindings, costLimit);
    this.#cost += outcome.cost;
    if ("value" in outcome) return { value: outcome.value };
    return { error: `composited variable ${quoted} fails to evaluate: ${outcome.error}` };
  }

  /** Returns the cost of evaluating variables since the last call. */
  takeCost(): number {
    const cost = this.#cost;
    this.#cost = 0;
    return cost;
  }
}
