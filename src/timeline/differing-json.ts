// What differs between two encoded JSON objects, without parsing the rest: members whose bytes are the same on both
// sides are left out, and only what is left is parsed. Most of an object stays as it was when its status changes.
//
//   {"metadata":{"name":"a","x":1},"spec":{…}}      →  {"metadata":{"x":1}}
//   {"metadata":{"name":"a","x":2},"spec":{…}}      →  {"metadata":{"x":2}}
//
// Objects have no spaces between their tokens, as the caches encode them. Lists are kept whole where they differ,
// because elements are told apart by all of them.
const [quote, comma, backslash, openList, closeList, open, close] = [
  0x22, 0x2c, 0x5c, 0x5b, 0x5d, 0x7b, 0x7d,
];
const mostLevels = 32;

/** The two objects with only those members that differ. */
export function differingJson(before: Buffer, after: Buffer): readonly [unknown, unknown] {
  const [from, to] = differing(before, 0, after, 0, 0);
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

interface Member {
  /** Where the quoted name begins; a colon stands between it and the value. */
  readonly key: number;
  readonly value: number;
  readonly end: number;
}

function differing(
  a: Buffer,
  aStart: number,
  b: Buffer,
  bStart: number,
  level: number,
): readonly [string, string] {
  const others = membersOf(b, bStart);
  const keyOf = (bytes: Buffer, { key, value }: Member): string => bytes.toString("utf8", key, value);
  let places: Map<string, number> | undefined;
  const placeOf = (one: Member): number => {
    places ??= new Map(others.map((other, place) => [keyOf(b, other), place]));
    return places.get(keyOf(a, one)) ?? -1;
  };
  const taken = new Set<Member>();
  const kept: [string[], string[]] = [[], []];
  let next = 0;
  for (const one of membersOf(a, aStart)) {
    // Both were encoded in the same order, so that the other one is nearly always the next.
    const at = sameKey(a, one, b, others[next]) ? next : placeOf(one);
    const other = others[at];
    if (!other) {
      kept[0].push(a.toString("utf8", one.key, one.end));
      continue;
    }
    next = at + 1;
    taken.add(other);
    if (sameBytes(a, one.value, one.end, b, other.value, other.end)) continue;
    const nested = a[one.value] === open && b[other.value] === open && level < mostLevels;
    const [from, to] = nested
      ? differing(a, one.value, b, other.value, level + 1)
      : [a.toString("utf8", one.value, one.end), b.toString("utf8", other.value, other.end)];
    const key = keyOf(a, one);
    kept[0].push(key + from);
    kept[1].push(key + to);
  }
  if (taken.size < others.length)
    for (const other of others) if (!taken.has(other)) kept[1].push(b.toString("utf8", other.key, other.end));
  return [`{${kept[0].join(",")}}`, `{${kept[1].join(",")}}`];
}

const sameKey = (a: Buffer, one: Member, b: Buffer, other: Member | undefined): boolean =>
  other !== undefined && sameBytes(a, one.key, one.value, b, other.key, other.value);

function sameBytes(
  a: Buffer,
  aStart: number,
  aEnd: number,
  b: Buffer,
  bStart: number,
  bEnd: number,
): boolean {
  if (aEnd - aStart !== bEnd - bStart) return false;
  // The call costs more than a few bytes do.
  if (aEnd - aStart > 48) return a.compare(b, bStart, bEnd, aStart, aEnd) === 0;
  for (let at = aStart, other = bStart; at < aEnd; at++, other++) if (a[at] !== b[other]) return false;
  return true;
}

function membersOf(json: Buffer, start: number): Member[] {
  const members: Member[] = [];
  let at = start + 1;
  while (json[at] === quote) {
    const value = endOfText(json, at) + 1;
    const end = endOfValue(json, value);
    members.push({ key: at, value, end });
    at = json[end] === comma ? end + 1 : end;
  }
  if (json[start] !== open || json[at] !== close) throw new SyntaxError("an encoded object is not whole");
  return members;
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
