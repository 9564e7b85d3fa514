import assert from "node:assert/strict";
import { test } from "node:test";
import { kinds } from "#client";
import { until, withController } from "./cluster.fixture.ts";
import { CidrPool } from "./cidr-pool.ts";
import { nodeIpamController, defaultNodeMaskSizes } from "./node-ipam.ts";
import { stepFor } from "./node-ttl.ts";

test("ranges are allocated in order, released, and exhausted", () => {
  const pool = new CidrPool("10.0.0.0/23", 24);
  pool.occupy("10.0.0.0/24");
  assert.equal(pool.take(), "10.0.1.0/24");
  assert.equal(pool.take(), undefined);
  pool.release("10.0.0.0/24");
  assert.equal(pool.take(), "10.0.0.0/24");
});
test("IPv6 ranges are allocated", () => {
  const pool = new CidrPool("fd00:1::/63", 64);
  assert.deepEqual([pool.take(), pool.take(), pool.take()], ["fd00:1::/64", "fd00:1:0:1::/64", undefined]);
});
test("a larger range occupies all ranges it overlaps, an unrelated one occupies none", () => {
  const pool = new CidrPool("10.0.0.0/22", 24);
  pool.occupy("10.0.2.0/23");
  pool.occupy("10.0.1.128/25");
  pool.occupy("10.1.0.0/24");
  pool.occupy("fd00::/64");
  assert.deepEqual([pool.take(), pool.take()], ["10.0.0.0/24", undefined]);
  pool.release("10.0.0.0/8");
  assert.equal(pool.take(), "10.0.1.0/24");
});
test("a mask larger than the cluster range is rejected", () => {
  assert.throws(() => new CidrPool("10.0.0.0/25", 24), /has no room/);
  assert.throws(() => new CidrPool("fd00::/40", 64), /too many/);
});

const steps: [nodes: number, from: number, to: number][] = [
  [100, 0, 0],
  [101, 0, 1],
  [95, 1, 1],
  [89, 1, 0],
  [3000, 0, 4],
];
for (const [nodes, from, to] of steps)
  test(`${nodes} nodes lead from step ${from} to step ${to}`, () => assert.equal(stepFor(nodes, from), to));

test("every node gets one range, even if it changes before the assignment is observed", () =>
  withController(
    (context) =>
      nodeIpamController(context, {
        clusterCidrs: ["10.0.0.0/23"],
        nodeMaskSizes: defaultNodeMaskSizes,
        serviceCidrs: [],
      }),
    async ({ client }) => {
      const nodes = client.of(kinds.nodes);
      const rangeOf = async (name: string): Promise<string | undefined> =>
        (await nodes.get(name)).spec.podCIDR ?? undefined;
      for (const name of ["a", "b"]) {
        await nodes.create({ metadata: { name } });
        await Promise.all(
          ["1", "2", "3"].map((value) => nodes.patch(name, "merge", { metadata: { labels: { value } } })),
        );
      }
      // There are only two ranges: neither may have leaked.
      assert.equal(await until(() => rangeOf("a")), "10.0.0.0/24");
      assert.equal(await until(() => rangeOf("b")), "10.0.1.0/24");
    },
  ));

test("nodes get a range of each IP family, outside the service ranges", () =>
  withController(
    (context) =>
      nodeIpamController(context, {
        clusterCidrs: ["fd00::/60", "10.0.0.0/16"],
        nodeMaskSizes: defaultNodeMaskSizes,
        serviceCidrs: ["10.0.0.0/24"],
      }),
    async ({ client }) => {
      const nodes = client.of(kinds.nodes);
      await nodes.create({ metadata: { name: "a" } });
      const { podCIDR, podCIDRs } = await until(async () => {
        const { spec } = await nodes.get("a");
        return spec.podCIDR ? spec : undefined;
      });
      assert.deepEqual([podCIDR, podCIDRs], ["fd00::/64", ["fd00::/64", "10.0.1.0/24"]]);
    },
  ));

test("a range that two nodes hold is free only when both are deleted", () =>
  withController(
    (context) =>
      nodeIpamController(context, {
        clusterCidrs: ["10.0.0.0/24"],
        nodeMaskSizes: defaultNodeMaskSizes,
        serviceCidrs: [],
      }),
    async ({ client }) => {
      const nodes = client.of(kinds.nodes);
      const range = "10.0.0.0/24";
      for (const name of ["a", "b"])
        await nodes.create({ metadata: { name }, spec: { podCIDR: range, podCIDRs: [range] } });
      await nodes.delete("a");
      await nodes.create({ metadata: { name: "c" } });
      const reasons = async (): Promise<readonly (string | undefined)[]> =>
        (await client.of(kinds.events).list({})).items.map(({ reason }) => reason);
      const rangeOfC = async (): Promise<string | undefined> =>
        (await nodes.get("c")).spec.podCIDR ?? undefined;
      const first = await until(
        async () => (await rangeOfC()) ?? (await reasons()).find((reason) => reason === "CIDRNotAvailable"),
      );
      assert.equal(first, "CIDRNotAvailable");
      await nodes.delete("b");
      assert.equal(await until(rangeOfC), range);
    },
  ));
