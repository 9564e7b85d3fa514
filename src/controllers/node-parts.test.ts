import assert from "node:assert/strict";
import { test } from "node:test";
import { CidrPool } from "./node-ipam.ts";
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
