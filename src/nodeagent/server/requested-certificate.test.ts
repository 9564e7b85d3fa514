import assert from "node:assert/strict";
import { test } from "node:test";
import { servingNames } from "./requested-certificate.ts";

const cases: [
  name: string,
  addresses: readonly [type: string, address: string][],
  names: readonly string[],
][] = [
  [
    "host names come first, each name once",
    [
      ["InternalIP", "192.0.2.2"],
      ["Hostname", "n1"],
      ["InternalDNS", "n1"],
    ],
    ["n1", "192.0.2.2"],
  ],
  ["without addresses no certificate is requested", [["Hostname", "n1"]], []],
  [
    "loopback addresses do not count",
    [
      ["InternalIP", "127.0.0.1"],
      ["Hostname", "n1"],
    ],
    [],
  ],
];
for (const [name, addresses, names] of cases)
  test(name, () =>
    assert.deepEqual(servingNames(addresses.map(([type, address]) => ({ type, address }) as never)), names),
  );
