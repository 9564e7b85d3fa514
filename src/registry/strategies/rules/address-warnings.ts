// Addresses that are accepted, but not in the form that all programs write.
import { isIPv6 } from "node:net";
import { parseIp } from "./address.ts";

/** The shortest form of an IPv6 address, as every program should write it. */
export function canonicalIpv6(text: string): string {
  return new URL(`http://[${text}]/`).hostname.slice(1, -1);
}

const leadingZero = (text: string): boolean => /(^|\.)0\d/.test(text) && !text.includes(":");

export function addressWarnings(text: string, field: string): string[] {
  if (leadingZero(text) || !parseIp(text)) return [`${field}: IP address was accepted, but will be invalid in a future release: ${text}`];
  const canonical = isIPv6(text) ? canonicalIpv6(text) : text;
  return canonical === text ? [] : [`${field}: IPv6 address "${text}" is not in RFC 5952 canonical format ("${canonical}"), which may cause controller apply-loops`];
}

export function blockWarnings(text: string, field: string): string[] {
  const [address = "", bits] = text.split("/");
  if (leadingZero(address) || !parseIp(address) || bits === undefined) return [`${field}: IP prefix was accepted, but will be invalid in a future release: ${text}`];
  const canonical = isIPv6(address) ? `${canonicalIpv6(address)}/${bits}` : text;
  return canonical === text ? [] : [`${field}: IPv6 prefix "${text}" is not in RFC 5952 canonical format ("${canonical}"), which may cause controller apply-loops`];
}
