import assert from "node:assert/strict";
import { test } from "node:test";
import type { EndpointSubset } from "#api";
import { inOrder } from "./subset-order.ts";

const port = (name: string) => ({ name, port: 80 + name.length, protocol: "TCP" });
const reference = { kind: "Pod", namespace: "default", name: "a", uid: "u1" };
const first = { ip: "10.0.0.1", nodeName: "node", targetRef: reference };

test("ports and subsets are ordered like by RepackSubsets of the original", () => {
  const dns = { name: "dns-udp", port: 53, protocol: "UDP", appProtocol: "h2c" };
  const subsets: EndpointSubset[] = [
    {
      addresses: [first, { ip: "10.0.0.2", hostname: "h" }],
      notReadyAddresses: [{ ip: "10.0.0.3" }],
      ports: [port("http")],
    },
    { addresses: [first], notReadyAddresses: [{ ip: "10.0.0.3" }], ports: [port("https")] },
    { addresses: [{ ip: "10.0.0.4" }] },
    { addresses: [first], ports: [port("dns"), port("metrics"), dns, port("admin")] },
  ];
  assert.deepEqual(
    inOrder(subsets).map(({ ports }) => (ports ?? []).map(({ name }) => name).join()),
    ["admin,dns-udp,metrics,dns", "", "https", "http"],
  );
});
