// Static cost estimates of library functions.

import { checkCost, regexFactor, selectorCost, stringFactor } from "./call-cost.ts";
import {
  type CallEstimate,
  type EstimatedNode,
  type Interval,
  addIntervals,
  interval,
  multiplyIntervals,
  saturated,
  scaled,
  unbounded,
} from "./interval.ts";

/** Size estimates provided by the estimator. */
export interface Sizes {
  librarySize(node: EstimatedNode): Interval;
  regexCost(text: Interval, pattern: Interval): Interval;
}
type Estimate = (
  sizes: Sizes,
  target: EstimatedNode | undefined,
  args: readonly EstimatedNode[],
) => CallEstimate | undefined;

const one = interval(1);

/** Returns the estimate for a library function, excluding the cost of its arguments. */
export function estimateLibraryCall(
  sizes: Sizes,
  name: string,
  target: EstimatedNode | undefined,
  args: readonly EstimatedNode[],
): CallEstimate | undefined {
  return Object.hasOwn(estimates, name) ? estimates[name]!(sizes, target, args) : undefined;
}

const nominal: Estimate = () => ({ cost: one });

/** One comparison per element, plus the traversal of elements that are strings. */
const listTraversal: Estimate = (sizes, target) => {
  if (!target) return undefined;
  const size = sizes.librarySize(target);
  const element = elementOf(target);
  if (!element) return { cost: scaled(size, stringFactor) };
  const text = element.type.kind === "string" || element.type.kind === "bytes";
  const each = text ? addIntervals(one, scaled(sizes.librarySize(element), stringFactor)) : one;
  return { cost: multiplyIntervals(size, each) };
};

const textTraversal: Estimate = (sizes, target) => {
  if (!target) return undefined;
  const size = sizes.librarySize(target);
  return { cost: scaled(size, stringFactor), resultSize: size };
};

const replacement: Estimate = (sizes, target, [from, to]) => {
  if (!target || !from || !to) return undefined;
  const size = sizes.librarySize(target);
  const resultSize = replacedSize(size, sizes.librarySize(from), sizes.librarySize(to));
  return { cost: scaled(size, 2 * stringFactor), resultSize };
};

/** The longest result replaces the shortest matches by the longest replacement, and vice versa. */
function replacedSize(size: Interval, from: Interval, to: Interval): Interval {
  let maxCount = 0;
  let maxKept = 0;
  if (from.min === 0) {
    maxCount = Math.min(size.max + 1, unbounded);
    maxKept = size.max;
  } else if (to.max <= from.min) maxKept = size.max;
  else maxCount = Math.ceil(size.max / from.min);
  let minCount = 0;
  let minKept = 0;
  if (from.max === 0) {
    minCount = Math.min(size.min + 1, unbounded);
    minKept = size.min;
  } else if (from.max <= to.min) minKept = size.min;
  else minCount = Math.ceil(size.min / from.max);
  const counts = interval(minCount, maxCount);
  return addIntervals(multiplyIntervals(counts, to), interval(minKept, maxKept));
}

const splitting: Estimate = (sizes, target, args) => {
  if (!target) return undefined;
  const size = sizes.librarySize(target);
  const limit = args[1]?.expression;
  const most = limit?.kind === "literal" && typeof limit.value === "number" ? limit.value : size.max;
  return {
    cost: scaled(size, 2 * stringFactor),
    resultSize: interval(0, most < 0 ? unbounded : most),
  };
};

const joining: Estimate = (sizes, target, [separator]) => {
  if (!target) return undefined;
  const count = sizes.librarySize(target);
  const element = elementOf(target);
  let size = element ? multiplyIntervals(count, sizes.librarySize(element)) : interval(0);
  if (separator) {
    const gaps = interval(Math.max(count.min - 1, 0), Math.max(count.max - 1, 0));
    size = addIntervals(size, multiplyIntervals(sizes.librarySize(separator), gaps));
  }
  return { cost: scaled(size, stringFactor), resultSize: size };
};

const finding: Estimate = (sizes, target, [pattern]) => {
  if (!target || !pattern) return undefined;
  const size = sizes.librarySize(target);
  return { cost: sizes.regexCost(size, sizes.librarySize(pattern)), resultSize: interval(0, size.max) };
};

/** Each element of one list is searched in the other. */
function comparison(times: number): Estimate {
  return (sizes, _target, [left, right]) =>
    left &&
    right && {
      cost: addIntervals(
        scaled(multiplyIntervals(sizes.librarySize(left), sizes.librarySize(right)), times),
        one,
      ),
    };
}

const names = (list: string, estimate: Estimate): Record<string, Estimate> =>
  Object.fromEntries(list.split(" ").map((name) => [name, estimate]));

const estimates: Readonly<Record<string, Estimate>> = {
  check: () => ({ cost: interval(checkCost) }),
  ...names("serviceAccount path group resource subresource namespace name allowed denied reason", nominal),
  ...names("fieldSelector labelSelector", (sizes, _target, [text]) => {
    if (!text) return undefined;
    const { min, max } = sizes.librarySize(text);
    return { cost: interval(saturated(selectorCost(min)), saturated(selectorCost(max))) };
  }),
  ...names("isSorted sum max min indexOf lastIndexOf", listTraversal),
  url: (sizes, _target, [text]) => text && { cost: scaled(sizes.librarySize(text), stringFactor) },
  ...names("lowerAscii upperAscii substring trim", textTraversal),
  replace: replacement,
  split: splitting,
  join: joining,
  ...names("find findAll", finding),
  ...names("masked prefixLength family isUnspecified isLoopback isLinkLocalMulticast", nominal),
  ...names("isLinkLocalUnicast isGlobalUnicast isGreaterThan isLessThan compareTo", nominal),
  ip: (_sizes, target) => target && { cost: one },
  containsIP: (sizes, target, [other]) =>
    target && other && { cost: addIntervals(scaled(interval(8, 32), stringFactor), parsing(sizes, other)) },
  containsCIDR: (sizes, target, [other]) =>
    target &&
    other && {
      cost: [scaled(addressSize, stringFactor), one, parsing(sizes, other)].reduce(
        addIntervals,
        scaled(interval(8, 32), stringFactor),
      ),
    },
  validate: (sizes, target, [text]) =>
    target &&
    text && {
      cost: scaled(scaled(sizes.librarySize(text), stringFactor), maxPatternLength * regexFactor),
    },
  "sets.contains": comparison(1),
  "sets.intersects": comparison(1),
  "sets.equivalent": comparison(2),
};

/** Addresses have four or sixteen bytes. */
const addressSize = interval(4, 16);
/** Length of the longest pattern among the named formats for names. */
const maxPatternLength = 128;

/** A string given in place of an address is parsed first. */
const parsing = (sizes: Sizes, node: EstimatedNode): Interval =>
  node.type.kind === "string" ? scaled(sizes.librarySize(node), stringFactor) : interval(0);

/** Returns the elements of a list as a node. */
function elementOf({ path, type }: EstimatedNode): EstimatedNode | undefined {
  if (type.kind !== "list") return undefined;
  return { path: path && [...path, "@items"], type: type.elem, computedSize: undefined };
}
