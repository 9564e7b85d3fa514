// IP addresses and CIDRs in objects.
import { type FieldError, type IpScope, formatIp, invalidValue, parseIp as ipBytes, ipScope } from "#base";
import { isIPv6 } from "node:net";

/** Parses an IP address. Leading zeros in IPv4 octets are accepted for compatibility. */
export function parseIp(text: string): { readonly family: 4 | 6; readonly text: string } | undefined {
  const bytes = ipBytes(text);
  return bytes && { family: bytes.length === 4 ? 4 : 6, text: formatIp(bytes) };
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

/** Validates the IP of an endpoint, which must not be unspecified, loopback or link-local. */
export function ordinaryIpErrors(text: string, field: string): FieldError[] {
  const ip = parseIp(text);
  if (!ip) return [invalidValue(field, text, "must be a valid IP address")];
  const scope = ipScope(ipBytes(text)!);
  if (scope === "unspecified") return [invalidValue(field, text, `may not be unspecified (${text})`)];
  const range = localRanges[scope];
  return range === undefined ? [] : [invalidValue(field, text, `may not be in the ${range}`)];
}

const localRanges: Partial<Record<IpScope, string>> = {
  loopback: "loopback range (127.0.0.0/8, ::1/128)",
  "link-local": "link-local range (169.254.0.0/16, fe80::/10)",
  "link-local multicast": "link-local multicast range (224.0.0.0/24, ff02::/10)",
};

/** Parses a CIDR such as `10.0.0.0/8`. */
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

/** Reports whether a block is strictly contained in another one. */
export function isStrictPart(part: Block, whole: Block): boolean {
  if (part.family !== whole.family || part.bits <= whole.bits) return false;
  const shift = BigInt((whole.family === 4 ? 32 : 128) - whole.bits);
  return addressNumber(part.address) >> shift === addressNumber(whole.address) >> shift;
}

/** Converts an address that parseIp() accepts to a number. */
export const addressNumber = (text: string): bigint =>
  ipBytes(text)!.reduce((sum, byte) => sum * 256n + BigInt(byte), 0n);
