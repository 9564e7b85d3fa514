import assert from "node:assert/strict";
import { test } from "node:test";
import type { Reply } from "#http";
import { apiCall, pending } from "#kit";
import { inFlightLimit } from "./in-flight.ts";

const user = (name: string, ...groups: string[]) => ({ name, groups });
const read = (name = "u") => apiCall({ user: user(name) });
const write = (name = "u") => apiCall({ method: "POST", user: user(name) });
const assertRefused = async (reply: Promise<Reply>): Promise<void> => {
  const { status, headers } = await reply;
  assert.deepEqual([status, headers["retry-after"]], [429, "1"]);
};

test("beyond the limit a request is rejected immediately, and accepted again when one is done", async () => {
  const step = inFlightLimit({ reading: 1, writing: 1 });
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
  const step = inFlightLimit({ reading: 1, writing: 1 });
  const answer = pending();
  void step.run(read(), answer.next);
  void step.run(write(), answer.next);
  assert.equal(answer.calls(), 2);
  await assertRefused(step.run(write(), answer.next));
});

test("zero means unlimited", () => {
  const step = inFlightLimit({ reading: 0, writing: 0 });
  const answer = pending();
  for (let at = 0; at < 5000; at++) void step.run(read(), answer.next);
  assert.equal(answer.calls(), 5000);
});

test("a failed request releases its slot", async () => {
  const step = inFlightLimit({ reading: 1, writing: 1 });
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
    const step = inFlightLimit({ reading: 1, writing: 0 });
    const answer = pending();
    void step.run(read(), answer.next);
    void step.run(call, answer.next);
    assert.equal(answer.calls(), 2);
  });
}

test("a rejection is reported", async () => {
  const refused: string[] = [];
  const step = inFlightLimit({ reading: 1, writing: 1, refused: ({ user: by }) => refused.push(by!.name) });
  const answer = pending();
  void step.run(read(), answer.next);
  await assertRefused(step.run(read("late"), answer.next));
  assert.deepEqual(refused, ["late"]);
});
