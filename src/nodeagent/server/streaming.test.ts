import assert from "node:assert/strict";
import { type AddressInfo, type Socket, connect, createServer } from "node:net";
import { type TestContext, test } from "node:test";
import { systemClock } from "#base";
import { listenPlain } from "#http";
import { longestStreamMilliseconds, type TunnelLimits, tunnel } from "./streaming.ts";

/** Starts a fake streaming server of the runtime, and an agent port that tunnels to it. */
async function setUp(
  t: TestContext,
  answer: (request: string, socket: Socket) => void,
  limits: TunnelLimits = { idleMilliseconds: 0, wholeMilliseconds: 0 },
): Promise<number> {
  const backend = createServer((socket) => {
    socket.once("data", (chunk) => answer(chunk.toString(), socket));
    socket.on("error", () => undefined);
  });
  await new Promise<void>((resolve) => backend.listen(0, "127.0.0.1", resolve));
  t.after(() => void backend.close());
  const { port } = backend.address() as AddressInfo;
  const front = await listenPlain({
    host: "127.0.0.1",
    port: 0,
    now: () => systemClock.now(),
    handle: (call) => Promise.resolve(tunnel(call, `http://127.0.0.1:${port}/exec/token?x=1`, limits)),
  });
  t.after(() => front.close());
  return (front.address as AddressInfo).port;
}

/** Returns what was received until the text arrived or the connection ended. */
async function exchange(
  port: number,
  head: string,
  until: string,
): Promise<{ received: string; socket: Socket; closed: Promise<void> }> {
  const socket = connect(port, "127.0.0.1");
  const closed = new Promise<void>((resolve) => socket.once("close", () => resolve()));
  socket.on("error", () => undefined);
  socket.write(head);
  let received = "";
  await new Promise<void>((resolve) => {
    socket.on("data", (chunk) => {
      received += chunk.toString();
      if (received.includes(until)) resolve();
    });
    void closed.then(() => resolve());
  });
  return { received, socket, closed };
}

const upgrade =
  "POST /exec/a/b/c HTTP/1.1\r\nHost: api\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\nX-Stream-Protocol-Version: v4\r\nX-Forwarded-For: 10.0.0.9\r\nAuthorization: Bearer secret\r\nContent-Length: 0\r\n\r\n";

test("the request is forwarded with its headers to the URL's path, and bytes pass both ways", async (t) => {
  let sent = "";
  const port = await setUp(t, (request, socket) => {
    sent = request;
    socket.write("HTTP/1.1 101 Switching Protocols\r\nUpgrade: SPDY/3.1\r\n\r\nhello");
    socket.on("data", (chunk) => socket.write(`echo ${chunk.toString()}`));
  });
  const { received, socket } = await exchange(port, upgrade, "hello");
  assert.match(received, /^HTTP\/1\.1 101 Switching Protocols\r\n/);
  assert.match(sent, /^POST \/exec\/token\?x=1 HTTP\/1\.1\r\nHost: 127\.0\.0\.1:\d+\r\n/);
  assert.match(sent, /upgrade: SPDY\/3\.1\r\n/i);
  assert.match(sent, /x-stream-protocol-version: v4\r\n/i);
  assert.match(sent, /X-Forwarded-For: 10\.0\.0\.9, .*127\.0\.0\.1\r\n/);
  assert.doesNotMatch(sent, /secret/);
  const echoed = new Promise((resolve) => socket.once("data", (chunk) => resolve(chunk.toString())));
  socket.write("ping");
  assert.equal(await echoed, "echo ping");
  socket.destroy();
});

test("an error response of the runtime is forwarded unchanged", async (t) => {
  const port = await setUp(t, (_, socket) =>
    socket.end("HTTP/1.1 403 Forbidden\r\nConnection: close\r\n\r\n"),
  );
  const { received } = await exchange(port, upgrade, "nothing");
  assert.equal(received, "HTTP/1.1 403 Forbidden\r\nConnection: close\r\n\r\n");
});

test("a response that is neither an upgrade nor an error fails", async (t) => {
  const port = await setUp(t, (_, socket) => socket.end("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"));
  const { received } = await exchange(port, upgrade, "status code 200\n");
  assert.match(received, /^HTTP\/1\.1 500 /);
  assert.match(received, /invalid upgrade response: status code 200\n$/);
});

test("a runtime that cannot be reached is an error", async (t) => {
  const limits = { idleMilliseconds: 0, wholeMilliseconds: 0 };
  const front = await listenPlain({
    host: "127.0.0.1",
    port: 0,
    now: () => 0,
    handle: (call) => Promise.resolve(tunnel(call, "http://127.0.0.1:1/x", limits)),
  });
  t.after(() => front.close());
  const { received } = await exchange((front.address as AddressInfo).port, upgrade, "backend");
  assert.match(received, /^HTTP\/1\.1 500 [\s\S]*error dialing backend/);
});

test("the tunnel closes when either side does", async (t) => {
  const ended = Promise.withResolvers<void>();
  const port = await setUp(t, (_, socket) => {
    socket.write("HTTP/1.1 101 Switching Protocols\r\n\r\n");
    socket.on("close", () => ended.resolve());
  });
  const { socket } = await exchange(port, upgrade, "\r\n\r\n");
  socket.destroy();
  await ended.promise;
});

const upgraded = "HTTP/1.1 101 Switching Protocols\r\n\r\n";

test("an idle connection is closed after its idle timeout", async (t) => {
  const limits = { idleMilliseconds: 50, wholeMilliseconds: 0 };
  const port = await setUp(t, (_, socket) => socket.write(upgraded), limits);
  const { closed } = await exchange(port, upgrade, "\r\n\r\n");
  await closed;
});

test("no connection outlives the maximum lifetime, even if busy or without an idle timeout", async (t) => {
  assert.equal(longestStreamMilliseconds, 4 * 3_600_000);
  const limits = { idleMilliseconds: 0, wholeMilliseconds: 100 };
  const port = await setUp(
    t,
    (_, socket) => {
      socket.write(upgraded);
      const talk = setInterval(() => socket.write("x"), 5);
      socket.on("close", () => clearInterval(talk));
    },
    limits,
  );
  const { closed } = await exchange(port, upgrade, "x");
  await closed;
});
