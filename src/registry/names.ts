// Validation and generation of object names.
import { getRandomValues } from "node:crypto";
import { flatText } from "#base";
import { dns1035LabelProblems, dns1123LabelProblems, dns1123SubdomainProblems } from "#schema";

/** Returns the problems of a name, or of a prefix to which a suffix will be appended. */
export type NameRule = (name: string, prefix?: boolean) => readonly string[];

/**
 * A trailing dash of a prefix does not stay at the end. As in the reference, the character before the dash is
 * masked, too.
 */
const masked = (name: string): string =>
  name.length > 1 && name.endsWith("-") ? `${name.slice(0, -2)}a` : name;

const nameRuleOf =
  (problems: (name: string) => readonly string[]): NameRule =>
  (name, prefix = false) =>
    problems(prefix ? masked(name) : name);

export const dnsSubdomain = nameRuleOf(dns1123SubdomainProblems);
export const dnsLabel = nameRuleOf(dns1123LabelProblems);
export const dns1035Label = nameRuleOf(dns1035LabelProblems);

/** The weakest rule for names: a single path segment. */
export const pathSegment: NameRule = (name, prefix = false) =>
  !prefix && (name === "." || name === "..")
    ? [`may not be '${name}'`]
    : ["/", "%"].filter((mark) => name.includes(mark)).map((mark) => `may not contain '${mark}'`);

// Consonants and digits that cannot spell words.
const alphabet = "bcdfghjklmnpqrstvwxz2456789";
const suffixLength = 5;
const maxGeneratedLength = 63;

// Random bytes are drawn in bulk, which is cheaper.
const pool = new Uint8Array(4096);
let used = pool.length;
function randomByte(): number {
  if (used === pool.length) {
    getRandomValues(pool);
    used = 0;
  }
  return pool[used++]!;
}

/** Generates a name from a prefix: truncated to fit, with five random characters appended. */
export function generatedName(prefix: string): string {
  let suffix = "";
  for (let i = 0; i < suffixLength; i++) suffix += alphabet[randomByte() % alphabet.length];
  return flatText(prefix.slice(0, maxGeneratedLength - suffixLength) + suffix);
}
