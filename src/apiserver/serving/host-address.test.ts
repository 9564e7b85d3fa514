import assert from "node:assert/strict";
import { test } from "node:test";
import { type HostNetwork, hostAddress } from "./host-address.ts";

const head = "Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT\n";
const route4 = (name: string, flags = "0003", destination = "00000000", mask = "00000000"): string =>
  `${name}\t${destination}\t0102000A\t${flags}\t0\t0\t0\t${mask}\t0\t0\t0\n`;
const route6 = (name: string, flags = "00000003"): string =>
  `${"0".repeat(32)} 00 ${"0".repeat(32)} 00 fe800000000000000000000000000001 00000400 00000001 00000000 ${flags}     ${name}\n`;
const item = (address: string, internal = false) => ({
  address,
  family: address.includes(":") ? ("IPv6" as const) : ("IPv4" as const),
  internal,
});
const interfaces = {
  lo: [item("127.0.0.1", true), item("::1", true)],
  docker0: [item("172.17.0.1")],
  eth0: [item("10.0.2.15"), item("fe80::1"), item("2001:db8::15")],
};

const cases: [name: string, prefer: "IPv4" | "IPv6", network: Partial<HostNetwork>, found: string | undefined][] = [
  ["the interface of the default route wins over earlier ones", "IPv4", { routes4: head + route4("docker0", "0001", "000011AC", "0000FFFF") + route4("eth0") }, "10.0.2.15"],
  ["a route that is down is ignored", "IPv4", { routes4: head + route4("eth0", "0000") }, "172.17.0.1"],
  ["without a default route any interface is used", "IPv4", {}, "172.17.0.1"],
  ["an IPv6 address is preferred if the server binds to IPv6", "IPv6", { routes4: head + route4("eth0"), routes6: route6("eth0") }, "2001:db8::15"],
  ["IPv4 is used if there is no IPv6 route", "IPv6", { routes4: head + route4("eth0"), routes6: route6("lo", "00200200") }, "10.0.2.15"],
  ["IPv6 is used if there is no other address", "IPv4", { routes6: route6("eth0"), interfaces: { eth0: [item("fe80::1"), item("2001:db8::15")] } }, "2001:db8::15"],
  ["link-local and loopback addresses are not used", "IPv4", { interfaces: { lo: interfaces.lo, eth0: [item("169.254.1.1"), item("fe80::1")] } }, undefined],
]; // prettier-ignore
for (const [name, prefer, network, found] of cases)
  test(`the advertised address: ${name}`, () =>
    assert.equal(hostAddress(prefer, { routes4: "", routes6: "", interfaces, ...network }), found));
