// Media types in Accept and Content-Type headers. These are read before the client is authenticated, so every
// pattern takes linear time.
import { withoutTrailing } from "#base";

export interface MediaType {
  readonly type: string;
  readonly subtype: string;
  readonly parameters: Readonly<Record<string, string>>;
  readonly quality: number;
}

/** Parses one media type; returns undefined if it is invalid. */
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

const acceptCache = new Map<string, readonly MediaType[]>();

// Clients use few different Accept headers repeatedly; long ones are not cached.
const maxCached = 1000;
const maxCachedLength = 1024;

/**
 * Parses the clauses of an Accept header, most preferred first, as kube-apiserver does: case-sensitive,
 * without quoting, and with clauses of q=0 still acceptable. Invalid clauses are omitted.
 */
export function parseAccept(text: string): readonly MediaType[] {
  const known = acceptCache.get(text);
  if (known) return known;
  const clauses = sortedByPreference(text.split(",").flatMap(acceptClause));
  if (text.length > maxCachedLength) return clauses;
  if (acceptCache.size >= maxCached) acceptCache.clear();
  acceptCache.set(text, clauses);
  return clauses;
}

function acceptClause(text: string): MediaType[] {
  const [essence = "", ...rest] = withoutSpaces(text).split(";");
  const [type = "", subtype = "", ...more] = essence.split("/").map(withoutSpaces);
  const isAny = type === "*" && subtype === "";
  if ((subtype === "" && !isAny) || more.some((part) => part !== "")) return [];
  const parameters = Object.create(null) as Record<string, string>;
  let quality = 1;
  for (const part of rest) {
    const [name = "", value = "", ...beyond] = part.split("=");
    if (value === "" || beyond.some((item) => item !== "")) continue;
    if (withoutSpaces(name) === "q") quality = decimal(value);
    else parameters[withoutSpaces(name)] = withoutSpaces(value);
  }
  return [{ type, subtype: isAny ? "*" : subtype, parameters, quality }];
}

const withoutSpaces = (text: string): string => withoutTrailing(text.replace(/^ +/, ""), " ");

/** Parses a quality; an invalid one is 0. */
const decimal = (text: string): number =>
  /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?$/i.test(text) ? Math.fround(Number(text)) : 0;

/**
 * Go sorts up to this number of clauses by insertion, which is observable: the order is not consistent if
 * qualities differ.
 */
const insertionSortLimit = 12;

function sortedByPreference(clauses: MediaType[]): readonly MediaType[] {
  if (clauses.length > insertionSortLimit)
    return clauses.sort((a, b) => wildcardRank(a) - wildcardRank(b) || b.quality - a.quality);
  for (let from = 1; from < clauses.length; from++)
    for (let at = from; at > 0 && isBefore(clauses[at]!, clauses[at - 1]!); at--)
      [clauses[at - 1], clauses[at]] = [clauses[at]!, clauses[at - 1]!];
  return clauses;
}

/** The number of wildcards in a clause, with a wildcard type counting most. */
const wildcardRank = ({ type, subtype }: MediaType): number =>
  (type === "*" ? 2 : 0) + (subtype === "*" ? 1 : 0);

/** The comparison of kube-apiserver: a more specific clause may precede one of higher quality. */
const isBefore = (a: MediaType, b: MediaType): boolean =>
  a.quality > b.quality || (a.type !== "*" && b.type === "*") || (a.subtype !== "*" && b.subtype === "*");

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
