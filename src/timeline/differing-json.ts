// What differs between two encoded JSON objects, without parsing the rest: members whose bytes are the same on both
// sides are left out, and only what is left is parsed. Most of an object stays as it was when its status changes.
//
//   {"metadata":{"name":"a","x":1},"spec":{…}}      →  {"metadata":{"x":1}}
//   {"metadata":{"name":"a","x":2},"spec":{…}}      →  {"metadata":{"x":2}}
//
// Objects have no spaces between their tokens, as the caches encode them. Lists are kept whole where they differ,
// because elements are told apart by all of them; but for one whose elements stand for themselves.
const [quote, comma, backslash, openList, closeList, open, close] = [
  0x22, 0x2c, 0x5c, 0x5b, 0x5d, 0x7b, 0x7d,
];
const mostLevels = 32;

/**
 * The two objects with only those members that differ. Of the list under the path `elementwise`, only those elements
 * are left that differ from the one at the same place.
 */
export function differingJson(
  before: Buffer,
  after: Buffer,
  elementwise: readonly string[] = [],
): readonly [unknown, unknown] {
  const [from, to] = differing(before, 0, after, 0, { levels: mostLevels, elementwise });
  return [JSON.parse(from), JSON.parse(to)];
}

/** The member of an encoded object under a path of plain names, parsed; undefined where it has none. */
export function memberOf(json: Buffer, path: readonly string[]): unknown {
  let at = 0;
  for (const name of path) {
    const found = memberStart(json, at, name);
    if (found === undefined) return undefined;
    at = found;
  }
  return JSON.parse(json.toString("utf8", at, endOfValue(json, at)));
}

/** Where a member's value begins; what stands behind it is not looked at. */
function memberStart(json: Buffer, start: number, name: string): number | undefined {
  if (json[start] !== open) return undefined;
  for (let at = start + 1; json[at] === quote;) {
    const value = endOfText(json, at) + 1;
    if (value - at - 3 === name.length && json.toString("latin1", at + 1, value - 2) === name) return value;
    const end = endOfValue(json, value);
    at = json[end] === comma ? end + 1 : end;
  }
  return undefined;
}

/** The elements of the list under a path of plain names, each parsed only where one of these members is. */
export function elementsWith<K extends string>(
  json: Buffer,
  path: readonly string[],
  members: readonly K[],
): readonly Partial<Record<K, unknown>>[] {
  let at = 0;
  for (const name of path) {
    const found = memberStart(json, at, name);
    if (found === undefined) return [];
    at = found;
  }
  return elementsOf(json, at).map(({ value }) => {
    const read: Partial<Record<K, unknown>> = {};
    for (const name of members) {
      const found = memberStart(json, value, name);
      if (found !== undefined) read[name] = JSON.parse(json.toString("utf8", found, endOfValue(json, found)));
    }
    return read;
  });
}

interface Value {
  readonly value: number;
  readonly end: number;
}
interface Member extends Value {
  /** Where the quoted name begins; a colon stands between it and the value. */
  readonly key: number;
}

interface Depth {
  /** How much deeper objects are compared by their members. */
  readonly levels: number;
  /** Where the list is, from here. */
  readonly elementwise: readonly string[];
}

function differing(
  a: Buffer,
  aStart: number,
  b: Buffer,
  bStart: number,
  depth: Depth,
): readonly [string, string] {
  const kept: [string[], string[]] = [[], []];
  const keep = (key: string, one: Value, other: Value): void => {
    const [from, to] = differingValues(a, one, b, other, inner(depth, key));
    kept[0].push(key + from);
    kept[1].push(key + to);
  };
  // Both were encoded in the same order: as long as the names are the same, only one side has to be read.
  let [at, other] = [aStart + 1, bStart + 1];
  while (a[at] === quote && b[other] === quote) {
    const value = endOfText(a, at) + 1;
    const otherValue = other + value - at;
    if (!sameBytes(a, at, value, b, other)) break;
    const end = endOfValue(a, value);
    let otherEnd = otherValue + end - value;
    if (!sameBytes(a, value, end, b, otherValue) || !endsValue(b[otherEnd])) {
      otherEnd = endOfValue(b, otherValue);
      keep(a.toString("utf8", at, value), { value, end }, { value: otherValue, end: otherEnd });
    }
    at = a[end] === comma ? end + 1 : end;
    other = b[otherEnd] === comma ? otherEnd + 1 : otherEnd;
  }
  const left = membersFrom(a, aStart, at);
  const others = new Map(
    membersFrom(b, bStart, other).map((each) => [b.toString("utf8", each.key, each.value), each]),
  );
  for (const one of left) {
    const key = a.toString("utf8", one.key, one.value);
    const found = others.get(key);
    if (!found) kept[0].push(a.toString("utf8", one.key, one.end));
    else if (!sameValue(a, one, b, found)) keep(key, one, found);
    others.delete(key);
  }
  for (const { key, end } of others.values()) kept[1].push(b.toString("utf8", key, end));
  return [`{${kept[0].join(",")}}`, `{${kept[1].join(",")}}`];
}

/** One level deeper, below a quoted name with its colon. */
function inner({ levels, elementwise: [first, ...rest] }: Depth, key: string): Depth {
  return { levels: levels - 1, elementwise: first !== undefined && key === `"${first}":` ? rest : noPath };
}

/** A path that leads nowhere. */
const noPath: readonly string[] = [""];

function differingValues(
  a: Buffer,
  one: Value,
  b: Buffer,
  other: Value,
  depth: Depth,
): readonly [string, string] {
  const [first, second] = [a[one.value], b[other.value]];
  if (first === open && second === open && depth.levels > 0)
    return differing(a, one.value, b, other.value, depth);
  if (first === openList && second === openList && depth.elementwise.length === 0)
    return differingElements(a, elementsOf(a, one.value), b, elementsOf(b, other.value));
  return [a.toString("utf8", one.value, one.end), b.toString("utf8", other.value, other.end)];
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

/** Whether the other side goes on with the same bytes. */
function sameBytes(a: Buffer, start: number, end: number, b: Buffer, other: number): boolean {
  if (other + end - start > b.length) return false;
  // The call costs more than a few bytes do.
  if (end - start > 48) return a.compare(b, other, other + end - start, start, end) === 0;
  for (let at = start, there = other; at < end; at++, there++) if (a[at] !== b[there]) return false;
  return true;
}

const endsValue = (byte: number | undefined): boolean => byte === comma || byte === close;

/** The members from a place on of the object that begins at `start`. */
function membersFrom(json: Buffer, start: number, from: number): Member[] {
  const members: Member[] = [];
  let at = from;
  while (json[at] === quote) {
    const value = endOfText(json, at) + 1;
    const end = endOfValue(json, value);
    members.push({ key: at, value, end });
    at = json[end] === comma ? end + 1 : end;
  }
  if (json[start] !== open || json[at] !== close) throw new SyntaxError("an encoded object is not whole");
  return members;
}

function elementsOf(json: Buffer, start: number): Value[] {
  const elements: Value[] = [];
  for (let at = start + 1; json[start] === openList && at < json.length && json[at] !== closeList;) {
    const end = endOfValue(json, at);
    elements.push({ value: at, end });
    at = json[end] === comma ? end + 1 : end;
  }
  return elements;
}

function endOfValue(json: Buffer, start: number): number {
  const first = json[start];
  if (first === quote) return endOfText(json, start);
  if (first !== open && first !== openList) {
    let at = start;
    while (at < json.length && json[at] !== comma && json[at] !== close && json[at] !== closeList) at++;
    return at;
  }
  let depth = 0;
  for (let at = start; at < json.length; at++) {
    const byte = json[at];
    if (byte === quote) at = endOfText(json, at) - 1;
    else if (byte === open || byte === openList) depth++;
    else if ((byte === close || byte === closeList) && --depth === 0) return at + 1;
  }
  return json.length;
}

/** Behind the quote that ends a text. */
function endOfText(json: Buffer, start: number): number {
  let at = start + 1;
  while (at < json.length && json[at] !== quote) at += json[at] === backslash ? 2 : 1;
  return at + 1;
}
