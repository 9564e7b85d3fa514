import assert from "node:assert/strict";
import { test } from "node:test";
import { virtualClock } from "#base";
import { turn } from "#kit";
import { Lifecycle, type LifecycleOptions } from "./lifecycle.ts";

function started(options: Partial<LifecycleOptions> = {}) {
  const clock = virtualClock();
  const lifecycle = new Lifecycle({
    clock,
    delayMilliseconds: 0,
    sendRetryAfter: false,
    watchGraceMilliseconds: 0,
    requestTimeoutMilliseconds: 60_000,
    ...options,
  });
  let drained = 0;
  let connections = 0;
  const edge = { drain: () => void drained++, connections: () => connections };
  let over = false;
  return {
    now: () => clock.now(),
    advance: async (milliseconds: number): Promise<void> => {
      for (let at = 0; at < 3; at++) await turn();
      await clock.advance(milliseconds);
      for (let at = 0; at < 3; at++) await turn();
    },
    lifecycle,
    connect: (count: number) => void (connections = count),
    drained: () => drained > 0,
    over: () => over,
    shutDown: () => void lifecycle.shutDown(edge).then(() => (over = true)),
    stopEmbedded: () => void lifecycle.stopEmbedded(edge).then(() => (over = true)),
  };
}

test("during the delay the server continues to serve, but is not ready", async () => {
  const server = started({ delayMilliseconds: 6000 });
  server.shutDown();
  await server.advance(5999);
  assert.deepEqual(
    [server.lifecycle.leaving, server.lifecycle.refusing, server.drained()],
    [true, false, false],
  );
  await server.advance(1);
  assert.deepEqual([server.lifecycle.refusing, server.drained(), server.over()], [true, true, true]);
});

test("requests in flight are waited for", async () => {
  const server = started();
  server.lifecycle.requestStarted();
  server.shutDown();
  await server.advance(30_000);
  assert.equal(server.over(), false);
  server.lifecycle.requestFinished();
  await server.advance(1);
  assert.equal(server.over(), true);
});

test("requests in flight are waited for only until the request timeout", async () => {
  const server = started();
  server.lifecycle.requestStarted();
  server.shutDown();
  await server.advance(60_001);
  assert.equal(server.over(), true);
});

test("with retry-after the port stays open until requests in flight are done", async () => {
  const server = started({ sendRetryAfter: true });
  server.lifecycle.requestStarted();
  server.shutDown();
  await server.advance(5000);
  assert.deepEqual([server.lifecycle.refusing, server.drained()], [true, false]);
  server.lifecycle.requestFinished();
  await server.advance(1);
  assert.equal(server.drained(), true);
});

test("remaining connections are closed after two seconds with retry-after, otherwise after the request timeout", async () => {
  for (const [sendRetryAfter, milliseconds] of [
    [true, 2000],
    [false, 60_000],
  ] as const) {
    const server = started({ sendRetryAfter });
    server.connect(1);
    server.shutDown();
    await server.advance(milliseconds - 100);
    assert.equal(server.over(), false);
    await server.advance(200);
    assert.equal(server.over(), true);
  }
});

const graces: [name: string, graceMilliseconds: number, ended: number[]][] = [
  [
    "with a grace period watches are ended one after the other, all within it",
    10_000,
    [0, 1600, 3200, 4800, 6400],
  ],
  [
    "with retry-after and without a grace period watches are ended within a second",
    0,
    [0, 160, 320, 480, 640],
  ],
];
for (const [name, watchGraceMilliseconds, expected] of graces) {
  test(name, async () => {
    const server = started({ watchGraceMilliseconds, sendRetryAfter: true });
    const ended: number[] = [];
    for (const _ of expected) {
      const stream = {
        end: (): void => {
          ended.push(server.now());
          server.lifecycle.streamEnded(stream);
        },
      };
      server.lifecycle.streamStarted(stream);
    }
    server.shutDown();
    await server.advance(watchGraceMilliseconds || 1000);
    assert.deepEqual(ended, expected);
    assert.equal(server.over(), true);
  });
}

test("without a grace period watches continue until their clients disconnect", async () => {
  const server = started();
  let ended = false;
  server.lifecycle.streamStarted({ end: () => (ended = true) });
  server.connect(1);
  server.shutDown();
  await server.advance(30_000);
  assert.deepEqual([ended, server.drained(), server.over()], [false, true, false]);
  server.connect(0);
  await server.advance(100);
  assert.deepEqual([ended, server.over()], [false, true]);
});

test("a watch that does not end delays shutdown no longer than the grace period", async () => {
  const server = started({ watchGraceMilliseconds: 3000, sendRetryAfter: true });
  server.lifecycle.streamStarted({ end: () => undefined });
  server.shutDown();
  await server.advance(2999);
  assert.equal(server.drained(), false);
  await server.advance(2);
  assert.equal(server.over(), true);
});

test("a watch that starts while the server drains ends immediately", async () => {
  const server = started();
  server.lifecycle.requestStarted();
  server.shutDown();
  await server.advance(1);
  let ended = false;
  server.lifecycle.streamStarted({ end: () => (ended = true) });
  assert.equal(ended, true);
});

test("an embedded server stops immediately, including watches", async () => {
  const server = started({ delayMilliseconds: 60_000 });
  const stream = { end: () => server.lifecycle.streamEnded(stream) };
  server.lifecycle.streamStarted(stream);
  server.stopEmbedded();
  await server.advance(1);
  assert.equal(server.over(), true);
});

test("every step of shutdown is logged in the order of kube-apiserver's signals", async () => {
  const reported: unknown[] = [];
  const log = {
    verbose: (_: number, __: string, fields?: Readonly<Record<string, unknown>>) =>
      void reported.push(fields?.["name"]),
  };
  const server = started({ delayMilliseconds: 1000, log });
  server.shutDown();
  await server.advance(999);
  assert.deepEqual(reported, ["ShutdownInitiated"]);
  await server.advance(1);
  assert.deepEqual(reported.slice(1), [
    "AfterShutdownDelayDuration",
    "NotAcceptingNewRequest",
    "InFlightRequestsDrained",
    "HTTPServerStoppedListening",
  ]);
});
