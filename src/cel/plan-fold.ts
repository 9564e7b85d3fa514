// The loops behind macros, each with the cost of its expansion in the reference.

import { type Expression, type Fold, accumulator } from "./ast.ts";
import { listCost } from "./call-cost.ts";
import type { Evaluation, Step } from "./evaluation.ts";
import { isMapLike, keyText, lookUp, mapKey, mapKeys } from "./operations.ts";
import {
  type EvaluationError,
  type MapKey,
  MapValue,
  type Value,
  View,
  adapt,
  evaluationError,
  isList,
  noSuchOverload,
} from "./values.ts";
import { absorbed } from "./walk-limit.ts";

export interface FoldPlanner {
  value(node: Expression): { readonly run: Step; readonly constant?: { readonly value: Value } };
  withLocal<T>(name: string, use: (slot: number) => T): T;
}

type Items = readonly Value[] | View;

/** Returns the elements of a list, unconverted, or the keys of a map. */
function itemsOf(range: Value): Items {
  if (isList(range)) return range;
  if (isMapLike(range)) return mapKeys(range);
  throw evaluationError("got a value of another type, expected iterable type");
}

const countOf = (items: Items): number => (items instanceof View ? items.size : items.length);
/** Elements of views are converted when they are reached. */
const itemAt = (items: Items, at: number): Value =>
  items instanceof View ? items.get(at)! : adapt(items[at]!);

export function planFold(node: Fold, planner: FoldPlanner): Step {
  const { macro } = node;
  if (macro === "bind") return named(node, planner);
  const range = planner.value(node.range).run;
  return planner.withLocal(accumulator, () =>
    withVariables(node, planner, (bindElement, slot) => {
      const part = (expression: Expression) => planner.value(expression);
      const predicate = node.predicate && part(node.predicate).run;
      switch (macro) {
        case "all":
        case "exists":
          return quantified(range, bindElement, predicate!, macro === "exists");
        case "exists_one":
          return exactlyOne(range, bindElement, predicate!);
        case "map":
        case "filter":
          return collected(range, bindElement, part(node.transform!), predicate);
        case "transformMap":
          return mapped(range, bindElement, underKey(slot, part(node.transform!).run), predicate);
        case "transformMapEntry":
          return mapped(range, bindElement, wholeEntries(part(node.transform!).run), predicate);
      }
    }),
  );
}

/** Assigns an element of a range to the loop variables. */
type BindElement = (state: Evaluation, range: Value, items: Items, at: number) => void;

/** Declares the loop variables and provides their assignment and the slot of the first one. */
function withVariables(
  { variable, second }: Fold,
  planner: FoldPlanner,
  use: (bindElement: BindElement, slot: number) => Step,
): Step {
  return planner.withLocal(variable, (slot) => {
    if (second === undefined)
      return use((state, _, items, at) => void (state.slots[slot] = itemAt(items, at)), slot);
    return planner.withLocal(second, (other) =>
      use((state, range, items, at) => {
        const item = itemAt(items, at);
        const inList = isList(range);
        state.slots[slot] = inList ? at : item;
        state.slots[other] = inList ? item : lookUp(range, item);
      }, slot),
    );
  });
}

/** Binds a value to a name for the rest of the expression. */
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

/** all and exists: an error is raised only if no element decides the result. */
function quantified(range: Step, bindElement: BindElement, predicate: Step, deciding: boolean): Step {
  const conditionCost = deciding ? 3 : 2;
  return (state) => {
    const over = range(state);
    const items = itemsOf(over);
    const count = countOf(items);
    let decided = false;
    let failure: EvaluationError | undefined;
    for (let at = 0; at < count; at += 1) {
      state.charge(conditionCost);
      if (decided) break;
      bindElement(state, over, items, at);
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

/** Returns the result of the predicate, or its error. */
function evaluatePredicate(predicate: Step, state: Evaluation): boolean | EvaluationError {
  try {
    const holds = predicate(state);
    return typeof holds === "boolean" ? holds : noSuchOverload();
  } catch (error) {
    return absorbed(error);
  }
}

/** Evaluates every element; of several errors the last one is raised. */
function exactlyOne(range: Step, bindElement: BindElement, predicate: Step): Step {
  return (state) => {
    const over = range(state);
    const items = itemsOf(over);
    const count = countOf(items);
    let found = 0;
    let failure: EvaluationError | undefined;
    for (let at = 0; at < count; at += 1) {
      bindElement(state, over, items, at);
      const holds = evaluatePredicate(predicate, state);
      if (typeof holds !== "boolean") failure = holds;
      if (holds !== true) continue;
      state.charge(2);
      found += 1;
    }
    state.charge(2);
    if (failure) throw failure;
    return found === 1;
  };
}

/**
 * Evaluates every element; raises the last error of the predicate or, without one, the first of the
 * transformation.
 */
function collected(
  range: Step,
  bindElement: BindElement,
  transform: { readonly run: Step; readonly constant?: unknown },
  predicate: Step | undefined,
): Step {
  const appendCost = 2 + (transform.constant ? 0 : listCost);
  return (state) => {
    const over = range(state);
    const items = itemsOf(over);
    const count = countOf(items);
    const list: Value[] = [];
    let failure: EvaluationError | undefined;
    for (let at = 0; at < count; at += 1) {
      bindElement(state, over, items, at);
      if (predicate) {
        const holds = evaluatePredicate(predicate, state);
        if (typeof holds !== "boolean") failure = holds;
        if (holds !== true) continue;
      }
      try {
        list.push(transform.run(state));
      } catch (error) {
        failure ??= absorbed(error);
      }
      state.charge(appendCost);
    }
    state.charge(1);
    if (failure) throw failure;
    return list;
  };
}

type Entry = readonly [key: Value, value: Value];
type Entries = (state: Evaluation) => readonly Entry[];

/** Returns one entry, under the index or key of the element. */
function underKey(slot: number, transform: Step): Entries {
  return (state) => {
    const value = transform(state);
    state.charge(1);
    return [[state.slots[slot]!, value]];
  };
}

/** Returns the entries of the map that the transformation yields. */
function wholeEntries(transform: Step): Entries {
  return (state) => {
    const made = transform(state);
    if (!isMapLike(made)) throw noSuchOverload();
    return mapKeys(made).map((key) => [key, lookUp(made, key)!]);
  };
}

function mapped(range: Step, bindElement: BindElement, entries: Entries, predicate: Step | undefined): Step {
  return (state) => {
    const over = range(state);
    const items = itemsOf(over);
    const count = countOf(items);
    const map = new Map<MapKey, Entry>();
    for (let at = 0; at < count; at += 1) {
      bindElement(state, over, items, at);
      if (predicate) {
        const holds = predicate(state);
        if (typeof holds !== "boolean") throw noSuchOverload();
        if (!holds) continue;
      }
      for (const entry of entries(state)) {
        const form = mapKey(entry[0])!;
        if (map.has(form)) throw evaluationError(`insert failed: key ${keyText(entry[0])} already exists`);
        map.set(form, entry);
      }
      state.charge(2);
    }
    state.charge(1);
    return new MapValue(map);
  };
}
