import assert from "node:assert/strict";
import { test } from "node:test";
import { virtualClock } from "#base";
import { leaseReuse } from "./leases.ts";

type Step = [wait: number, ttl: number];
const cases: [name: string, reuseSeconds: number, maxKeys: number, steps: Step[], grants: number[], leases: number[]][] = [
  ["writes within the reuse time share a lease with time to spare", 60, 1000, [[0, 3600], [30, 3600], [29, 3600]], [3660], [1, 1, 1]],
  ["a write at the end of the reuse time gets a new lease", 60, 1000, [[0, 3600], [60, 3600], [1, 3600]], [3660, 3660], [1, 2, 2]],
  ["the spare time is at most a twentieth of the requested TTL", 60, 1000, [[0, 100], [4, 100], [1, 100]], [105, 105], [1, 1, 2]],
  ["leases for short TTLs are neither extended nor shared", 60, 1000, [[0, 10], [0, 10]], [10, 10], [1, 2]],
  ["a short TTL does not share a much longer lease", 60, 1000, [[0, 3600], [0, 1800]], [3660, 1860], [1, 2]],
  ["a longer TTL gets a new lease", 60, 1000, [[0, 1800], [0, 3600], [0, 3600]], [1860, 3660], [1, 2, 2]],
  ["alternating TTLs each keep their lease", 60, 1000, [[0, 3600], [0, 30], [0, 3600], [0, 30], [2, 30], [0, 3600]], [3660, 31, 31], [1, 2, 1, 2, 3, 1]],
  ["a full lease is not reused", 60, 2, [[0, 3600], [0, 3600], [0, 3600], [0, 3600]], [3660, 3660], [1, 1, 2, 2]],
  ["a reuse time of zero disables reuse", 0, 1000, [[0, 3600], [0, 3600]], [3600, 3600], [1, 2]],
]; // prettier-ignore

for (const [name, reuseSeconds, maxKeysPerLease, steps, grants, leases] of cases) {
  test(name, async () => {
    const clock = virtualClock();
    const granted: number[] = [];
    const lease = leaseReuse({
      clock,
      reuseSeconds,
      maxKeysPerLease,
      grant: async (ttl) => granted.push(ttl),
    });
    const given: number[] = [];
    for (const [wait, ttl] of steps) {
      await clock.advance(wait * 1000);
      given.push(await lease(ttl));
    }
    assert.deepEqual({ granted, given }, { granted: grants, given: leases });
  });
}

test("a burst of writes grants one lease, and a failed grant is retried", async () => {
  let grantCalls = 0;
  const lease = leaseReuse({
    clock: virtualClock(),
    reuseSeconds: 60,
    maxKeysPerLease: 1000,
    grant: async () => {
      if (++grantCalls === 1) throw new Error("unavailable");
      return grantCalls;
    },
  });
  const given = await Promise.allSettled(Array.from({ length: 20 }, () => lease(3600)));
  assert.deepEqual(
    given.map((one) => (one.status === "fulfilled" ? one.value : "failed")),
    ["failed", ...Array.from({ length: 19 }, () => 2)],
  );
});

test("the number of keys on a lease is reported when it is replaced", async () => {
  const shared: number[] = [];
  const lease = leaseReuse({
    clock: virtualClock(),
    reuseSeconds: 60,
    maxKeysPerLease: 3,
    grant: async () => 1,
    replaced: (keys) => shared.push(keys),
  });
  for (let write = 0; write < 7; write++) await lease(3600);
  assert.deepEqual(shared, [3, 3]);
});
