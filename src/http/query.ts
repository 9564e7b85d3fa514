// Query parameters, decoded once, as in Go: parameters with a semicolon or an invalid escape are ignored.

/** Returns values by name; `get` returns the first one. */
export interface Query {
  get(name: string): string | undefined;
  all(name: string): readonly string[];
  has(name: string): boolean;
  names(): Iterable<string>;
}

const empty: Query = { get: () => undefined, all: () => [], has: () => false, names: () => [] };

export function parseQuery(search: string): Query {
  if (search === "") return empty;
  const values = new Map<string, string[]>();
  for (const part of search.split("&")) {
    if (part === "" || part.includes(";") || badEscape.test(part)) continue;
    const cut = part.indexOf("=");
    const name = decode(cut < 0 ? part : part.slice(0, cut));
    const value = cut < 0 ? "" : decode(part.slice(cut + 1));
    const known = values.get(name);
    if (known) known.push(value);
    else values.set(name, [value]);
  }
  return {
    get: (name) => values.get(name)?.[0],
    all: (name) => values.get(name) ?? [],
    has: (name) => values.has(name),
    names: () => values.keys(),
  };
}

const badEscape = /%(?![0-9a-f]{2})/i;

function decode(text: string): string {
  if (!text.includes("%") && !text.includes("+")) return text;
  const spaced = text.replaceAll("+", " ");
  try {
    return decodeURIComponent(spaced);
  } catch {
    // The bytes are not valid UTF-8.
    const parts = spaced
      .split(/(%[0-9a-f]{2})/i)
      .map((part) => (part.startsWith("%") ? Buffer.from(part.slice(1), "hex") : Buffer.from(part)));
    return Buffer.concat(parts).toString();
  }
}
