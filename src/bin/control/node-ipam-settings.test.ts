import assert from "node:assert/strict";
import { test } from "node:test";
import { nodeIpamSettings } from "./node-ipam-settings.ts";

const v4 = "10.0.0.0/16";
const v6 = "fd00::/56";
const given = {
  clusterCidr: [v4] as readonly string[],
  nodeCidrMaskSize: 0,
  nodeCidrMaskSizeIpv4: 0,
  nodeCidrMaskSizeIpv6: 0,
  serviceClusterIpRange: [] as readonly string[],
};

const sizes: [
  name: string,
  change: Partial<typeof given>,
  expected: { ipv4: number; ipv6: number } | RegExp,
][] = [
  ["default sizes", {}, { ipv4: 24, ipv6: 64 }],
  ["one size", { nodeCidrMaskSize: 26 }, { ipv4: 26, ipv6: 26 }],
  [
    "sizes by family",
    { clusterCidr: [v4, v6], nodeCidrMaskSizeIpv4: 25, nodeCidrMaskSizeIpv6: 68 },
    { ipv4: 25, ipv6: 68 },
  ],
  ["one size for two families", { clusterCidr: [v4, v6], nodeCidrMaskSize: 25 }, /both families/],
  ["a size and one by family", { nodeCidrMaskSize: 25, nodeCidrMaskSizeIpv4: 25 }, /mask size of one family/],
  ["a size of a missing family", { nodeCidrMaskSizeIpv6: 64 }, /ipv6 is for an IP family without/],
  [
    "a size of the other missing family",
    { clusterCidr: [v6], nodeCidrMaskSizeIpv4: 24 },
    /ipv4 is for an IP family without/,
  ],
  ["no range", { clusterCidr: [] }, /requires --cluster-cidr/],
  ["two ranges of one family", { clusterCidr: [v4, "10.1.0.0/16"] }, /--cluster-cidr accepts one range/],
  ["two service ranges of one family", { serviceClusterIpRange: [v6, v6] }, /--service-cluster-ip-range/],
];
for (const [name, change, expected] of sizes)
  test(`node CIDRs: ${name}`, () => {
    const read = () => nodeIpamSettings({ ...given, ...change });
    if (expected instanceof RegExp) assert.throws(read, expected);
    else assert.deepEqual(read().nodeMaskSizes, expected);
  });
