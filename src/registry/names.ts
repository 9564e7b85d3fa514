// Names: what may be one, and how the server makes one.
import { getRandomValues } from "node:crypto";
import { flatText } from "#base";
import { dns1035LabelProblems, dns1123LabelProblems, dns1123SubdomainProblems } from "#schema";

/** What is wrong with a name, or with a prefix that something is going to be put behind. */
export type NameRule = (name: string, prefix?: boolean) => readonly string[];

/**
 * A dash at the end of a prefix will not stay at the end. Clients know this rule with the letter before the
 * dash masked as well.
 */
const masked = (name: string): string =>
  name.length > 1 && name.endsWith("-") ? `${name.slice(0, -2)}a` : name;

const ruled =
  (problems: (name: string) => readonly string[]): NameRule =>
  (name, prefix = false) =>
    problems(prefix ? masked(name) : name);

export const dnsSubdomain = ruled(dns1123SubdomainProblems);
export const dnsLabel = ruled(dns1123LabelProblems);
export const dns1035Label = ruled(dns1035LabelProblems);

/** The least any name must be: one path segment. */
export const pathSegment: NameRule = (name, prefix = false) =>
  !prefix && (name === "." || name === "..")
    ? [`may not be '${name}'`]
    : ["/", "%"].filter((mark) => name.includes(mark)).map((mark) => `may not contain '${mark}'`);

// Letters that read well and spell no words.
const alphabet = "bcdfghjklmnpqrstvwxz2456789";
const suffixLength = 5;
const longestGenerated = 63;

// Random bytes are cheap by the thousand.
const pool = new Uint8Array(4096);
let used = pool.length;
function randomByte(): number {
  if (used === pool.length) {
    getRandomValues(pool);
    used = 0;
  }
  return pool[used++]!;
}

/** A prefix made into a name: cut to fit, five random characters behind it. */
export function generatedName(prefix: string): string {
  let suffix = "";
  for (let i = 0; i < suffixLength; i++) suffix += alphabet[randomByte() % alphabet.length];
  return flatText(prefix.slice(0, longestGenerated - suffixLength) + suffix);
}
