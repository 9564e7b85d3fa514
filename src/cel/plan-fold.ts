// The loops behind the macros, each with the costs that its expansion has in the reference.

import { type Expression, type Fold, accumulator } from "./ast.ts";
import { listCost } from "./call-cost.ts";
import { type Evaluation, type Step, absorbed } from "./evaluation.ts";
import { isMapLike, mapKeys } from "./operations.ts";
import {
  EvaluationError,
  type Value,
  View,
  adapt,
  evaluationError,
  isList,
  noSuchOverload,
} from "./values.ts";

export interface FoldPlanner {
  value(node: Expression): { readonly run: Step; readonly constant?: { readonly value: Value } };
  withLocal<T>(name: string, use: (slot: number) => T): T;
}

/** Calls back for each element of a list or key of a map, until the callback says stop. */
function iterate(range: Value, each: (item: Value) => boolean | void): void {
  if (range instanceof View && range.view === "list") {
    for (let at = 0; at < range.size; at += 1) if (each(range.get(at)!) === false) return;
    return;
  }
  const items = isList(range) ? (range as readonly Value[]) : isMapLike(range) ? mapKeys(range) : undefined;
  if (!items) throw evaluationError("got a value of another type, expected iterable type");
  for (const item of items) if (each(adapt(item)) === false) return;
}

export function planFold(node: Fold, planner: FoldPlanner): Step {
  const range = planner.value(node.range).run;
  return planner.withLocal(accumulator, () =>
    planner.withLocal(node.variable, (slot) => {
      const part = (expression: Expression) => planner.value(expression);
      switch (node.macro) {
        case "all":
        case "exists":
          return quantified(range, slot, part(node.predicate!).run, node.macro === "exists");
        case "exists_one":
          return exactlyOne(range, slot, part(node.predicate!).run);
        case "map":
        case "filter":
          return collected(range, slot, part(node.transform!), node.predicate && part(node.predicate).run);
      }
    }),
  );
}

function testOf(run: Step, state: Evaluation): boolean | EvaluationError {
  try {
    const holds = run(state);
    return typeof holds === "boolean" ? holds : noSuchOverload();
  } catch (error) {
    return absorbed(error);
  }
}

/** all and exists: an error counts only if no element decides. */
function quantified(range: Step, slot: number, predicate: Step, deciding: boolean): Step {
  const conditionCost = deciding ? 3 : 2;
  return (state) => {
    let found: boolean | EvaluationError = !deciding;
    iterate(range(state), (item) => {
      state.charge(conditionCost);
      if (found === deciding) return false;
      state.slots[slot] = item;
      state.charge(1);
      const holds = testOf(predicate, state);
      if (holds === deciding) found = deciding;
      else if (holds instanceof EvaluationError && typeof found === "boolean") found = holds;
      return true;
    });
    state.charge(1);
    if (typeof found === "boolean") return found;
    throw found as EvaluationError;
  };
}

function exactlyOne(range: Step, slot: number, predicate: Step): Step {
  return (state) => {
    let count = 0;
    iterate(range(state), (item) => {
      state.slots[slot] = item;
      const holds = predicate(state);
      if (typeof holds !== "boolean") throw noSuchOverload();
      if (!holds) return;
      state.charge(2);
      count += 1;
    });
    state.charge(2);
    return count === 1;
  };
}

function collected(
  range: Step,
  slot: number,
  transform: { readonly run: Step; readonly constant?: unknown },
  predicate: Step | undefined,
): Step {
  const appendCost = 2 + (transform.constant ? 0 : listCost);
  return (state) => {
    const list: Value[] = [];
    iterate(range(state), (item) => {
      state.slots[slot] = item;
      if (predicate) {
        const holds = predicate(state);
        if (typeof holds !== "boolean") throw noSuchOverload();
        if (!holds) return;
      }
      list.push(transform.run(state));
      state.charge(appendCost);
    });
    state.charge(1);
    return list;
  };
}
