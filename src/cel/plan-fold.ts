// The loops behind the macros, each with the costs that its expansion has in the reference.

import { type Expression, type Fold, accumulator } from "./ast.ts";
import { listCost } from "./call-cost.ts";
import { type Step, absorbed } from "./evaluation.ts";
import { isMapLike, mapKeys } from "./operations.ts";
import {
  type EvaluationError,
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

type Items = readonly Value[] | View;

/** The elements of a list, as they are, or the keys of a map. */
function itemsOf(range: Value): Items {
  if (isList(range)) return range;
  if (isMapLike(range)) return mapKeys(range);
  throw evaluationError("got a value of another type, expected iterable type");
}

const countOf = (items: Items): number => (items instanceof View ? items.size : items.length);
/** Elements of views are converted when their turn comes. */
const itemAt = (items: Items, at: number): Value =>
  items instanceof View ? items.get(at)! : adapt(items[at]!);

export function planFold(node: Fold, planner: FoldPlanner): Step {
  const { macro } = node;
  if (macro === "bind") return named(node, planner);
  const range = planner.value(node.range).run;
  return planner.withLocal(accumulator, () =>
    planner.withLocal(node.variable, (slot) => {
      const part = (expression: Expression) => planner.value(expression);
      switch (macro) {
        case "all":
        case "exists":
          return quantified(range, slot, part(node.predicate!).run, macro === "exists");
        case "exists_one":
          return exactlyOne(range, slot, part(node.predicate!).run);
        case "map":
        case "filter":
          return collected(range, slot, part(node.transform!), node.predicate && part(node.predicate).run);
      }
    }),
  );
}

/** A value under a name, for the rest of the expression. */
function named({ initial, accumulator: name = accumulator, result }: Fold, planner: FoldPlanner): Step {
  const value = planner.value(initial).run;
  return planner.withLocal(name, (slot) => {
    const { run } = planner.value(result);
    return (state) => {
      state.slots[slot] = value(state);
      return run(state);
    };
  });
}

/** all and exists: an error counts only if no element decides. */
function quantified(range: Step, slot: number, predicate: Step, deciding: boolean): Step {
  const conditionCost = deciding ? 3 : 2;
  return (state) => {
    const items = itemsOf(range(state));
    const count = countOf(items);
    let decided = false;
    let failure: EvaluationError | undefined;
    for (let at = 0; at < count; at += 1) {
      state.charge(conditionCost);
      if (decided) break;
      state.slots[slot] = itemAt(items, at);
      state.charge(1);
      try {
        const holds = predicate(state);
        if (holds === deciding) decided = true;
        else if (typeof holds !== "boolean") failure ??= noSuchOverload();
      } catch (error) {
        failure ??= absorbed(error);
      }
    }
    state.charge(1);
    if (decided) return deciding;
    if (failure) throw failure;
    return !deciding;
  };
}

function exactlyOne(range: Step, slot: number, predicate: Step): Step {
  return (state) => {
    const items = itemsOf(range(state));
    const count = countOf(items);
    let found = 0;
    for (let at = 0; at < count; at += 1) {
      state.slots[slot] = itemAt(items, at);
      const holds = predicate(state);
      if (typeof holds !== "boolean") throw noSuchOverload();
      if (!holds) continue;
      state.charge(2);
      found += 1;
    }
    state.charge(2);
    return found === 1;
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
    const items = itemsOf(range(state));
    const count = countOf(items);
    const list: Value[] = [];
    for (let at = 0; at < count; at += 1) {
      state.slots[slot] = itemAt(items, at);
      if (predicate) {
        const holds = predicate(state);
        if (typeof holds !== "boolean") throw noSuchOverload();
        if (!holds) continue;
      }
      list.push(transform.run(state));
      state.charge(appendCost);
    }
    state.charge(1);
    return list;
  };
}
