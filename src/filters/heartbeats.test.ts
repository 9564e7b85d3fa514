import assert from "node:assert/strict";
import { test } from "node:test";
import { virtualClock } from "#base";
import { dialects } from "#dialect";
import type { Reply } from "#http";
import { apiCall } from "#kit";
import { batchHeartbeats } from "./heartbeats.ts";

const leases = "/apis/coordination.orch.io/v1/namespaces/orch-node-lease/leases";
const done: Reply = { status: 200, headers: {}, body: Buffer.alloc(0) };

/** The filter, and a function that runs a request and records when it proceeds. */
function gathering() {
  const clock = virtualClock();
  const filter = batchHeartbeats(clock, dialects.orch);
  const begun: string[] = [];
  const ask = (path: string, method = "PUT"): Promise<Reply> =>
    filter.run(apiCall({ path, method }), () => {
      begun.push(path);
      return Promise.resolve(done);
    });
  const renew = (node: string | number): Promise<Reply> => ask(`${leases}/${node}`);
  const renewMany = async (count: number): Promise<void> => {
    for (let at = 0; at < count; at++) await renew(at);
    begun.length = 0;
  };
  return { clock, filter, begun, ask, renew, renewMany };
}

test("few heartbeats are not delayed", async () => {
  const { clock, begun, renew, renewMany } = gathering();
  await renewMany(99);
  await clock.advance(1000);
  void renew("a");
  assert.deepEqual(begun, [`${leases}/a`]);
});

test("many heartbeats are batched, and keep their order", async () => {
  const { clock, begun, renew, renewMany } = gathering();
  await renewMany(100);
  await clock.advance(1000);
  const first = renew("a");
  await clock.advance(9);
  const second = renew("b");
  assert.deepEqual(begun, []);
  await clock.advance(1);
  assert.deepEqual(begun, [`${leases}/a`, `${leases}/b`]);
  assert.deepEqual(await Promise.all([first, second]), [done, done]);
});

test("heartbeats that have become few are not delayed", async () => {
  const { clock, begun, renew, renewMany } = gathering();
  await renewMany(100);
  await clock.advance(2000);
  void renew("a");
  assert.deepEqual(begun, [`${leases}/a`]);
});

test("other requests are never delayed, however many heartbeats there are", async () => {
  const { clock, begun, ask, renewMany } = gathering();
  await renewMany(100);
  await clock.advance(1000);
  const others: [method: string, path: string][] = [
    ["GET", `${leases}/a`],
    ["POST", leases],
    ["DELETE", `${leases}/a`],
    ["PUT", "/apis/example.com/v1/namespaces/a/leases/a"],
    ["PATCH", "/api/v1/nodes/a/status"],
  ];
  for (const [method, path] of others) void ask(path, method);
  assert.equal(begun.length, others.length);
});

test("the error of a batched heartbeat is returned to its client", async () => {
  const { clock, filter, renewMany } = gathering();
  await renewMany(100);
  await clock.advance(1000);
  const failing = [
    () => Promise.reject(new Error("refused")),
    () => {
      throw new Error("refused");
    },
  ];
  for (const next of failing) {
    const failed = assert.rejects(
      filter.run(apiCall({ path: `${leases}/a`, method: "PATCH" }), next),
      /refused/,
    );
    await clock.advance(10);
    await failed;
  }
});
