// IP addresses as objects carry them.
import { type FieldError, invalidValue } from "#base";
import { isIP, isIPv4, isIPv6 } from "node:net";

/** Leading zeros in the parts of an IPv4 address are let pass, as they always were. */
export function parseIp(text: string): { readonly family: 4 | 6; readonly text: string } | undefined {
  const plain = /^\d+(\.\d+){3}$/.test(text) ? text.replace(/(^|\.)0+(?=\d)/g, "$1") : text;
  if (text.includes("%") || isIP(plain) === 0) return undefined;
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(plain);
  return mapped ? { family: 4, text: mapped[1]! } : { family: isIPv4(plain) ? 4 : 6, text: plain };
}

export const ipErrors = (text: string, field: string): FieldError[] =>
  parseIp(text)
    ? []
    : [invalidValue(field, text, "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)")];
export const ipv4Errors = (text: string, field: string): FieldError[] =>
  parseIp(text)?.family === 4 ? [] : [invalidValue(field, text, "must be a valid IPv4 address")];
export const ipv6Errors = (text: string, field: string): FieldError[] =>
  isIPv6(text) && parseIp(text)?.family === 6
    ? []
    : [invalidValue(field, text, "must be a valid IPv6 address")];

/** Addresses that mean something only on one host cannot be endpoints. */
export function ordinaryIpErrors(text: string, field: string): FieldError[] {
  const ip = parseIp(text);
  if (!ip) return [invalidValue(field, text, "must be a valid IP address")];
  const wrong = ip.family === 4 ? special4(ip.text) : special6(ip.text.toLowerCase());
  return wrong
    ? [invalidValue(field, text, `may not be ${wrong === "unspecified" ? `unspecified (${text})` : wrong}`)]
    : [];
}

function special4(text: string): string | undefined {
  if (text === "0.0.0.0") return "unspecified";
  if (text.startsWith("127.")) return "in the loopback range (127.0.0.0/8, ::1/128)";
  if (text.startsWith("169.254.")) return "in the link-local range (169.254.0.0/16, fe80::/10)";
  return text.startsWith("224.0.0.")
    ? "in the link-local multicast range (224.0.0.0/24, ff02::/10)"
    : undefined;
}

function special6(text: string): string | undefined {
  if (/^(0{0,4}:)+(:|0{0,4})?$/.test(text) && !/[1-9a-f]/.test(text)) return "unspecified";
  if (/^(0{0,4}:)+0{0,3}1$/.test(text)) return "in the loopback range (127.0.0.0/8, ::1/128)";
  if (/^fe[89ab][0-9a-f]:/.test(text)) return "in the link-local range (169.254.0.0/16, fe80::/10)";
  return /^ff[0-9a-f]2:/.test(text)
    ? "in the link-local multicast range (224.0.0.0/24, ff02::/10)"
    : undefined;
}

/** An address block such as `10.0.0.0/8`. */
export function parseCidr(
  text: string,
): { readonly family: 4 | 6; readonly bits: number; readonly address: string } | undefined {
  const found = /^([^/]+)\/(\d{1,3})$/.exec(text);
  const ip = found ? parseIp(found[1]!) : undefined;
  if (!found || !ip) return undefined;
  const bits = Number(found[2]);
  return bits <= (ip.family === 4 ? 32 : 128) ? { family: ip.family, bits, address: ip.text } : undefined;
}

export const cidrErrors = (text: string, field: string): FieldError[] =>
  parseCidr(text)
    ? []
    : [invalidValue(field, text, "must be an IP block in CIDR notation, such as 10.9.8.0/24")];

type Block = NonNullable<ReturnType<typeof parseCidr>>;

/** Whether one block lies within another and is smaller. */
export function isStrictPart(part: Block, whole: Block): boolean {
  if (part.family !== whole.family || part.bits <= whole.bits) return false;
  const shift = BigInt((whole.family === 4 ? 32 : 128) - whole.bits);
  return (
    addressNumber(part.address, part.family) >> shift === addressNumber(whole.address, whole.family) >> shift
  );
}

/** An address that parseIp() has read, as a number. */
export function addressNumber(text: string, family: 4 | 6): bigint {
  if (family === 4) return text.split(".").reduce((sum, part) => sum * 256n + BigInt(part), 0n);
  const dotted = /^(.*:)(\d+\.\d+\.\d+\.\d+)$/.exec(text);
  const tail = dotted ? addressNumber(dotted[2]!, 4) : 0n;
  const words = dotted ? `${dotted[1]}${(tail >> 16n).toString(16)}:${(tail & 0xffffn).toString(16)}` : text;
  const [head = "", rest] = words.split("::");
  const [before, after] = [head, rest ?? ""].map((side) => (side === "" ? [] : side.split(":")));
  const filled = [
    ...before!,
    ...Array.from({ length: 8 - before!.length - after!.length }, () => "0"),
    ...after!,
  ];
  return filled.reduce((sum, word) => sum * 65536n + BigInt(`0x${word}`), 0n);
}
