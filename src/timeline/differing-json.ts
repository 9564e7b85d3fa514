// Finds the differences between two encoded JSON objects without parsing them whole: members with identical
// bytes on both sides are dropped, and only the rest is parsed. A status update leaves most of an object
// unchanged.
//
//   {"metadata":{"name":"a","x":1},"spec":{…}}      →  {"metadata":{"x":1}}
//   {"metadata":{"name":"a","x":2},"spec":{…}}      →  {"metadata":{"x":2}}
//
// A list that differs is kept whole, because its elements are identified by comparing all of them; the
// exception is the list whose elements can be compared one by one. Each side is scanned once to record where
// its objects and lists end, so that they are not scanned again at each level of nesting.
import {
  close,
  comma,
  elementsOf,
  type Encoded,
  endOfText,
  endOfValue,
  measured,
  membersFrom,
  open,
  openList,
  quote,
  type Value,
} from "./encoded-json.ts";

const maxLevels = 32;

/** Buffers for the end positions of objects and lists, one per side; larger objects get their own. */
const defaultBytes = 16 * 1024;
const endBuffers = [new Int32Array(defaultBytes), new Int32Array(defaultBytes)] as const;
const endBufferFor = (json: Buffer, side: 0 | 1): Int32Array =>
  json.length <= defaultBytes ? endBuffers[side] : new Int32Array(json.length);

/**
 * Returns the two objects with only those members that differ. Of the list at the path `elementwise`, only
 * those elements are kept that differ from the one at the same index.
 */
export function differingJson(
  before: Buffer,
  after: Buffer,
  elementwise: readonly string[] = [],
): readonly [unknown, unknown] {
  const a = measured(before, endBufferFor(before, 0));
  const b = measured(after, endBufferFor(after, 1));
  const [from, to] = differing(a, 0, b, 0, { levels: maxLevels, elementwise });
  return [JSON.parse(from), JSON.parse(to)];
}

interface Depth {
  /** The number of further levels at which objects are compared member by member. */
  readonly levels: number;
  /** The remaining path to the elementwise list. */
  readonly elementwise: readonly string[];
}

function differing(
  one: Encoded,
  aStart: number,
  two: Encoded,
  bStart: number,
  depth: Depth,
): readonly [string, string] {
  const { json: a } = one;
  const { json: b } = two;
  const kept: [string[], string[]] = [[], []];
  const keep = (key: string, value: Value, other: Value): void => {
    const [from, to] = differingValues(one, value, two, other, inner(depth, key));
    kept[0].push(key + from);
    kept[1].push(key + to);
  };
  // Both were encoded in the same order: as long as the names agree, only one side is scanned.
  let [at, otherAt] = [aStart + 1, bStart + 1];
  while (a[at] === quote && b[otherAt] === quote) {
    const value = endOfText(a, at) + 1;
    const otherValue = otherAt + value - at;
    if (!sameBytes(a, at, value, b, otherAt)) break;
    const end = endOfValue(one, value);
    let otherEnd = otherValue + end - value;
    if (!sameBytes(a, value, end, b, otherValue) || !endsValue(b[otherEnd])) {
      otherEnd = endOfValue(two, otherValue);
      keep(a.toString("utf8", at, value), { value, end }, { value: otherValue, end: otherEnd });
    }
    at = a[end] === comma ? end + 1 : end;
    otherAt = b[otherEnd] === comma ? otherEnd + 1 : otherEnd;
  }
  const left = membersFrom(one, aStart, at);
  const others = new Map(
    membersFrom(two, bStart, otherAt).map((each) => [b.toString("utf8", each.key, each.value), each]),
  );
  for (const each of left) {
    const key = a.toString("utf8", each.key, each.value);
    const found = others.get(key);
    if (!found) kept[0].push(a.toString("utf8", each.key, each.end));
    else if (!sameValue(a, each, b, found)) keep(key, each, found);
    others.delete(key);
  }
  for (const { key, end } of others.values()) kept[1].push(b.toString("utf8", key, end));
  return [`{${kept[0].join(",")}}`, `{${kept[1].join(",")}}`];
}

/** Returns the depth for the member with this key, a quoted name with its colon. */
function inner({ levels, elementwise: [first, ...rest] }: Depth, key: string): Depth {
  return { levels: levels - 1, elementwise: first !== undefined && key === `"${first}":` ? rest : noPath };
}

/** A path that matches nothing. */
const noPath: readonly string[] = [""];

function differingValues(
  one: Encoded,
  value: Value,
  two: Encoded,
  other: Value,
  depth: Depth,
): readonly [string, string] {
  const [first, second] = [one.json[value.value], two.json[other.value]];
  if (first === open && second === open && depth.levels > 0)
    return differing(one, value.value, two, other.value, depth);
  if (first === openList && second === openList && depth.elementwise.length === 0)
    return differingElements(one.json, elementsOf(one, value.value), two.json, elementsOf(two, other.value));
  return [
    one.json.toString("utf8", value.value, value.end),
    two.json.toString("utf8", other.value, other.end),
  ];
}

function differingElements(
  a: Buffer,
  ones: readonly Value[],
  b: Buffer,
  others: readonly Value[],
): readonly [string, string] {
  const same = (at: number): boolean =>
    at < ones.length && at < others.length && sameValue(a, ones[at]!, b, others[at]!);
  const left = (json: Buffer, values: readonly Value[]): string =>
    `[${values
      .filter((_, at) => !same(at))
      .map(({ value, end }) => json.toString("utf8", value, end))
      .join(",")}]`;
  return [left(a, ones), left(b, others)];
}

const sameValue = (a: Buffer, one: Value, b: Buffer, other: Value): boolean =>
  one.end - one.value === other.end - other.value && sameBytes(a, one.value, one.end, b, other.value);

/** Reports whether the other side continues with the same bytes. */
function sameBytes(a: Buffer, start: number, end: number, b: Buffer, other: number): boolean {
  if (other + end - start > b.length) return false;
  // For a few bytes, a loop is cheaper than the call.
  if (end - start > 48) return a.compare(b, other, other + end - start, start, end) === 0;
  for (let at = start, otherAt = other; at < end; at++, otherAt++) if (a[at] !== b[otherAt]) return false;
  return true;
}

const endsValue = (byte: number | undefined): boolean => byte === comma || byte === close;
