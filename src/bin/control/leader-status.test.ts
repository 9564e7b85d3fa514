import assert from "node:assert/strict";
import { test } from "node:test";
import { createMetrics } from "#base";
import { leaderStatus } from "./leader-status.ts";

test("the leader metric is 1 from the start of the work to its end, however it ends", async () => {
  const metrics = createMetrics();
  const exposed = (): string | undefined =>
    /^leader_election_master_status\{name="orch-scheduler"\} (\d)$/m.exec(metrics.expose())?.[1];
  const { promise, reject } = Promise.withResolvers<void>();
  const work = leaderStatus(metrics, "orch-scheduler", () => promise);
  assert.equal(exposed(), "0");
  const leading = work(new AbortController().signal);
  assert.equal(exposed(), "1");
  reject(new Error("no more"));
  await assert.rejects(leading, /no more/);
  assert.equal(exposed(), "0");
});
