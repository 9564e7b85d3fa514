// The string formats supported in schemas. Unknown formats are not checked.
import { isIPv6 } from "node:net";
import { DurationError, parseDuration, parseIp } from "#base";

type Check = (text: string) => boolean;

const uuid = (version: string, variant = "[0-9a-f]"): Check => {
  const pattern = new RegExp(
    `^[0-9a-f]{8}-?[0-9a-f]{4}-?${version}[0-9a-f]{3}-?${variant}[0-9a-f]{3}-?[0-9a-f]{12}$`,
    "i",
  );
  return (text) => pattern.test(text);
};

let madeHostPattern: RegExp | undefined;

/**
 * Matches a hostname: one label, or several of which the last is a top-level domain. Not a regex literal,
 * because V8 would then look up the Unicode categories at every start.
 */
function hostPattern(): RegExp {
  const [character, last] = [String.raw`[a-zA-Z0-9\p{S}\p{L}]`, String.raw`[a-zA-Z\p{L}]`];
  const label = `${character}(?:-?${character}{0,62})?`;
  const inner = String.raw`${character}(?:[-a-zA-Z0-9\p{S}\p{L}]{0,61}${character})?`;
  return (madeHostPattern ??= new RegExp(String.raw`^(?:${label}|(?:${inner}\.)+${last}{2,63})$`, "u"));
}

const hostname: Check = (text) =>
  text.length <= 255 &&
  text.split(".").every((label) => Buffer.byteLength(label) <= 63) &&
  hostPattern().test(text);

/** Leading zeros are accepted in IPv4 addresses and networks, as in kube-apiserver. */
const isIpv4: Check = (text) => text.includes(".") && parseIp(text) !== undefined;

function isCidr(text: string): boolean {
  const [address = "", bits = "", more] = text.split("/");
  const most = parseIp(address) === undefined ? -1 : address.includes(":") ? 128 : 32;
  return more === undefined && /^\d{1,3}$/.test(bits) && Number(bits) <= most;
}

/** Reports whether the text may occur in a request line: an absolute URI, a path or an asterisk. */
function isRequestUri(text: string): boolean {
  if (text === "*") return true;
  if (text === "" || /[\s\p{Cc}]/u.test(text)) return false;
  if (text.startsWith("/")) return !/%(?![0-9a-fA-F]{2})/.test(text.split("?", 1)[0]!);
  const scheme = /^([a-zA-Z][a-zA-Z0-9+.-]*):/.exec(text);
  return scheme !== null && (URL.canParse(text) || !text.slice(scheme[0].length).startsWith("//"));
}

/** Reports whether the text is an email address, bare or with a display name: `a@b`, `Ann <a@b>`. */
function isEmail(text: string): boolean {
  const address = /^(?:[^<>]*<([^<>]+)>)$/.exec(text.trim())?.[1] ?? text.trim();
  const at = address.lastIndexOf("@");
  if (at <= 0 || at === address.length - 1) return false;
  const local = address.slice(0, at);
  const domain = address.slice(at + 1);
  const atoms = /^[^\s()<>[\]:;@\\,."]+(?:\.[^\s()<>[\]:;@\\,."]+)*$/;
  const literal = /^\[[^[\]\\]*\]$/;
  return (
    (atoms.test(local) || /^"(?:[^"\\]|\\.)*"$/.test(local)) && (atoms.test(domain) || literal.test(domain))
  );
}

const macPattern =
  /^(?:[0-9a-f]{2}([:-])(?:[0-9a-f]{2}\1){4}[0-9a-f]{2}(?:(?:\1[0-9a-f]{2}){2})?(?:(?:\1[0-9a-f]{2}){12})?|[0-9a-f]{4}(?:\.[0-9a-f]{4}){2}(?:\.[0-9a-f]{4}){0,1}|[0-9a-f]{4}(?:\.[0-9a-f]{4}){9})$/i;

const digitsOf = (text: string): string => text.replace(/[\s-]/g, "");

function isIsbn10(text: string): boolean {
  const digits = digitsOf(text);
  if (!/^\d{9}[\dX]$/.test(digits)) return false;
  const sum = Array.from(digits).reduce(
    (total, digit, i) => total + (i + 1) * (digit === "X" ? 10 : Number(digit)),
    0,
  );
  return sum % 11 === 0;
}
function isIsbn13(text: string): boolean {
  const digits = digitsOf(text);
  if (!/^\d{13}$/.test(digits)) return false;
  const sum = Array.from(digits.slice(0, 12)).reduce(
    (total, digit, i) => total + (i % 2 === 0 ? 1 : 3) * Number(digit),
    0,
  );
  return (10 - (sum % 10)) % 10 === Number(digits[12]);
}

const cardPattern =
  /^(?:4\d{12}(?:\d{3})?|5[1-5]\d{14}|(?:222[1-9]|22[3-9]\d|2[3-6]\d{2}|27[01]\d|2720)\d{12}|6(?:011|5\d\d)\d{12}|3[47]\d{13}|3(?:0[0-5]|[68]\d)\d{11}|(?:2131|1800|35\d{3})\d{11}|6[27]\d{14})$/;
function isCreditCard(text: string): boolean {
  const digits = text.replace(/\D+/g, "");
  if (!cardPattern.test(digits)) return false;
  let sum = 0;
  for (let i = 0; i < digits.length; i++) {
    const digit = Number(digits[digits.length - 1 - i]);
    const doubled = i % 2 === 1 ? digit * 2 : digit;
    sum += doubled > 9 ? doubled - 9 : doubled;
  }
  return sum % 10 === 0;
}

const colorPart = "(?:0|[1-9]\\d?|1\\d\\d?|2[0-4]\\d|25[0-5])";
const rgbPattern = new RegExp(`^rgb\\(\\s*${colorPart}\\s*,\\s*${colorPart}\\s*,\\s*${colorPart}\\s*\\)$`);

const words = ["nano", "micro", "milli", "sec", "min", "hour", "day", "week"];
const units = new Set(["ns", "us", "µs", "ms", "s", "m", "h", "hr", "d", "w", "wk"]);

/** Reports whether the text is a duration such as `1h30m` or `3 days`. */
function isDuration(text: string): boolean {
  try {
    parseDuration(text);
    return true;
  } catch (error) {
    if (!(error instanceof DurationError)) throw error;
  }
  // Only the last digit of a number: searching for whole numbers would take quadratic time.
  return [...text.matchAll(/\d\s*([A-Za-zµ]+)/g)].some(([, unit = ""]) => {
    const lower = unit.toLowerCase();
    return units.has(lower) || words.some((word) => lower.startsWith(word));
  });
}

const datePattern = /^(\d{4})-(\d\d)-(\d\d)$/;
function isDate(text: string): boolean {
  const [, year, month, day] = datePattern.exec(text) ?? [];
  if (!year) return false;
  const date = new Date(Date.UTC(Number(year), Number(month) - 1, Number(day)));
  date.setUTCFullYear(Number(year), Number(month) - 1, Number(day));
  return date.getUTCMonth() + 1 === Number(month) && date.getUTCDate() === Number(day);
}

const dateTimePattern =
  /^(\d{4}-\d\d-\d\d)[Tt](?:[01]\d|2[0-3]):[0-5]\d:(?:[0-5]\d|60)(?:\.\d+)?(?:[Zz]|[+-](?:[01]\d|2[0-3]):?[0-5]\d)$/;

const formats: Readonly<Record<string, Check>> = {
  bsonobjectid: (text) => /^[0-9a-fA-F]{24}$/.test(text),
  uri: isRequestUri,
  email: isEmail,
  hostname,
  ipv4: isIpv4,
  ipv6: (text) => isIPv6(text),
  cidr: isCidr,
  mac: (text) => macPattern.test(text),
  uuid: uuid("[0-9a-f]"),
  uuid3: uuid("3"),
  uuid4: uuid("4", "[89ab]"),
  uuid5: uuid("5", "[89ab]"),
  isbn: (text) => isIsbn10(text) || isIsbn13(text),
  isbn10: isIsbn10,
  isbn13: isIsbn13,
  creditcard: isCreditCard,
  ssn: (text) => /^\d{3}[- ]?\d{2}[- ]?\d{4}$/.test(text),
  hexcolor: (text) => /^#?(?:[0-9a-fA-F]{3}|[0-9a-fA-F]{6})$/.test(text),
  rgbcolor: (text) => rgbPattern.test(text),
  byte: (text) => text.length > 0 && text.length % 4 === 0 && /^[A-Za-z0-9+/]+={0,2}$/.test(text),
  password: () => true,
  date: isDate,
  duration: isDuration,
  datetime: (text) => isDate(dateTimePattern.exec(text)?.[1] ?? ""),
};

/** Returns the check of a format, or undefined if the format is unknown. */
export const formatCheck = (format: string): Check | undefined => {
  const name = format.replaceAll("-", "");
  return Object.hasOwn(formats, name) ? formats[name] : undefined;
};
