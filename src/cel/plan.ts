// Compiles a checked expression to closures. Costs are charged where the reference charges them. Therefore a
// name that is not read for its value (the base of a selection, the branch of a ternary, or an index) is
// planned without the cost of reading it.

import type { Call, Expression, MapEntry, Select } from "./ast.ts";
import { callCost, listCost, mapCost } from "./call-cost.ts";
import type { Checked, Reference } from "./checker.ts";
import type { Overload } from "./declarations.ts";
import type { Evaluation, Step } from "./evaluation.ts";
import { type FoldPlanner, planFold } from "./plan-fold.ts";
import { index, indexOfInput, mapKey, optionalMember } from "./operations.ts";
import {
  type Planned,
  concatenation,
  constant,
  equality,
  implementationOf,
  logical,
  mayConcatenate,
  membership,
  strictCall,
} from "./plan-call.ts";
import { memberOf, ownCharge, presence, variableMember } from "./plan-member.ts";
import { compilePattern } from "./regex/pattern.ts";
import {
  type MapKey,
  MapValue,
  OptionalValue,
  TypeValue,
  type Value,
  evaluationError,
  noSuchOverload,
} from "./values.ts";
import { absorbed } from "./walk-limit.ts";

/** A well-typed program that can never succeed: an invalid pattern, or a constant conversion that fails. */
export class PlanError extends Error {
  override readonly name = "PlanError";
}

/** Returns the reference's type name of a constant that cannot be an index. */
function unusableIndex(node: Expression, reference: Reference | undefined): string | undefined {
  if (reference?.kind === "type") return "*types.TypeValue";
  if (node.kind !== "literal") return undefined;
  if (node.value === null) return "types.Null";
  return node.value instanceof Uint8Array ? "types.Bytes" : undefined;
}

export interface Plan {
  readonly run: Step;
  /** Slot of each variable, to be set before a run. */
  readonly inputs: ReadonlyMap<string, number>;
  readonly slots: number;
}

export interface PlanOptions {
  /** Whether calls of library functions cost what the library declares, or 1. */
  readonly libraryCosts: boolean;
}

export function plan(expression: Expression, checked: Checked, options: PlanOptions): Plan {
  const planner = new Planner(checked, options);
  const { run } = planner.value(expression);
  return { run, inputs: planner.inputs, slots: planner.slots };
}

/** Functions that are evaluated at compile time for constant arguments. */
export const conversions: ReadonlySet<string> = new Set(
  "bool bytes double duration dyn int string timestamp type uint".split(" "),
);

/** Returns the content of an optional value; undefined if it is empty. */
function presentValue(value: Value): Value | undefined {
  if (!(value instanceof OptionalValue)) throw noSuchOverload();
  return value.value;
}

class Planner implements FoldPlanner {
  readonly inputs = new Map<string, number>();
  slots = 0;
  readonly #checked: Checked;
  readonly #options: PlanOptions;
  readonly #locals: { readonly name: string; readonly slot: number }[] = [];

  constructor(checked: Checked, options: PlanOptions) {
    this.#checked = checked;
    this.#options = options;
  }

  /** Plans the value, charging for every part. */
  value(node: Expression): Planned {
    return this.#plan(node, true);
  }

  /** Plans the value without the cost of reading a name, if the node is one. */
  #base(node: Expression): Planned {
    return this.#plan(node, false);
  }

  withLocal<T>(name: string, use: (slot: number) => T): T {
    const slot = this.slots++;
    this.#locals.push({ name, slot });
    const result = use(slot);
    this.#locals.pop();
    return result;
  }

  #reference(node: Expression): Reference | undefined {
    return this.#checked.references[node.id];
  }

  #plan(node: Expression, charged: boolean): Planned {
    const reference = this.#reference(node);
    if (reference?.kind === "type") return constant(new TypeValue(reference.name));
    if (reference?.kind === "variable") return this.#variable(reference.name, charged);
    switch (node.kind) {
      case "literal":
        return constant(node.value);
      case "select":
        return node.test ? this.#presence(node) : this.#select(node, charged);
      case "call":
        return this.#call(node, charged);
      case "list":
        return node.optional ? this.#listOfPresent(node.elements, node.optional) : this.#list(node.elements);
      case "map":
        return this.#map(node.entries);
      case "fold":
        return { run: planFold(node, this) };
      default:
        throw new PlanError(`no value for ${node.kind}`);
    }
  }

  #variable(name: string, charged: boolean): Planned {
    const slot = this.#slotOf(name);
    const read = (state: Evaluation): Value => {
      const value = state.slots[slot];
      if (value === undefined) throw evaluationError(`no such attribute: ${name}`);
      return value;
    };
    if (!charged) return { run: read };
    return {
      run: (state) => {
        state.charge(1);
        return read(state);
      },
    };
  }

  #slotOf(name: string): number {
    const local = this.#locals.findLast((entry) => entry.name === name);
    if (local) return local.slot;
    const known = this.inputs.get(name);
    if (known !== undefined) return known;
    const slot = this.slots++;
    this.inputs.set(name, slot);
    return slot;
  }

  #select(node: Select, charged: boolean): Planned {
    const cost = 1 + (charged ? ownCharge(node, this.#checked) : 0);
    const { operand } = node;
    const variable = this.#reference(operand);
    if (variable?.kind === "variable")
      return { run: variableMember(this.#slotOf(variable.name), variable.name, node.field, cost) };
    const inner = this.#base(operand).run;
    return { run: memberOf(inner, node.field, cost) };
  }

  #presence(node: Select): Planned {
    return { run: presence(this.value(node.operand).run, node.field) };
  }

  #call(node: Call, charged: boolean): Planned {
    const [first, second, third] = node.args;
    switch (node.name) {
      case "_&&_":
        return this.#logical(first!, second!, false);
      case "_||_":
        return this.#logical(first!, second!, true);
      case "_?_:_":
        return this.#ternary(first!, second!, third!);
      case "or":
      case "orValue":
        return this.#alternative(node) ?? this.#function(node);
      case "_[_]":
      case "_[?_]":
      case "_?._": {
        const wrong = unusableIndex(second!, this.#reference(second!));
        if (wrong !== undefined) throw new PlanError(`invalid qualifier type: ${wrong}`);
        const read = node.name !== "_[_]" ? optionalMember : this.#isInput(first!) ? indexOfInput : index;
        return this.#index(first!, second!, charged ? ownCharge(node, this.#checked) : 0, read);
      }
      default:
        return this.#function(node);
    }
  }

  /** Reports whether a value is an unmodified part of the input. */
  #isInput(node: Expression): boolean {
    const reference = this.#reference(node);
    if (reference?.kind === "variable") return !this.#locals.some(({ name }) => name === reference.name);
    if (node.kind === "select") return this.#isInput(node.operand);
    return node.kind === "call" && node.name === "_[_]" && this.#isInput(node.args[0]!);
  }

  /** `&&` and `||`: a side that decides the result also does so if the other side fails. */
  #logical(left: Expression, right: Expression, deciding: boolean): Planned {
    const runLeft = this.value(left).run;
    const runRight = this.value(right).run;
    return { run: logical(runLeft, runRight, deciding) };
  }

  /** `or` and `orValue` of an optional value: the alternative is evaluated only if the optional is empty. */
  #alternative({ id, name, target, args: [other] }: Call): Planned | undefined {
    const reference = this.#checked.references[id];
    if (reference?.kind !== "function" || !reference.overloads[0]!.id.startsWith("optional_or"))
      return undefined;
    const runTarget = this.value(target!).run;
    const runOther = this.value(other!).run;
    return {
      run: (state) => {
        const value = runTarget(state);
        if (!(value instanceof OptionalValue)) throw noSuchOverload();
        if (value.value === undefined) return runOther(state);
        return name === "or" ? value : value.value;
      },
    };
  }

  #ternary(condition: Expression, whenTrue: Expression, whenFalse: Expression): Planned {
    const test = this.value(condition).run;
    const runTrue = this.#base(whenTrue).run;
    const runFalse = this.#base(whenFalse).run;
    return {
      run: (state) => {
        const holds = test(state);
        if (typeof holds !== "boolean") throw noSuchOverload();
        return holds ? runTrue(state) : runFalse(state);
      },
    };
  }

  #index(
    target: Expression,
    key: Expression,
    ownCharge: number,
    read: (value: Value, key: Value) => Value,
  ): Planned {
    const runTarget = this.#base(target).run;
    const runKey = this.#base(key).run;
    const cost = 1 + ownCharge;
    return {
      run: (state) => {
        const value = runTarget(state);
        const at = runKey(state);
        state.charge(cost);
        return read(value, at);
      },
    };
  }

  #list(nodes: readonly Expression[]): Planned {
    const planned = nodes.map((node) => this.value(node));
    if (planned.every((each) => each.constant)) return constant(planned.map((each) => each.constant!.value));
    const runs = planned.map((each) => each.run);
    return {
      run: (state) => {
        const list = runs.map((run) => run(state));
        state.charge(listCost);
        return list;
      },
    };
  }

  /** A list without its empty optional elements. */
  #listOfPresent(nodes: readonly Expression[], optional: ReadonlySet<number>): Planned {
    const runs = nodes.map((node) => this.value(node).run);
    return {
      run: (state) => {
        const list: Value[] = [];
        for (const [at, run] of runs.entries()) {
          const value = optional.has(at) ? presentValue(run(state)) : run(state);
          if (value !== undefined) list.push(value);
        }
        state.charge(listCost);
        return list;
      },
    };
  }

  #map(entries: readonly MapEntry[]): Planned {
    const planned = entries.map(
      ({ key, value, optional }) => [this.value(key), this.value(value), optional] as const,
    );
    const build = (valueOf: (each: Planned) => Value): Value => {
      const map = new Map<MapKey, readonly [Value, Value]>();
      for (const [keyPlan, valuePlan, optional] of planned) {
        const key = valueOf(keyPlan);
        const value = optional ? presentValue(valueOf(valuePlan)) : valueOf(valuePlan);
        const form = mapKey(key);
        if (form === undefined) throw evaluationError("unsupported key type");
        if (map.has(form)) throw evaluationError(`Failed with repeated key`);
        if (value !== undefined) map.set(form, [key, value]);
      }
      return new MapValue(map);
    };
    if (planned.every(([key, value]) => key.constant && value.constant)) {
      try {
        return constant(build((each) => each.constant!.value));
      } catch (error) {
        const failure = absorbed(error);
        return {
          run: () => {
            throw failure;
          },
        };
      }
    }
    return {
      run: (state) => {
        const map = build((each) => each.run(state));
        state.charge(mapCost);
        return map;
      },
    };
  }

  #function(node: Call): Planned {
    const reference = this.#reference(node);
    if (reference?.kind !== "function") throw new PlanError(`no overload of ${node.name}`);
    const nodes = node.target && !reference.global ? [node.target, ...node.args] : node.args;
    const args = nodes.map((arg) => this.value(arg));
    const folded = this.#folded(node, reference.overloads, args);
    if (folded) return folded;
    this.#checkPattern(node.name, args);
    const apply = implementationOf(reference.overloads, nodes, this.#checked);
    const id = reference.overloads.length === 1 ? reference.overloads[0]!.id : "";
    if (id === "equals") return { run: equality(args[0]!, args[1]!, true) };
    if (id === "not_equals") return { run: equality(args[0]!, args[1]!, false) };
    const cost = callCost(node.name, id, this.#options.libraryCosts);
    const run = strictCall(args, apply, cost, node.name === "join");
    return { run: mayConcatenate(node.name, id) ? concatenation(run) : run };
  }

  /**
   * Conversions of constants and membership in constant lists are evaluated at compile time and cost nothing.
   */
  #folded(node: Call, overloads: readonly Overload[], args: readonly Planned[]): Planned | undefined {
    if (conversions.has(node.name) && args.length === 1 && args[0]!.constant) {
      try {
        return constant(overloads[0]!.apply(args[0]!.constant.value));
      } catch (error) {
        throw new PlanError(absorbed(error).message);
      }
    }
    if (overloads.length === 1 && overloads[0]!.id === "in_list" && args[1]!.constant)
      return membership(args[0]!.run, args[1]!.constant.value as readonly Value[]);
    return undefined;
  }

  #checkPattern(name: string, args: readonly Planned[]): void {
    if (name !== "matches" && name !== "find" && name !== "findAll") return;
    const pattern = args[1]?.constant?.value;
    if (typeof pattern !== "string") return;
    const compiled = compilePattern(pattern);
    if ("error" in compiled) throw new PlanError(compiled.error);
  }
}
