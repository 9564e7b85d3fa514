import assert from "node:assert/strict";
import { test } from "node:test";
import { ApiError, virtualClock } from "#base";
import type { Reply } from "#http";
import { apiCall, pending, turn } from "#kit";
import { inFlightLimit } from "./in-flight.ts";

const user = (name: string, ...groups: string[]) => ({ name, groups });
const read = (name = "u") => apiCall({ user: user(name) });
const write = (name = "u") => apiCall({ method: "POST", user: user(name) });
const tooMany = (error: unknown): boolean =>
  error instanceof ApiError && error.code === 429 && error.details?.retryAfterSeconds === 1;

test("past the limit a request is refused at once, and let in again when one is done", async () => {
  const step = inFlightLimit({ reading: 1, writing: 1, queue: false, clock: virtualClock() });
  const answer = pending();
  const first = step.run(read(), answer.next);
  assert.throws(() => step.run(read(), answer.next), tooMany);
  answer.answer();
  await first;
  const second = step.run(read(), answer.next);
  answer.answer();
  assert.equal((await second).status, 200);
});

test("reads and writes have limits of their own", async () => {
  const step = inFlightLimit({ reading: 1, writing: 1, queue: false, clock: virtualClock() });
  const answer = pending();
  void step.run(read(), answer.next);
  void step.run(write(), answer.next);
  assert.equal(answer.calls(), 2);
  assert.throws(() => step.run(write(), answer.next), tooMany);
});

test("zero is no limit", () => {
  const step = inFlightLimit({ reading: 0, writing: 0, queue: false, clock: virtualClock() });
  const answer = pending();
  for (let at = 0; at < 5000; at++) void step.run(read(), answer.next);
  assert.equal(answer.calls(), 5000);
});

test("a failure gives its place back", async () => {
  const step = inFlightLimit({ reading: 1, writing: 1, queue: false, clock: virtualClock() });
  await assert.rejects(
    step.run(read(), () => Promise.reject(new Error("broken"))),
    /broken/,
  );
  assert.equal((await step.run(read(), () => Promise.resolve({ status: 200, headers: {} }))).status, 200);
});

for (const [name, call] of [
  ["a watch", apiCall({ path: "/api/v1/pods?watch=true", user: user("u") })],
  ["a health check", apiCall({ path: "/readyz/ping", user: user("u") })],
  ["the superusers' group", apiCall({ user: user("root", "system:masters") })],
] as const) {
  test(`${name} is never held back`, () => {
    for (const queue of [false, true]) {
      const step = inFlightLimit({ reading: 1, writing: 0, queue, clock: virtualClock() });
      const answer = pending();
      void step.run(read(), answer.next);
      void step.run(call, answer.next);
      assert.equal(answer.calls(), 2);
    }
  });
}

test("with a queue, users take turns: one with many requests does not hold up one with few", async () => {
  const step = inFlightLimit({ reading: 1, writing: 0, queue: true, clock: virtualClock() });
  const order: string[] = [];
  const done: (() => void)[] = [];
  const run = (name: string): Promise<Reply> =>
    step.run(read(name), () => {
      order.push(name);
      return new Promise((resolve) => done.push(() => resolve({ status: 200, headers: {} })));
    });
  const all = ["busy", "busy", "busy", "busy", "quiet"].map(run);
  for (let at = 0; at < all.length; at++) {
    await turn();
    done.shift()!();
  }
  await Promise.all(all);
  assert.deepEqual(order, ["busy", "busy", "quiet", "busy", "busy"]);
});

test("who waits too long is refused, and who is gone is forgotten", async () => {
  const clock = virtualClock();
  const refused: string[] = [];
  const step = inFlightLimit({
    reading: 1,
    writing: 0,
    queue: true,
    clock,
    refused: (call) => void refused.push(call.user!.name),
  });
  const answer = pending();
  const first = step.run(read(), answer.next);
  const gone = new AbortController();
  const left = step.run(apiCall({ user: user("gone"), signal: gone.signal }), answer.next);
  gone.abort();
  await assert.rejects(left, tooMany);
  const late = step.run(read("late"), answer.next);
  const expected = assert.rejects(late, tooMany);
  await clock.advance(15_000);
  await expected;
  assert.deepEqual(refused, ["gone", "late"]);
  answer.answer();
  await first;
  assert.equal(answer.calls(), 1);
});

test("one user's queue is bounded", () => {
  const step = inFlightLimit({ reading: 1, writing: 0, queue: true, clock: virtualClock() });
  let refused = 0;
  for (let at = 0; at < 300; at++) step.run(read(), pending().next).catch(() => refused++);
  return turn().then(() => assert.equal(refused, 99));
});

test("with a queue there is one limit, the sum of both, whoever reads or writes", async () => {
  const step = inFlightLimit({ reading: 2, writing: 1, queue: true, clock: virtualClock() });
  let begun = 0;
  const done: (() => void)[] = [];
  const next = (): Promise<Reply> => {
    begun++;
    return new Promise((resolve) => done.push(() => resolve({ status: 200, headers: {} })));
  };
  const all = [write("a"), write("b"), write("c"), write("d"), read("e")].map((call) => step.run(call, next));
  await turn();
  assert.equal(begun, 3, "three at once, though only one write would be let in by itself");
  done.shift()!();
  await turn();
  assert.equal(begun, 4);
  while (begun < 5 || done.length > 0) {
    done.shift()?.();
    await turn();
  }
  await Promise.all(all);
});
