import assert from "node:assert/strict";
import { test } from "node:test";
import { kinds } from "#client";
import { until, withController } from "./cluster.fixture.ts";
import { CidrPool, nodeIpamController } from "./node-ipam.ts";
import { stepFor } from "./node-ttl.ts";

test("ranges are handed out in order, given back, and run out", () => {
  const pool = new CidrPool({ clusterCidr: "10.0.0.0/23", nodeMaskSize: 24 });
  pool.occupy("10.0.0.0/24");
  assert.equal(pool.take(), "10.0.1.0/24");
  assert.equal(pool.take(), undefined);
  pool.release("10.0.0.0/24");
  assert.equal(pool.take(), "10.0.0.0/24");
});
test("a range without room is refused", () =>
  assert.throws(() => new CidrPool({ clusterCidr: "10.0.0.0/25", nodeMaskSize: 24 }), /has no room/));

const steps: [nodes: number, from: number, to: number][] = [
  [100, 0, 0],
  [101, 0, 1],
  [95, 1, 1],
  [89, 1, 0],
  [3000, 0, 4],
];
for (const [nodes, from, to] of steps)
  test(`${nodes} nodes lead from step ${from} to step ${to}`, () => assert.equal(stepFor(nodes, from), to));

test("every node gets one range, however often it changes before that is seen", { timeout: 30_000 }, () =>
  withController(
    (context) => nodeIpamController(context, { clusterCidr: "10.0.0.0/23", nodeMaskSize: 24 }),
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
      // There are two ranges: none may have been lost on the way.
      assert.equal(await until(() => rangeOf("a")), "10.0.0.0/24");
      assert.equal(await until(() => rangeOf("b")), "10.0.1.0/24");
    },
  ),
);
