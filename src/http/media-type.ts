// Media types as they stand in Accept and Content-Type.

export interface MediaType {
  readonly type: string;
  readonly subtype: string;
  readonly parameters: Readonly<Record<string, string>>;
  readonly quality: number;
}

/** Reads one media type, or undefined when it is not one. */
export function parseMediaType(text: string): MediaType | undefined {
  const [essence = "", ...rest] = splitOutsideQuotes(text, ";");
  const match = /^\s*([!#$%&'*+.^_`|~0-9A-Za-z-]+)\/([!#$%&'*+.^_`|~0-9A-Za-z-]+)\s*$/.exec(essence);
  if (!match) return undefined;
  const parameters = Object.create(null) as Record<string, string>;
  let quality = 1;
  for (const part of rest) {
    const cut = part.indexOf("=");
    if (cut < 0) continue;
    const name = part.slice(0, cut).trim().toLowerCase();
    const value = part
      .slice(cut + 1)
      .trim()
      .replace(/^"(.*)"$/s, "$1");
    if (name === "q") quality = Number.isNaN(Number(value)) ? 1 : Number(value);
    else parameters[name] = value;
  }
  return { type: match[1]!.toLowerCase(), subtype: match[2]!.toLowerCase(), parameters, quality };
}

const accepted = new Map<string, readonly MediaType[]>();

// Clients send few different ones, again and again; long ones are not worth keeping.
const mostRemembered = 1000;
const longestRemembered = 1024;

/**
 * The clauses of an Accept header, most wanted first, otherwise in order. Clauses that cannot be read, or
 * that refuse (q=0), are left out.
 */
export function parseAccept(text: string): readonly MediaType[] {
  const known = accepted.get(text);
  if (known) return known;
  const clauses = splitOutsideQuotes(text, ",")
    .map(parseMediaType)
    .filter((clause) => clause !== undefined)
    .filter(({ quality }) => quality > 0)
    .map((clause, position) => ({ clause, position }))
    .sort((a, b) => b.clause.quality - a.clause.quality || a.position - b.position)
    .map(({ clause }) => clause);
  if (text.length > longestRemembered) return clauses;
  if (accepted.size >= mostRemembered) accepted.clear();
  accepted.set(text, clauses);
  return clauses;
}

function splitOutsideQuotes(text: string, separator: string): string[] {
  if (!text.includes('"')) return text.split(separator);
  const parts: string[] = [];
  let quoted = false;
  let from = 0;
  for (let at = 0; at < text.length; at++) {
    if (text[at] === '"') quoted = !quoted;
    else if (text[at] === separator && !quoted) {
      parts.push(text.slice(from, at));
      from = at + 1;
    }
  }
  parts.push(text.slice(from));
  return parts;
}
