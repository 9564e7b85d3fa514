import assert from "node:assert/strict";
import { test } from "node:test";
import type { Reply } from "#http";
import { virtualClock } from "#base";
import { apiCall, pending, turn } from "#kit";
import { inFlightLimit } from "./in-flight.ts";

const clock = virtualClock();
const user = (name: string, ...groups: string[]) => ({ name, groups });
const read = (name = "u") => apiCall({ user: user(name) });
const write = (name = "u") => apiCall({ method: "POST", user: user(name) });
const assertRefused = async (reply: Promise<Reply>): Promise<void> => {
  const { status, headers } = await reply;
  assert.deepEqual([status, headers["retry-after"]], [429, "1"]);
};

test("beyond the limit a request is rejected immediately, and accepted again when one is done", async () => {
  const step = inFlightLimit({ clock, reading: 1, writing: 1 });
  const answer = pending();
  const first = step.run(read(), answer.next);
  await assertRefused(step.run(read(), answer.next));
  answer.answer();
  await first;
  const second = step.run(read(), answer.next);
  answer.answer();
  assert.equal((await second).status, 200);
});

test("reads and writes have separate limits", async () => {
  const step = inFlightLimit({ clock, reading: 1, writing: 1 });
  const answer = pending();
  void step.run(read(), answer.next);
  void step.run(write(), answer.next);
  await turn();
  assert.equal(answer.calls(), 2);
  await assertRefused(step.run(write(), answer.next));
});

test("zero means unlimited", () => {
  const step = inFlightLimit({ clock, reading: 0, writing: 0 });
  const answer = pending();
  for (let at = 0; at < 5000; at++) void step.run(read(), answer.next);
  assert.equal(answer.calls(), 5000);
});

test("a failed request releases its slot", async () => {
  const step = inFlightLimit({ clock, reading: 1, writing: 1 });
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
  test(`${name} is never limited`, () => {
    const step = inFlightLimit({ clock, reading: 1, writing: 0 });
    const answer = pending();
    void step.run(read(), answer.next);
    void step.run(call, answer.next);
    assert.equal(answer.calls(), 2);
  });
}

test("a rejection is reported", async () => {
  const refused: string[] = [];
  const step = inFlightLimit({
    clock,
    reading: 1,
    writing: 1,
    refused: ({ user: by }) => refused.push(by!.name),
  });
  const answer = pending();
  void step.run(read(), answer.next);
  await assertRefused(step.run(read("late"), answer.next));
  assert.deepEqual(refused, ["late"]);
});

test("a write without its body keeps its place for a limited time", async () => {
  const step = inFlightLimit({ clock, reading: 1, writing: 1 });
  const [slow, body] = [pending(), Promise.withResolvers<void>()];
  const late = step.run(apiCall({ method: "POST", user: user("u"), bodyBuffered: body.promise }), slow.next);
  await clock.advance(9_999);
  await assertRefused(step.run(write(), pending().next));
  await clock.advance(1);
  const other = pending();
  void step.run(write(), other.next);
  await turn();
  assert.deepEqual([slow.calls(), other.calls()], [0, 1]);
  body.resolve();
  await assertRefused(late);
});

test("a write proceeds when its body has arrived", async () => {
  const step = inFlightLimit({ clock, reading: 1, writing: 1 });
  const [slow, body] = [pending(), Promise.withResolvers<void>()];
  void step.run(apiCall({ method: "POST", user: user("u"), bodyBuffered: body.promise }), slow.next);
  await turn();
  assert.equal(slow.calls(), 0);
  body.resolve();
  await turn();
  assert.equal(slow.calls(), 1);
});
