// Names: what may be one, and how the server makes one.
import { getRandomValues } from "node:crypto";

const label = "[a-z0-9]([-a-z0-9]*[a-z0-9])?";
const subdomainPattern = new RegExp(`^${label}(\\.${label})*$`);
const labelPattern = new RegExp(`^${label}$`);
const dns1035Pattern = /^[a-z]([-a-z0-9]*[a-z0-9])?$/;

export const dnsSubdomain = (name: string): string | undefined =>
  name.length > 253
    ? "must be no more than 253 characters"
    : subdomainPattern.test(name)
      ? undefined
      : "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character";

export const dnsLabel = (name: string): string | undefined =>
  name.length > 63
    ? "must be no more than 63 characters"
    : labelPattern.test(name)
      ? undefined
      : "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character";

export const dns1035Label = (name: string): string | undefined =>
  name.length > 63
    ? "must be no more than 63 characters"
    : dns1035Pattern.test(name)
      ? undefined
      : "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character";

/** The least any name must be: one path segment. */
export const pathSegment = (name: string): string | undefined =>
  name === "." || name === ".." ? `may not be '${name}'` : name.includes("/") ? "may not contain '/'" : name.includes("%") ? "may not contain '%'" : undefined;

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
  return prefix.slice(0, longestGenerated - suffixLength) + suffix;
}
