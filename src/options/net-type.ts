// Addresses, address ranges, ports and URLs.

import { isIP } from "node:net";
import { type OptionType, listed, text } from "./option-type.ts";
import { listOf } from "./list-type.ts";
import { Refusal, Unparsable } from "./refusal.ts";

const checked = (name: string, check: (given: string) => void): OptionType<string> => {
  const pass = (given: string): string => {
    check(given);
    return given;
  };
  return { ...text, name, parse: pass, read: (value) => pass(text.read(value)) };
};

/** An IP address; empty for none. */
export const ip = checked("ip", (given) => {
  if (given !== "" && !isIP(given)) throw new Unparsable(`failed to parse IP: ${JSON.stringify(given)}`);
});
/** An IP address that must not be empty in a flag. */
export const requiredIp: OptionType<string> = {
  ...ip,
  parse: (given) => {
    if (given === "") throw new Unparsable('failed to parse IP: ""');
    return ip.parse(given);
  },
};

export interface Cidr {
  readonly address: string;
  readonly bits: number;
  readonly family: 4 | 6;
}

export function parseCidr(given: string): Cidr {
  const [address = "", bits = "", ...more] = given.split("/");
  const family = isIP(address);
  const width = family === 4 ? 32 : 128;
  if (!family || more.length > 0 || !/^[0-9]{1,3}$/.test(bits) || Number(bits) > width)
    throw new Refusal("must be an address range such as 10.0.0.0/24");
  return { address, bits: Number(bits), family: family === 4 ? 4 : 6 };
}
export const cidr = checked("cidr", (given) => {
  if (given !== "") parseCidr(given);
});
export const cidrs = listOf(
  checked("cidr", (given) => void parseCidr(given)),
  "cidrs",
);

export interface PortRange {
  readonly from: number;
  readonly to: number;
}

/** `N1-N2`, inclusive; also `N` and `N+more`. */
export const portRange: OptionType<PortRange> = {
  name: "portRange",
  parse: (given) => {
    const found = /^\s*([0-9]+)\s*(?:([-+])\s*([0-9]+))?\s*$/.exec(given);
    const from = Number(found?.[1]);
    const to = found?.[2] === "+" ? from + Number(found[3]) : Number(found?.[3] ?? found?.[1]);
    if (!found) {
      const numbers = given.trim().split(/[-+]/);
      const wrong = numbers.find((part) => !/^[0-9]+$/.test(part)) ?? given;
      throw Unparsable.of("Atoi", wrong, "invalid syntax");
    }
    if (Math.max(from, to) > 65535)
      throw new Unparsable(`the port range cannot be greater than 65535: ${given}`);
    if (to < from) throw new Unparsable(`end port cannot be less than start port: ${given}`);
    return { from, to };
  },
  read: (value) => portRange.parse(text.read(value)),
  write: (value) => portRange.format(value),
  format: ({ from, to }) => `${from}-${to}`,
};

/** A URL of one of these schemes; empty for none. */
export const url = (...schemes: readonly string[]): OptionType<string> =>
  checked("url", (given) => {
    if (given === "") return;
    const scheme = URL.canParse(given) ? new URL(given).protocol.slice(0, -1) : undefined;
    if (scheme === undefined || !schemes.includes(scheme))
      throw new Refusal(`must be a URL that begins with ${listed(schemes.map((name) => `${name}://`))}`);
  });
