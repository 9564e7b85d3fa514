import assert from "node:assert/strict";
import { test } from "node:test";
import { ApiError, virtualClock } from "#base";
import { apiCall, pending } from "#kit";
import { deadline } from "./deadline.ts";

const path = "/api/v1/namespaces/a/pods";
const limits: [name: string, path: string, milliseconds: number][] = [
  ["the server's limit", path, 60_000],
  ["a shorter one of the client", `${path}?timeout=1500ms`, 1500],
  ["the server's limit over a longer one of the client", `${path}?timeout=2m`, 60_000],
  ["a compound time", `${path}?timeout=0m2.5s`, 2500],
  ["the server's limit when the client says zero", `${path}?timeout=0s`, 60_000],
];
for (const [name, asked, milliseconds] of limits) {
  test(`a request is given up at ${name}`, async () => {
    const clock = virtualClock();
    const failures: unknown[] = [];
    const call = apiCall({ path: asked });
    const givenUp: unknown[] = [];
    const run = deadline({
      clock,
      requestTimeoutMilliseconds: 60_000,
      exceeded: (late) => void givenUp.push(late),
    }).run(call, pending().next);
    run.catch((error: unknown) => failures.push(error));
    await clock.advance(milliseconds - 1);
    assert.deepEqual([failures.length, call.signal.aborted, givenUp], [0, false, []]);
    await clock.advance(1);
    const [failed] = failures;
    assert.equal(call.signal.reason, failed);
    assert.deepEqual(givenUp, [call]);
    assert.ok(failed instanceof ApiError);
    assert.deepEqual([failed.code, failed.reason], [504, "Timeout"]);
  });
}

for (const endless of [`${path}?watch=1`, "/api/v1/namespaces/a/pods/b/log", "/debug/pprof/profile"]) {
  test(`${endless} has no deadline`, async () => {
    const clock = virtualClock();
    const answer = pending();
    const run = deadline({ clock, requestTimeoutMilliseconds: 1000 }).run(
      apiCall({ path: endless }),
      answer.next,
    );
    await clock.advance(3_600_000);
    answer.answer();
    assert.equal((await run).status, 200);
  });
}

test("a time that is none is refused", () => {
  assert.throws(
    () =>
      deadline({ clock: virtualClock(), requestTimeoutMilliseconds: 1 }).run(
        apiCall({ path: `${path}?timeout=soon` }),
        pending().next,
      ),
    /invalid timeout/,
  );
});

test("an answer in time stops the clock", async () => {
  const clock = virtualClock();
  const answer = pending();
  const run = deadline({ clock, requestTimeoutMilliseconds: 1000 }).run(apiCall(), answer.next);
  answer.answer({ status: 201 });
  assert.equal((await run).status, 201);
  await clock.advance(5000);
});
