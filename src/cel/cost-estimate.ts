// Static minimum and maximum cost of an expression. Definitions with expressions are accepted by this
// estimate, so it is numerically identical to the reference's, saturating at the largest 64-bit integer.

import type { Steps } from "#base";
import { type Call, type Expression, type Fold, type Select, accumulator } from "./ast.ts";
import { listCost, mapCost, regexFactor, stringFactor } from "./call-cost.ts";
import type { Checked } from "./checker.ts";
import {
  type CallEstimate,
  type EstimatedNode,
  type Interval,
  type SizeHint,
  addIntervals,
  interval,
  multiplyIntervals,
  saturated,
  scaled,
  unbounded,
  union,
} from "./interval.ts";
import { maxPerStep, resumed, stepEnds } from "./resumed.ts";
import { type Sizes, estimateLibraryCall } from "./library-estimate.ts";
import { type CelType, types } from "./types.ts";

const zero = interval(0);
const one = interval(1);

export interface EstimateOptions {
  readonly sizeHint: SizeHint;
  /** Whether a macro results in as many elements as it iterates over. */
  readonly foldSizes: boolean;
}

export function estimateCost(
  expression: Expression,
  checked: Checked,
  options: EstimateOptions,
): Steps<Interval> {
  const estimator = new Estimator(checked, options);
  return resumed(
    () => estimator.cost(expression),
    () => estimator.resume(),
  );
}

class Estimator implements Sizes {
  readonly #checked: Checked;
  readonly #sizeHint: SizeHint;
  readonly #foldSizes: boolean;
  readonly #paths = new Map<number, readonly string[]>();
  readonly #sizes = new Map<number, Interval>();
  /** The ranges of comprehension variables, innermost last. */
  readonly #ranges = new Map<string, Expression[]>();
  /** Indexed by node id; not kept if the whole expression is estimated in one step. */
  readonly #costs: (Interval | undefined)[] | undefined;
  /** Number of nodes since the start of the step. */
  #nodes = 0;

  constructor(checked: Checked, { sizeHint, foldSizes }: EstimateOptions) {
    this.#checked = checked;
    this.#sizeHint = sizeHint;
    this.#foldSizes = foldSizes;
    if (checked.types.length > maxPerStep) this.#costs = [];
  }

  resume(): void {
    this.#nodes = 0;
    this.#ranges.clear();
  }

  cost(node: Expression): Interval {
    const costs = this.#costs;
    if (!costs) return this.#cost(node);
    const known = costs[node.id];
    if (known) return known;
    const cost = this.#cost(node);
    costs[node.id] = cost;
    this.#nodes += 1;
    if (this.#nodes === maxPerStep) throw stepEnds;
    return cost;
  }

  #cost(node: Expression): Interval {
    const reference = this.#checked.references[node.id];
    if (node.kind === "select" && (reference?.kind === "variable" || reference?.kind === "type"))
      return this.#name(node, reference.name);
    switch (node.kind) {
      case "literal":
      case "object":
        return zero;
      case "identifier":
        return this.#name(node, node.name);
      case "select":
        return this.#select(node);
      case "call":
        return this.#call(node);
      case "list":
        return addIntervals(this.#sum(node.elements), interval(listCost));
      case "map":
        return addIntervals(
          this.#sum(node.entries.flatMap(({ key, value }) => [key, value])),
          interval(mapCost),
        );
      case "fold":
        return this.#fold(node);
    }
  }

  #sum(nodes: readonly Expression[]): Interval {
    return nodes.reduce((sum, node) => addIntervals(sum, this.cost(node)), zero);
  }

  #type(node: Expression): CelType {
    return this.#checked.types[node.id] ?? types.dyn;
  }

  #name(node: Expression, name: string): Interval {
    const range = this.#ranges.get(name)?.at(-1);
    if (!range) this.#paths.set(node.id, [name]);
    else {
      const { kind } = this.#type(range);
      const member = kind === "list" ? "@items" : kind === "map" ? "@keys" : undefined;
      if (member) this.#paths.set(node.id, [...(this.#paths.get(range.id) ?? []), member]);
    }
    return one;
  }

  #select(node: Select): Interval {
    if (node.test) return zero;
    const cost = this.cost(node.operand);
    this.#paths.set(node.id, [...(this.#paths.get(node.operand.id) ?? []), node.field]);
    const { kind } = this.#type(node.operand);
    return kind === "map" || kind === "object" || kind === "param" ? addIntervals(cost, one) : cost;
  }

  #node(node: Expression): EstimatedNode {
    const path = this.#paths.get(node.id);
    return {
      path: path && path[0] !== accumulator ? path : undefined,
      type: this.#type(node),
      expression: node,
      computedSize: this.#sizes.get(node.id) ?? literalSize(node),
    };
  }

  /** Returns the size by the expression, by what is known about the data, or by the type. */
  size(node: EstimatedNode): Interval {
    return this.#dataSize(node) ?? (isScalar(node.type) ? one : interval(0, unbounded));
  }

  /** Like size, but a scalar of unknown origin is unbounded, too. */
  librarySize(node: EstimatedNode): Interval {
    return this.#dataSize(node) ?? interval(0, unbounded);
  }

  #dataSize({ computedSize, path }: EstimatedNode): Interval | undefined {
    return computedSize ?? (path && path.length > 0 ? this.#sizeHint(path) : undefined);
  }

  #call(node: Call): Interval {
    const costs = node.args.map((arg) => this.cost(arg));
    const args = node.args.map((arg) => this.#node(arg));
    const reference = this.#checked.references[node.id];
    if (reference?.kind !== "function") return zero;
    const targetNode = reference.global ? undefined : node.target;
    const targetCost = targetNode ? this.cost(targetNode) : zero;
    const target = targetNode && this.#node(targetNode);
    let cost = interval(unbounded, 0);
    let resultSize: Interval | undefined;
    for (const { id } of reference.overloads) {
      const estimate = this.#overload(node.name, id, target, args, costs);
      cost = union(cost, estimate.cost);
      if (estimate.resultSize)
        resultSize = resultSize ? union(resultSize, estimate.resultSize) : estimate.resultSize;
      const member = id === "index_list" ? "@items" : id === "index_map" ? "@values" : undefined;
      if (member) this.#paths.set(node.id, [...(this.#paths.get(node.args[0]!.id) ?? []), member]);
    }
    if (resultSize) this.#sizes.set(node.id, resultSize);
    return addIntervals(targetCost, cost);
  }

  #overload(
    name: string,
    id: string,
    target: EstimatedNode | undefined,
    args: readonly EstimatedNode[],
    costs: readonly Interval[],
  ): CallEstimate {
    const argCosts = costs.reduce(addIntervals, zero);
    const library = estimateLibraryCall(this, name, target, args);
    const own = library ?? this.#standard(id, target, args);
    if (own)
      return {
        cost: addIntervals(own.cost, argCosts),
        ...(own.resultSize && { resultSize: own.resultSize }),
      };
    if (id === "logical_or" || id === "logical_and")
      return { cost: interval(costs[0]!.min, addIntervals(costs[0]!, costs[1]!).max) };
    if (id === "conditional") {
      const cost = addIntervals(costs[0]!, union(costs[1]!, costs[2]!));
      return { cost, resultSize: union(this.size(args[1]!), this.size(args[2]!)) };
    }
    return { cost: addIntervals(one, argCosts) };
  }

  /** Estimates standard functions whose cost depends on sizes, excluding the cost of their arguments. */
  #standard(
    id: string,
    target: EstimatedNode | undefined,
    args: readonly EstimatedNode[],
  ): CallEstimate | undefined {
    const [first, second] = args;
    switch (id) {
      case "string_to_bytes": {
        const size = this.size(first!);
        return { cost: scaled(size, stringFactor), resultSize: interval(size.min, saturated(size.max * 4)) };
      }
      case "bytes_to_string": {
        const size = this.size(first!);
        return { cost: scaled(size, stringFactor), resultSize: interval(Math.floor(size.min / 4), size.max) };
      }
      case "starts_with_string":
      case "ends_with_string":
        return first && { cost: scaled(this.size(first), stringFactor) };
      case "in_list":
        return second && { cost: this.size(second) };
      case "matches_string":
        return target && { cost: this.regexCost(this.size(target), this.size(first!)) };
      case "contains_string":
        return (
          target && {
            cost: multiplyIntervals(
              scaled(this.size(target), stringFactor),
              scaled(this.size(first!), stringFactor),
            ),
          }
        );
      case "add_string":
      case "add_bytes":
      case "add_list": {
        const resultSize = addIntervals(this.size(first!), this.size(second!));
        return { cost: id === "add_list" ? one : scaled(resultSize, stringFactor), resultSize };
      }
      default:
        return comparesBySize(id) ? { cost: this.#comparison(first!, second!) } : undefined;
    }
  }

  regexCost(text: Interval, pattern: Interval): Interval {
    return multiplyIntervals(scaled(addIntervals(text, one), stringFactor), scaled(pattern, regexFactor));
  }

  #comparison(left: EstimatedNode, right: EstimatedNode): Interval {
    const most = Math.min(this.size(left).max, this.size(right).max);
    return scaled(interval(most > 0 ? 1 : 0, most), stringFactor);
  }

  #fold(node: Fold): Interval {
    const start = addIntervals(this.cost(node.range), this.cost(node.initial));
    const ranges = this.#ranges.get(node.variable) ?? [];
    this.#ranges.set(node.variable, ranges);
    ranges.push(node.range);
    const loop = addIntervals(this.cost(node.condition), this.cost(node.step));
    ranges.pop();
    const result = this.cost(node.result);
    const count = this.size(this.#node(node.range));
    if (this.#foldSizes) this.#sizes.set(node.id, count);
    return addIntervals(addIntervals(start, result), multiplyIntervals(count, loop));
  }
}

const comparesBySize = (id: string): boolean =>
  id === "equals" || id === "not_equals" || /^(?:less|greater)(?:_equals)?_(?:string|bytes)$/.test(id);

const isScalar = (type: CelType): boolean =>
  ["bool", "int", "uint", "double", "duration", "timestamp"].includes(type.kind);

/** Returns the size of a literal; strings count bytes here. */
function literalSize(node: Expression): Interval | undefined {
  switch (node.kind) {
    case "literal":
      if (typeof node.value === "string") return interval(Buffer.byteLength(node.value));
      return interval(node.value instanceof Uint8Array ? node.value.length : 1);
    case "list":
      return interval(node.elements.length);
    case "map":
      return interval(node.entries.length);
    default:
      return undefined;
  }
}
