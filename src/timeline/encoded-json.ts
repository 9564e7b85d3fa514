// Finds members and elements in encoded JSON without parsing the rest. The JSON has no whitespace between
// tokens, as the caches encode it.
export const [quote, comma, backslash, openList, closeList, open, close] = [
  0x22, 0x2c, 0x5c, 0x5b, 0x5d, 0x7b, 0x7d,
];

/**
 * Encoded JSON with the end positions of its objects and lists, indexed by their start. If `ends` is
 * undefined, values are scanned to find their end.
 */
export interface Encoded {
  readonly json: Buffer;
  readonly ends: Int32Array | undefined;
}
export interface Value {
  readonly value: number;
  readonly end: number;
}
export interface Member extends Value {
  /** The position of the quoted name; a colon separates it from the value. */
  readonly key: number;
}

/** Returns the parsed member at a path of plain names, or undefined if it is absent. */
export function memberOf(json: Buffer, path: readonly string[]): unknown {
  const at = placeOf(json, path);
  return at === undefined ? undefined : parsed({ json, ends: undefined }, at);
}

/** Returns the elements of the list at a path of plain names, with only the given members parsed. */
export function elementsWith<K extends string>(
  json: Buffer,
  path: readonly string[],
  members: readonly K[],
): readonly Partial<Record<K, unknown>>[] {
  const at = placeOf(json, path);
  if (at === undefined) return [];
  const encoded = { json, ends: undefined };
  return elementsOf(encoded, at).map(({ value }) => {
    const read: Partial<Record<K, unknown>> = {};
    for (const name of members) {
      const found = memberStart(encoded, value, name);
      if (found !== undefined) read[name] = parsed(encoded, found);
    }
    return read;
  });
}

const parsed = (encoded: Encoded, at: number): unknown =>
  JSON.parse(encoded.json.toString("utf8", at, endOfValue(encoded, at)));

function placeOf(json: Buffer, path: readonly string[]): number | undefined {
  const encoded = { json, ends: undefined };
  let at: number | undefined = 0;
  for (const name of path) if (at !== undefined) at = memberStart(encoded, at, name);
  return at;
}

/** Returns the position of a member's value; bytes after it are not scanned. */
function memberStart(encoded: Encoded, start: number, name: string): number | undefined {
  const { json } = encoded;
  if (json[start] !== open) return undefined;
  for (let at = start + 1; json[at] === quote;) {
    const value = endOfText(json, at) + 1;
    if (value - at - 3 === name.length && json.toString("latin1", at + 1, value - 2) === name) return value;
    const end = endOfValue(encoded, value);
    at = json[end] === comma ? end + 1 : end;
  }
  return undefined;
}

/** Returns the members starting at position `from` of the object that begins at `start`. */
export function membersFrom(encoded: Encoded, start: number, from: number): Member[] {
  const { json } = encoded;
  const members: Member[] = [];
  let at = from;
  while (json[at] === quote) {
    const value = endOfText(json, at) + 1;
    const end = endOfValue(encoded, value);
    members.push({ key: at, value, end });
    at = json[end] === comma ? end + 1 : end;
  }
  if (json[start] !== open || json[at] !== close) throw new SyntaxError("an encoded object is not whole");
  return members;
}

export function elementsOf(encoded: Encoded, start: number): Value[] {
  const { json } = encoded;
  const elements: Value[] = [];
  for (let at = start + 1; json[start] === openList && at < json.length && json[at] !== closeList;) {
    const end = endOfValue(encoded, at);
    elements.push({ value: at, end });
    at = json[end] === comma ? end + 1 : end;
  }
  return elements;
}

export function endOfValue({ json, ends }: Encoded, start: number): number {
  const first = json[start];
  if (first === quote) return endOfText(json, start);
  if (first !== open && first !== openList) {
    let at = start;
    while (at < json.length && json[at] !== comma && json[at] !== close && json[at] !== closeList) at++;
    return at;
  }
  if (ends) return ends[start]!;
  let depth = 0;
  for (let at = start; at < json.length; at++) {
    const byte = json[at];
    if (byte === quote) at = endOfText(json, at) - 1;
    else if (byte === open || byte === openList) depth++;
    else if ((byte === close || byte === closeList) && --depth === 0) return at + 1;
  }
  return json.length;
}

/** Returns the position after the closing quote of the string that begins at `start`. */
export function endOfText(json: Buffer, start: number): number {
  const { length } = json;
  let at = start + 1;
  for (let byte = json[at]; byte !== quote && at < length; byte = json[at]) at += byte === backslash ? 2 : 1;
  return at + 1;
}

/**
 * Scans the JSON once. The end positions are written to `room`, which may be overwritten by the next call.
 */
export function measured(json: Buffer, ends: Int32Array): Encoded {
  const { length } = json;
  const openStarts: number[] = [];
  for (let at = 0; at < length; at++) {
    const byte = json[at]!;
    if (byte === quote) at = endOfText(json, at) - 1;
    // Most bytes outside of strings are colons and commas; brackets and braces have higher codes.
    else if (byte < openList) continue;
    else if (byte === open || byte === openList) openStarts.push(at);
    else if ((byte === close || byte === closeList) && openStarts.length > 0)
      ends[openStarts.pop()!] = at + 1;
  }
  // Truncated values end at the end of the input.
  for (const at of openStarts) ends[at] = json.length;
  return { json, ends };
}
