import assert from "node:assert/strict";
import { test } from "node:test";
import { ApiError, virtualClock } from "#base";
import type { Reply } from "#http";
import { apiCall, pending } from "#kit";
import { deadline } from "./deadline.ts";

const path = "/api/v1/namespaces/a/pods";
const limits: [name: string, path: string, milliseconds: number][] = [
  ["the server's limit", path, 60_000],
  ["the client's shorter limit", `${path}?timeout=1500ms`, 1500],
  ["the server's limit if the client's is longer", `${path}?timeout=2m`, 60_000],
  ["a compound time", `${path}?timeout=0m2.5s`, 2500],
  ["the server's limit if the client's is zero", `${path}?timeout=0s`, 60_000],
];
for (const [name, requested, milliseconds] of limits) {
  test(`a request times out at ${name}`, async () => {
    const clock = virtualClock();
    const call = apiCall({ path: requested });
    const givenUp: unknown[] = [];
    let reply: Reply | undefined;
    void deadline({
      clock,
      requestTimeoutMilliseconds: 60_000,
      exceeded: (late) => void givenUp.push(late),
    })
      .run(call, pending().next)
      .then((given) => (reply = given));
    await clock.advance(milliseconds - 1);
    assert.deepEqual([reply, call.signal.aborted, givenUp], [undefined, false, []]);
    await clock.advance(1);
    assert.ok(call.signal.reason instanceof ApiError);
    assert.deepEqual([call.signal.reason.code, call.signal.reason.reason], [504, "Timeout"]);
    assert.deepEqual(givenUp, [call]);
    assert.equal(reply?.status, 504);
  });
}

test("a limit below the resolution of timers is exceeded at once", async () => {
  const givenUp: unknown[] = [];
  const filter = deadline({
    clock: virtualClock(),
    requestTimeoutMilliseconds: 60_000,
    exceeded: (late) => void givenUp.push(late),
  });
  const call = apiCall({ path: `${path}?timeout=1ns` });
  const { status } = await filter.run(call, () => assert.fail("handled"));
  assert.deepEqual([status, givenUp], [504, [call]]);
});

test("the response is a Status without a kind, as text, without headers of the inner filters", async () => {
  const clock = virtualClock();
  const call = apiCall();
  call.setHeader("strict-transport-security", "max-age=1");
  const reply = deadline({ clock, requestTimeoutMilliseconds: 1000 }).run(call, () => {
    call.setHeaders({ "flow-schema": "a" });
    return pending().next();
  });
  await clock.advance(1000);
  const { status, headers, body } = await reply;
  assert.deepEqual([status, headers], [504, { "content-type": "text/plain; charset=utf-8" }]);
  assert.equal(
    String(body),
    `{"metadata":{},"status":"Failure","message":"Timeout: request did not complete within the allotted timeout",` +
      `"reason":"Timeout","details":{},"code":504}\n`,
  );
  assert.deepEqual(call.headers, { "strict-transport-security": "max-age=1" });
});

const ends: [name: string, end: () => Promise<Reply>, outcome: "ok" | "panic"][] = [
  ["an answer", async () => ({ status: 200, headers: {} }), "ok"],
  ["an API error", () => Promise.reject(new ApiError(404, "NotFound", "no")), "ok"],
  ["an unexpected error", () => Promise.reject(new Error("no")), "panic"],
];
for (const [name, end, outcome] of ends) {
  test(`${name} after the deadline is reported as ${outcome}`, async () => {
    const clock = virtualClock();
    const reports: string[] = [];
    const reply = deadline({
      clock,
      requestTimeoutMilliseconds: 1000,
      endedLate: (how) => void reports.push(how),
    }).run(apiCall(), async () => {
      await new Promise<void>((resolve) => clock.after(3000, resolve));
      return await end();
    });
    await clock.advance(1000);
    assert.equal((await reply).status, 504);
    assert.deepEqual(reports, []);
    await clock.advance(2000);
    assert.deepEqual(reports, [outcome]);
  });
}

const failures: [name: string, milliseconds: number, status: number | undefined][] = [
  ["a failure just before the deadline is a timeout", 999, 504],
  ["an earlier failure is returned unchanged", 998, undefined],
];
for (const [name, milliseconds, status] of failures) {
  test(name, async () => {
    const clock = virtualClock();
    const failed = deadline({ clock, requestTimeoutMilliseconds: 1000 }).run(apiCall(), async () => {
      await new Promise<void>((resolve) => clock.after(milliseconds, resolve));
      throw new Error("the webhook did not answer");
    });
    const found = failed.then(
      (reply) => reply.status,
      () => undefined,
    );
    await clock.advance(milliseconds);
    assert.equal(await found, status);
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

test("an invalid timeout is rejected", () => {
  assert.throws(
    () =>
      deadline({ clock: virtualClock(), requestTimeoutMilliseconds: 1 }).run(
        apiCall({ path: `${path}?timeout=soon` }),
        pending().next,
      ),
    /invalid timeout/,
  );
});

test("a response in time cancels the timer", async () => {
  const clock = virtualClock();
  const answer = pending();
  const run = deadline({ clock, requestTimeoutMilliseconds: 1000 }).run(apiCall(), answer.next);
  answer.answer({ status: 201 });
  assert.equal((await run).status, 201);
  await clock.advance(5000);
});

test("the stream of a reply after the deadline is ended", async () => {
  const clock = virtualClock();
  const answer = pending();
  const closed = Promise.withResolvers<boolean>();
  const reply = deadline({ clock, requestTimeoutMilliseconds: 1000 }).run(apiCall(), answer.next);
  await clock.advance(1000);
  assert.equal((await reply).status, 504);
  answer.answer({ body: { stream: async (sink) => closed.resolve(sink.closed.aborted) } });
  assert.equal(await closed.promise, true);
});
