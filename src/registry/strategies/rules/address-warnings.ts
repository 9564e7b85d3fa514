// Warnings about IP addresses that are accepted but not in canonical form.
import { parseIp } from "./address.ts";

/** Returns the canonical form of an IPv6 address (RFC 5952). */
export function canonicalIpv6(text: string): string {
  return new URL(`http://[${text}]/`).hostname.slice(1, -1);
}

const leadingZero = (text: string): boolean => /(^|\.)0\d/.test(text) && !text.includes(":");

/** Returns why a strict parser refuses the address, and at which position. */
function refusal(text: string): string {
  const first = /[.:%]/.exec(text)?.[0];
  if (first !== ".") return `"${text}" is no IP address`;
  const odd = /[^0-9.]|\.(?=$|\.)|^\./.exec(text);
  if (leadingZero(text)) return `"${text}" has leading zeros`;
  const dot = odd?.[0] === "." && odd.index > 0 && odd.index < text.length - 1 ? odd.index + 1 : odd?.index;
  return dot === undefined
    ? `"${text}" is no IPv4 address`
    : `"${text}" has an odd character (at "${text.slice(dot)}")`;
}

export function addressWarnings(text: string, field: string): string[] {
  if (leadingZero(text) || !parseIp(text))
    return [`${field}: IP address was accepted, but will be invalid in a future release: ${refusal(text)}`];
  const canonical = text.includes(":") ? canonicalIpv6(text) : text;
  return canonical === text
    ? []
    : [
        `${field}: IPv6 address "${text}" is not in RFC 5952 canonical format ("${canonical}"), which may cause controller apply-loops`,
      ];
}

export function blockWarnings(text: string, field: string): string[] {
  const [address = "", bits] = text.split("/");
  if (leadingZero(address) || !parseIp(address) || bits === undefined)
    return [
      `${field}: IP prefix was accepted, but will be invalid in a future release: "${text}": ${refusal(address)}`,
    ];
  const canonical = address.includes(":") ? `${canonicalIpv6(address)}/${bits}` : text;
  return canonical === text
    ? []
    : [
        `${field}: IPv6 prefix "${text}" is not in RFC 5952 canonical format ("${canonical}"), which may cause controller apply-loops`,
      ];
}
