// Calls as closures. A call is charged after its arguments are evaluated, even if one of them failed. The
// path without errors is kept short because nearly all calls take it.

import { accepts } from "./accepts.ts";
import type { Expression } from "./ast.ts";
import { type CallCost, costSize, stringFactor, traversal } from "./call-cost.ts";
import type { Checked } from "./checker.ts";
import type { Implementation, Overload } from "./declarations.ts";
import type { Evaluation, Step } from "./evaluation.ts";
import { comparable, equal, mapKey } from "./operations.ts";
import { isDyn, types } from "./types.ts";
import { Double, EvaluationError, type MapKey, type Value, View, isList, noSuchOverload } from "./values.ts";
import { absorbed } from "./walk-limit.ts";

export interface Planned {
  readonly run: Step;
  /** The value, if it is the same in every run. */
  readonly constant?: { readonly value: Value };
}

export const constant = (value: Value): Planned => ({ run: () => value, constant: { value } });

/** Without a cost function, a call costs 1. The cost of a single function depends on its result. */
export function strictCall(
  args: readonly Planned[],
  apply: Implementation,
  cost: CallCost | undefined,
  costsByResult: boolean,
): Step {
  const runs = args.map((arg) => arg.run);
  const [first, second] = runs;
  if (runs.length > 2) return manyArguments(runs, apply, cost);
  if (runs.length === 1 && !cost) return oneArgument(first!, apply);
  if (runs.length === 2 && !cost) return twoArguments(first!, second!, apply);
  if (runs.length === 2 && !costsByResult) return twoWithCost(first!, second!, apply, cost!);
  return (state) => {
    const values = runs.map((run) => valueOrError(run, state));
    const failed = values.find((value) => value instanceof EvaluationError);
    let result: Value | undefined;
    const once = (): Value => (failed ? 0 : (result ??= apply(...(values as Value[]))));
    state.charge(cost ? cost(forCost(values[0] ?? 0), forCost(values[1] ?? 0), once) : 1);
    if (failed) throw failed;
    return once();
  };
}

/** Reports whether a call may concatenate for a cost of 1: lists, or values of unknown type. */
export const mayConcatenate = (name: string, overload: string): boolean =>
  name === "_+_" && (overload === "add_list" || overload === "");

/**
 * A concatenation whose cost does not depend on its size. The reference shares the elements of concatenated
 * lists; here they are copied, and a few nested loops could double a list until memory is exhausted.
 */
export function concatenation(run: Step): Step {
  return (state) => {
    const value = run(state);
    if (isList(value)) state.chargeCopy(value instanceof View ? value.size : value.length);
    else if (typeof value === "string" || value instanceof Uint8Array)
      state.chargeCopy(value.length * stringFactor);
    return value;
  };
}

function manyArguments(runs: readonly Step[], apply: Implementation, cost: CallCost | undefined): Step {
  return (state) => {
    const args = runs.map((run) => run(state));
    let result: Value | undefined;
    const once = (): Value => (result ??= apply(...args));
    state.charge(cost ? cost(args[0]!, args[1]!, once) : 1);
    return once();
  };
}

function oneArgument(run: Step, apply: Implementation): Step {
  return (state) => {
    let value: Value;
    try {
      value = run(state);
    } catch (error) {
      absorbed(error);
      state.charge(1);
      throw error;
    }
    state.charge(1);
    return apply(value);
  };
}

function twoArguments(first: Step, second: Step, apply: Implementation): Step {
  return (state) => {
    let left: Value;
    let right: Value;
    try {
      left = first(state);
    } catch (error) {
      absorbed(error);
      valueOrError(second, state);
      state.charge(1);
      throw error;
    }
    try {
      right = second(state);
    } catch (error) {
      absorbed(error);
      state.charge(1);
      throw error;
    }
    state.charge(1);
    return apply(left, right);
  };
}

function twoWithCost(first: Step, second: Step, apply: Implementation, cost: CallCost): Step {
  return (state) => {
    let left: Value;
    let right: Value;
    try {
      left = first(state);
    } catch (error) {
      absorbed(error);
      state.charge(cost(0, forCost(valueOrError(second, state)), noResult));
      throw error;
    }
    try {
      right = second(state);
    } catch (error) {
      absorbed(error);
      state.charge(cost(left, 0, noResult));
      throw error;
    }
    state.charge(cost(left, right, noResult));
    return apply(left, right);
  };
}

/** Returns the implementation of the only overload, or one that selects an overload by run-time types. */
export function implementationOf(
  overloads: readonly Overload[],
  args: readonly Expression[],
  checked: Checked,
): Implementation {
  const [only] = overloads;
  const unknown = args.map((node) => isDyn(checked.types[node.id] ?? types.dyn));
  const same = overloads.every((each) => each.apply === only!.apply);
  if (same && (overloads.length > 1 || only!.checksTypes || !unknown.includes(true))) return only!.apply;
  return overloads.length === 1 ? guarded(only!, unknown) : chosen(overloads);
}

/** Returns the implementation of an overload with run-time type checks for dynamic arguments. */
function guarded({ params, apply }: Overload, unknown: readonly boolean[]): Implementation {
  const [first, second] = params;
  const [checkFirst, checkSecond] = unknown;
  if (params.length > 2) return chosen([{ params, apply }]);
  if (params.length === 1)
    return (value) => {
      if (!accepts(first!, value)) throw noSuchOverload();
      return apply(value);
    };
  return (left, right) => {
    if (checkFirst && !accepts(first!, left)) throw noSuchOverload();
    if (checkSecond && !accepts(second!, right)) throw noSuchOverload();
    return apply(left, right);
  };
}

/** Returns an implementation that selects an overload by run-time types. */
function chosen(overloads: readonly Pick<Overload, "params" | "apply">[]): Implementation {
  return (...args) => {
    const found = overloads.find((each) => each.params.every((param, at) => accepts(param, args[at]!)));
    if (!found) throw noSuchOverload();
    return found.apply(...args);
  };
}

/** `&&` and `||`: a side that decides the result also does so if the other side fails. */
export function logical(left: Step, right: Step, deciding: boolean): Step {
  return (state) => {
    let first: Value;
    try {
      first = left(state);
    } catch (error) {
      const failure = absorbed(error);
      if (valueOrError(right, state) === deciding) return deciding;
      throw failure;
    }
    if (first === deciding) return deciding;
    const second = typeof first === "boolean" ? right(state) : valueOrError(right, state);
    if (second === deciding) return deciding;
    if (typeof first === "boolean" && typeof second === "boolean") return !deciding;
    throw second instanceof EvaluationError ? second : noSuchOverload();
  };
}

export function equality(left: Planned, right: Planned, positive: boolean): Step {
  const literal = right.constant?.value;
  if (typeof literal === "string" && literal !== "") return equalsText(left.run, literal, positive);
  return (state) => {
    const a = valueOrError(left.run, state);
    const b = valueOrError(right.run, state);
    state.charge(equalityCost(forCost(a), forCost(b)));
    if (a instanceof EvaluationError) throw a;
    if (b instanceof EvaluationError) throw b;
    return comparable(a, b) ? equal(a, b) === positive : incomparable(positive);
  };
}

/** Incomparable values are not equal; `==` between them is an error. */
function incomparable(positive: boolean): boolean {
  if (positive) throw noSuchOverload();
  return true;
}

export const equalityCost = (left: Value, right: Value): number =>
  typeof left === "number" || typeof right === "number"
    ? 1
    : traversal(Math.min(costSize(left), costSize(right)));

/** Equality with a non-empty string, the most frequent case. */
function equalsText(run: Step, text: string, positive: boolean): Step {
  const size = costSize(text);
  return (state) => {
    let value: Value;
    try {
      value = run(state);
    } catch (error) {
      absorbed(error);
      state.charge(1);
      throw error;
    }
    const short = typeof value === "string" && value !== "" && size <= 10;
    state.charge(short ? 1 : traversal(Math.min(costSize(value), size)));
    return value instanceof View ? incomparable(positive) : (value === text) === positive;
  };
}

/** Returns the value or the error: a call with one or two arguments costs the same if they fail. */
function valueOrError(run: Step, state: Evaluation): Value | EvaluationError {
  try {
    return run(state);
  } catch (error) {
    return absorbed(error);
  }
}

/** Only one function's cost depends on its result; the others are charged before they are called. */
const noResult = (): Value => null;

/** An error has the size of a scalar. */
const forCost = (value: Value | EvaluationError): Value => (value instanceof EvaluationError ? 0 : value);

/**
 * Membership in a constant list: a set lookup if all elements are primitive. A failed operand is not a
 * member.
 */
export function membership(run: Step, list: readonly Value[]): Planned | undefined {
  if (list.length === 0) return constant(false);
  const keys = keysOf(list);
  if (!keys) return undefined;
  return {
    run: (state) => {
      const item = valueOrError(run, state);
      const key = item instanceof EvaluationError ? undefined : memberKey(item);
      return key !== undefined && keys.has(key);
    },
  };
}

/** A fraction cannot be a map key, but it can be a list element. */
export const memberKey = (value: Value): MapKey | undefined =>
  value instanceof Double && !Number.isNaN(value.value) ? (mapKey(value) ?? value.value) : mapKey(value);

/** Returns the elements as a set if all of them are primitive. */
export function keysOf(list: readonly Value[]): ReadonlySet<MapKey> | undefined {
  const keys = new Set<MapKey>();
  for (const item of list) {
    const key = memberKey(item);
    if (key === undefined) return undefined;
    keys.add(key);
  }
  return keys;
}
