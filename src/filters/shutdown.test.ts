import assert from "node:assert/strict";
import { type Duplex, PassThrough } from "node:stream";
import { test } from "node:test";
import { ApiError, virtualClock } from "#base";
import type { Sink } from "#http";
import { type CallParts, apiCall, memorySink, pending, turn } from "#kit";
import { shutdownFilter } from "./shutdown.ts";
import { Lifecycle } from "./lifecycle.ts";

function server(sendRetryAfter: boolean) {
  const clock = virtualClock();
  const lifecycle = new Lifecycle({
    clock,
    delayMilliseconds: 0,
    sendRetryAfter,
    watchGraceMilliseconds: 0,
    requestTimeoutMilliseconds: 60_000,
  });
  const seen: string[] = [];
  const step = shutdownFilter({
    lifecycle,
    clock,
    streamBytesPerSecond: 0,
    observer: {
      began: () => void seen.push("began"),
      aborted: () => void seen.push("aborted"),
      answered: (_call, status, _milliseconds, long) => void seen.push(`${status}${long ? " long" : ""}`),
      streaming: () => {
        seen.push("streaming");
        return () => void seen.push("ended");
      },
    },
  });
  return {
    lifecycle,
    step,
    seen,
    shutDown: () => void lifecycle.shutDown({ drain: () => undefined, connections: () => 1 }),
  };
}
const ask = (on: ReturnType<typeof server>, parts: CallParts = {}) =>
  on.step.run(apiCall(parts), () => Promise.resolve({ status: 200, headers: {} }));

test("while the server drains new requests are rejected as their protocol requires", async () => {
  const draining = server(true);
  draining.shutDown();
  const plain = await ask(draining, { protocol: "1.1" });
  assert.deepEqual(
    [plain.status, plain.headers["retry-after"], plain.headers["connection"]],
    [429, "5", "close"],
  );
  let went = 0;
  const multiplexed = await ask(draining, { protocol: "2", goAway: () => went++ });
  assert.deepEqual([multiplexed.status, multiplexed.headers["connection"], went], [429, undefined, 1]);
});

test("without retry-after, a request received after the port was closed gets a closing connection", async () => {
  const closed = server(false);
  closed.shutDown();
  const answer = await ask(closed, { protocol: "2" });
  assert.deepEqual([answer.status, answer.headers["retry-after"]], [503, "1"]);
  assert.match(String(answer.body), /"reason":"ServiceUnavailable"/);
});

for (const path of ["/readyz", "/livez/ping", "/healthz", "/metrics"]) {
  test(`${path} is answered even while the server drains`, async () => {
    const draining = server(true);
    draining.shutDown();
    assert.equal((await ask(draining, { path })).status, 200);
  });
}

test("a request whose body arrives after the port was closed is rejected", async () => {
  const plain = server(false);
  const call = apiCall({ method: "POST", protocol: "1.1" });
  const answer = pending();
  const running = plain.step.run(call, answer.next);
  call.afterBody!();
  plain.shutDown();
  assert.throws(
    () => call.afterBody!(),
    (error) => error instanceof ApiError && error.code === 500,
  );
  answer.answer({ status: 500 });
  assert.equal((await running).headers["connection"], "close");
});

test("requests and watches are counted from start to end", async () => {
  const running = server(false);
  await ask(running);
  assert.deepEqual([running.seen, running.lifecycle.inFlight], [["began", "200"], 0]);
  running.seen.length = 0;
  let finish = (): void => undefined;
  const stream = (sink: Sink): Promise<void> =>
    new Promise((resolve) => ((finish = resolve), sink.closed.addEventListener("abort", () => resolve())));
  const reply = await running.step.run(apiCall({ path: "/api/v1/pods?watch=1" }), () =>
    Promise.resolve({ status: 200, headers: {}, body: { stream } }),
  );
  const done = (reply.body as { stream: (sink: Sink) => Promise<void> }).stream(memorySink());
  assert.deepEqual([running.seen, running.lifecycle.streams], [["200 long", "streaming"], 1]);
  finish();
  await done;
  assert.deepEqual([running.seen.at(-1), running.lifecycle.streams], ["ended", 0]);
});

for (const path of ["/api/v1/pods", "/api/v1/pods?watch=1"])
  for (const gone of [false, true])
    test(`an answer to ${path} that fails ${gone ? "after the client disconnected is not" : "is"} counted as aborted`, async () => {
      const running = server(false);
      const sink = memorySink();
      const stream = (): Promise<void> => {
        if (gone) sink.close();
        return Promise.reject(new Error("no more"));
      };
      const reply = await running.step.run(apiCall({ path }), () =>
        Promise.resolve({ status: 200, headers: {}, body: { stream } }),
      );
      await assert.rejects((reply.body as { stream: (sink: Sink) => Promise<void> }).stream(sink), /no more/);
      assert.equal(running.seen.includes("aborted"), !gone);
    });

test("a large response is in flight until it is written", async () => {
  const running = server(false);
  const { promise, resolve } = Promise.withResolvers<void>();
  const reply = await running.step.run(apiCall(), () =>
    Promise.resolve({ status: 200, headers: {}, body: { stream: () => promise } }),
  );
  void (reply.body as { stream: (sink: Sink) => Promise<void> }).stream(memorySink());
  assert.equal(running.lifecycle.inFlight, 1);
  resolve();
  await turn();
  assert.equal(running.lifecycle.inFlight, 0);
});

test("an upgraded connection that is already closed is not tracked", async () => {
  const serving = server(false);
  const closed = new PassThrough();
  closed.destroy();
  await turn();
  const reply = await serving.step.run(apiCall({ path: "/api/v1/namespaces/a/pods/b/exec" }), async () => ({
    status: 101,
    headers: {},
    body: { takeOver: () => undefined },
  }));
  (reply.body as { takeOver(socket: Duplex, head: Uint8Array): void }).takeOver(closed, Buffer.alloc(0));
  assert.equal(serving.lifecycle.streams, 0);
  assert.deepEqual(serving.seen, ["101 long", "streaming", "ended"]);
});
