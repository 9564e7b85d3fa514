import assert from "node:assert/strict";
import { test } from "node:test";
import type { EndpointSubset } from "#api";
import { addressPortsOf, repack } from "./repack.ts";

const http = { name: "http", port: 80, protocol: "TCP" };
const https = { name: "https", port: 443, protocol: "TCP" };
const [a, b] = [{ ip: "10.0.0.1" }, { ip: "10.0.0.2" }];

const cases: [name: string, given: EndpointSubset[], expected: EndpointSubset[]][] = [
  [
    "ports of the same addresses share a subset",
    [
      { addresses: [a], ports: [http] },
      { addresses: [a], ports: [https] },
    ],
    [{ addresses: [a], ports: [https, http] }],
  ],
  [
    "addresses of the same port share a subset, sorted",
    [
      { addresses: [b], ports: [http] },
      { addresses: [a], ports: [http] },
    ],
    [{ addresses: [a, b], ports: [http] }],
  ],
  [
    "an address listed as ready and not ready is not ready",
    [
      { addresses: [a], ports: [http] },
      { notReadyAddresses: [a], ports: [http] },
    ],
    [{ notReadyAddresses: [a], ports: [http] }],
  ],
  ["addresses without ports are kept", [{ addresses: [a] }], [{ addresses: [a] }]],
];
for (const [name, given, expected] of cases)
  test(name, () => assert.deepEqual(repack(addressPortsOf(given)), expected));
