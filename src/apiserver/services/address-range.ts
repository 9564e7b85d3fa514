// An address range from which service IPs are allocated: its usable addresses, numbered from 1.
import { SocketAddress } from "node:net";
import { addressNumber, parseIp } from "#registry";

export interface AddressRange {
  readonly family: "IPv4" | "IPv6";
  /** The range as it was configured: `10.0.0.0/24`. */
  readonly text: string;
  /** Number of usable addresses. Excludes the network address and, for IPv4, the broadcast address. */
  readonly size: number;
  /** Returns the address at a position from 1 to `size`; position 0 is the network address. */
  at(position: number): string;
  contains(address: string): boolean;
  /** Returns a position from 1 to `size`; undefined for addresses outside the range and for invalid ones. */
  positionOf(address: string): number | undefined;
}

const widths = { IPv4: 32, IPv6: 128 } as const;

export function addressRange(text: string): AddressRange {
  const [address = "", bits = ""] = text.split("/");
  const family = parseIp(address)?.family === 6 ? "IPv6" : "IPv4";
  const free = widths[family] - Number(bits);
  const base = (addressNumber(address) >> BigInt(free)) << BigInt(free);
  const size = 2 ** free - (family === "IPv4" ? 2 : 1);
  const positionOf = (given: string): number | undefined => {
    const parsed = parseIp(given);
    if (!parsed || (parsed.family === 6) !== (family === "IPv6")) return undefined;
    const position = addressNumber(given) - base;
    return position >= 1n && position <= BigInt(size) ? Number(position) : undefined;
  };
  return {
    family,
    text,
    size,
    at: (position) => addressText(base + BigInt(position), family),
    contains: (given) => positionOf(given) !== undefined,
    positionOf,
  };
}

/** Returns the canonical text of an address; other text is returned unchanged. */
export const canonicalAddress = (address: string): string => parseIp(address)?.text ?? address;

function addressText(value: bigint, family: "IPv4" | "IPv6"): string {
  if (family === "IPv4") return [24n, 16n, 8n, 0n].map((shift) => (value >> shift) & 255n).join(".");
  const words = Array.from({ length: 8 }, (_, position) =>
    ((value >> BigInt(112 - 16 * position)) & 0xffffn).toString(16),
  );
  return new SocketAddress({ address: words.join(":"), family: "ipv6" }).address;
}
