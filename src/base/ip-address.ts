// IP addresses as bytes. One address can be written in many ways, so access checks compare the bytes.

/**
 * Four or sixteen bytes. An IPv4 address mapped into IPv6 (`::ffff:10.0.0.1`) is stored as its four bytes.
 */
export type IpBytes = Uint8Array;

/**
 * Parses an address as kube-apiserver does (net.ParseIP, but leading zeros are accepted and read as decimal).
 * Returns undefined for anything else, including addresses with a zone.
 */
export function parseIp(text: string): IpBytes | undefined {
  if (text.length > 64) return undefined;
  return text.includes(":") ? parse6(text) : parse4(text);
}

function parse4(text: string): IpBytes | undefined {
  const parts = text.split(".");
  if (parts.length !== 4 || !parts.every((part) => /^\d{1,15}$/.test(part) && Number(part) < 256))
    return undefined;
  return Uint8Array.from(parts, Number);
}

function parse6(text: string): IpBytes | undefined {
  const halves = text.split("::");
  if (halves.length > 2) return undefined;
  const [head, tail] = halves.map((half) => groupsOf(half));
  if (!head || (halves.length === 2 && !tail)) return undefined;
  const missing = 8 - head.length - (tail?.length ?? 0);
  if (tail === undefined ? missing !== 0 : missing < 1) return undefined;
  // A dotted part may only be the last one.
  if (tail !== undefined && halves[0]!.includes(".")) return undefined;
  const groups = [...head, ...Array<number>(missing).fill(0), ...(tail ?? [])];
  const bytes = Uint8Array.from(groups.flatMap((group) => [group >> 8, group & 255]));
  return isMapped(bytes) ? bytes.slice(12) : bytes;
}

/** Parses the 16-bit groups of one side of `::`; returns undefined if one of them is invalid. */
function groupsOf(half: string): number[] | undefined {
  if (half === "") return [];
  const groups: number[] = [];
  const parts = half.split(":");
  for (const [index, part] of parts.entries()) {
    if (index === parts.length - 1 && part.includes(".")) {
      const dotted = parse4(part);
      if (!dotted) return undefined;
      groups.push((dotted[0]! << 8) | dotted[1]!, (dotted[2]! << 8) | dotted[3]!);
    } else if (/^[0-9a-fA-F]{1,4}$/.test(part)) groups.push(Number.parseInt(part, 16));
    else return undefined;
  }
  return groups;
}

const isMapped = (bytes: IpBytes): boolean =>
  bytes.subarray(0, 10).every((byte) => byte === 0) && bytes[10] === 255 && bytes[11] === 255;

/** Formats an address canonically (RFC 5952). */
export function formatIp(bytes: IpBytes): string {
  if (bytes.length === 4) return bytes.join(".");
  const groups = Array.from({ length: 8 }, (_, i) => (bytes[2 * i]! << 8) | bytes[2 * i + 1]!);
  let [start, length] = [0, 1];
  for (let i = 0; i < 8; i++) {
    let end = i;
    while (groups[end] === 0) end++;
    if (end - i > length) [start, length] = [i, end - i];
  }
  const hex = (part: number[]): string => part.map((group) => group.toString(16)).join(":");
  return length < 2 ? hex(groups) : `${hex(groups.slice(0, start))}::${hex(groups.slice(start + length))}`;
}

export type IpScope =
  | "unspecified"
  | "loopback"
  | "link-local"
  | "link-local multicast"
  | "multicast"
  | "broadcast"
  | "global";

/** Returns the scope of an address, by the ranges of Go's net package. */
export function ipScope(bytes: IpBytes): IpScope {
  return bytes.length === 4 ? scope4(bytes) : scope6(bytes);
}

function scope4([a, b, c, d]: IpBytes): IpScope {
  if (a === 0 && b === 0 && c === 0 && d === 0) return "unspecified";
  if (a === 127) return "loopback";
  if (a === 169 && b === 254) return "link-local";
  if (a === 224 && b === 0 && c === 0) return "link-local multicast";
  if (a! >= 224 && a! < 240) return "multicast";
  return a === 255 && b === 255 && c === 255 && d === 255 ? "broadcast" : "global";
}

function scope6(bytes: IpBytes): IpScope {
  const [a, b] = bytes as unknown as [number, number];
  const zeros = bytes.findIndex((byte) => byte !== 0);
  if (zeros < 0) return "unspecified";
  if (zeros === 15 && bytes[15] === 1) return "loopback";
  if (a === 0xfe && (b & 0xc0) === 0x80) return "link-local";
  if (a === 0xff) return (b & 0x0f) === 2 ? "link-local multicast" : "multicast";
  return "global";
}

const translatorPrefix = [0, 0x64, 0xff, 0x9b, 0, 0, 0, 0, 0, 0, 0, 0];

/**
 * Returns the IPv4 address embedded in an IPv4-compatible address (RFC 4291) or a translated address (RFC
 * 6052).
 */
export function embeddedIpv4(bytes: IpBytes): IpBytes | undefined {
  if (bytes.length !== 16) return undefined;
  const isCompatible = bytes.subarray(0, 12).every((byte) => byte === 0);
  const isTranslated = translatorPrefix.every((byte, i) => bytes[i] === byte);
  return isCompatible || isTranslated ? bytes.slice(12) : undefined;
}
