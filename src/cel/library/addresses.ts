// IP addresses and networks: ip(), cidr() and their methods.

import { type IpBytes, addressProblem, formatIp, ipScope, parseIp } from "#base";
import { type Library, declare, method, overload } from "../declarations.ts";
import { type CelType, abstractType, typeOf, types } from "../types.ts";
import { Opaque, type Value, evaluationError, noSuchOverload } from "../values.ts";
import { readWhole } from "../walk-limit.ts";

const { bool, int, string } = types;
const ipType = abstractType("net.IP");
const cidrType = abstractType("net.CIDR");

/** Names that denote the types. */
export const addressTypeNames: readonly (readonly [string, CelType])[] = [
  ["net.IP", typeOf(ipType)],
  ["net.CIDR", typeOf(cidrType)],
];

class IpValue extends Opaque {
  readonly type = ipType;
  readonly bytes: IpBytes;
  override readonly costSize: number;
  constructor(bytes: IpBytes) {
    super();
    this.bytes = bytes;
    this.costSize = bytes.length;
  }
  override equals(other: Opaque): boolean {
    return other instanceof IpValue && Buffer.compare(this.bytes, other.bytes) === 0;
  }
}

class CidrValue extends Opaque {
  readonly type = cidrType;
  readonly bytes: IpBytes;
  readonly prefix: number;
  override readonly costSize: number;
  constructor(bytes: IpBytes, prefix: number) {
    super();
    this.bytes = bytes;
    this.prefix = prefix;
    this.costSize = Math.ceil(prefix / 8);
  }
  override equals(other: Opaque): boolean {
    return (
      other instanceof CidrValue &&
      this.prefix === other.prefix &&
      Buffer.compare(this.bytes, other.bytes) === 0
    );
  }
}

/** Parses an address, or returns why it is invalid; IPv4-mapped IPv6 addresses and zones are rejected. */
function readIp(text: string): IpValue | string {
  const shown = JSON.stringify(readWhole(text));
  const percent = text.indexOf("%");
  const address = text.slice(0, Math.max(percent, 0));
  if (address.includes(":") && text.length > percent + 1 && parseIp(address))
    return `IP address ${shown} with zone value is not allowed`;
  const problem = addressProblem(text);
  if (problem !== undefined)
    return `IP Address ${shown} parse error during conversion from string: ${problem}`;
  const bytes = parseIp(text)!;
  if (bytes.length === 4 && text.includes(":")) return `IPv4-mapped IPv6 address ${shown} is not allowed`;
  return new IpValue(bytes);
}

function readCidr(text: string): CidrValue | string {
  const shown = JSON.stringify(readWhole(text));
  const failed = (reason: string) =>
    `network address parse error during conversion from string: netip.ParsePrefix(${shown}): ${reason}`;
  const slash = text.lastIndexOf("/");
  if (slash < 0) return failed("no '/'");
  const address = readIp(text.slice(0, slash));
  if (typeof address === "string") {
    return address.startsWith("IPv4-mapped")
      ? `IPv4-mapped IPv6 address ${shown} is not allowed`
      : failed(address.slice(address.lastIndexOf(": ParseAddr") + 2));
  }
  const bits = text.slice(slash + 1);
  if (!/^(?:0|[1-9][0-9]{0,2})$/.test(bits)) return failed(`bad bits after slash: ${JSON.stringify(bits)}`);
  const prefix = Number(bits);
  if (prefix > address.bytes.length * 8) return failed("prefix length out of range");
  return new CidrValue(address.bytes, prefix);
}

const toIp = (text: Value): IpValue => {
  const read = readIp(text as string);
  if (typeof read === "string") throw evaluationError(read);
  return read;
};
const toCidr = (text: Value): CidrValue => {
  const read = readCidr(text as string);
  if (typeof read === "string")
    throw evaluationError(`network address parse error during conversion from string: ${read}`);
  return read;
};
function ipIn(value: Value): IpBytes {
  if (!(value instanceof IpValue)) throw noSuchOverload();
  return value.bytes;
}
function cidrIn(value: Value): CidrValue {
  if (!(value instanceof CidrValue)) throw noSuchOverload();
  return value;
}

const masked = ({ bytes, prefix }: CidrValue): CidrValue =>
  new CidrValue(
    bytes.map((byte, at) => byte & (0xff00 >> Math.min(Math.max(prefix - at * 8, 0), 8)) & 0xff),
    prefix,
  );

function containsIp(cidr: CidrValue, bytes: IpBytes): boolean {
  if (bytes.length !== cidr.bytes.length) return false;
  return masked(cidr).equals(masked(new CidrValue(bytes, cidr.prefix)));
}

/** As in the reference, the unmasked inner address must be the first address of the outer network. */
const containsCidr = (outer: CidrValue, inner: CidrValue): boolean =>
  outer.prefix <= inner.prefix && masked(outer).equals(new CidrValue(inner.bytes, outer.prefix));

const scopeIs = (name: string, id: string, holds: (bytes: IpBytes) => boolean) =>
  declare(
    name,
    method(id, [ipType], bool, (ip) => holds(ipIn(ip))),
  );

export const addressesLibrary: Library = [
  declare(
    "ip",
    overload("string_to_ip", [string], ipType, toIp),
    method("cidr_ip", [cidrType], ipType, (cidr) => new IpValue(cidrIn(cidr).bytes)),
  ),
  declare(
    "family",
    method("ip_family", [ipType], int, (ip) => (ipIn(ip).length === 4 ? 4 : 6)),
  ),
  declare(
    "ip.isCanonical",
    overload("ip_is_canonical", [string], bool, (text) => formatIp(toIp(text).bytes) === text),
  ),
  declare(
    "isIP",
    overload("is_ip", [string], bool, (text) => typeof readIp(text as string) !== "string"),
  ),
  scopeIs("isUnspecified", "ip_is_unspecified", (ip) => ipScope(ip) === "unspecified"),
  scopeIs("isLoopback", "ip_is_loopback", (ip) => ipScope(ip) === "loopback"),
  scopeIs(
    "isLinkLocalMulticast",
    "ip_is_link_local_multicast",
    (ip) => ipScope(ip) === "link-local multicast",
  ),
  scopeIs("isLinkLocalUnicast", "ip_is_link_local_unicast", (ip) => ipScope(ip) === "link-local"),
  scopeIs("isGlobalUnicast", "ip_is_global_unicast", (ip) => ipScope(ip) === "global"),
  declare("cidr", overload("string_to_cidr", [string], cidrType, toCidr)),
  declare(
    "isCIDR",
    overload("is_cidr", [string], bool, (text) => typeof readCidr(text as string) !== "string"),
  ),
  declare(
    "containsIP",
    method("cidr_contains_ip_string", [cidrType, string], bool, (cidr, ip) =>
      containsIp(cidrIn(cidr), toIp(ip).bytes),
    ),
    method("cidr_contains_ip_ip", [cidrType, ipType], bool, (cidr, ip) => containsIp(cidrIn(cidr), ipIn(ip))),
  ),
  declare(
    "containsCIDR",
    method("cidr_contains_cidr_string", [cidrType, string], bool, (outer, inner) =>
      containsCidr(cidrIn(outer), toCidr(inner)),
    ),
    method("cidr_contains_cidr", [cidrType, cidrType], bool, (outer, inner) =>
      containsCidr(cidrIn(outer), cidrIn(inner)),
    ),
  ),
  declare(
    "prefixLength",
    method("cidr_prefix_length", [cidrType], int, (cidr) => cidrIn(cidr).prefix),
  ),
  declare(
    "masked",
    method("cidr_masked", [cidrType], cidrType, (cidr) => masked(cidrIn(cidr))),
  ),
  declare(
    "string",
    overload("ip_to_string", [ipType], string, (ip) => formatIp(ipIn(ip))),
    overload("cidr_to_string", [cidrType], string, (cidr) => {
      const { bytes, prefix } = cidrIn(cidr);
      return `${formatIp(bytes)}/${prefix}`;
    }),
  ),
];
