import assert from "node:assert/strict";
import { once } from "node:events";
import { type Socket, connect } from "node:net";
import { type TestContext, test } from "node:test";
import { ask, secured } from "./listener.fixture.ts";
import type { ConnectionRefusal } from "./listener.ts";

const limits = { connections: 100, unfinishedHandshakes: 2 };
const well = async () => ({ status: 200, headers: {}, body: Buffer.from("well") });

async function silent(t: TestContext, port: number): Promise<Socket> {
  const socket = connect(port, "127.0.0.1");
  socket.on("error", () => undefined);
  t.after(() => socket.destroy());
  await once(socket, "connect");
  return socket;
}

test("a connection that does not start its TLS handshake in time is closed", async (t) => {
  const server = await secured(t, well, { handshakeTimeoutMilliseconds: 50 });
  await once(await silent(t, server.port), "close");
  while (server.listener.connections() > 0) await new Promise((resolve) => setImmediate(resolve));
});

test("a connection that sends anything but TLS is closed immediately", async (t) => {
  const server = await secured(t, well);
  const socket = await silent(t, server.port);
  socket.resume().write("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
  await once(socket, "close");
});

test("beyond the limit the oldest unfinished handshake is evicted and reported, finished ones are kept", async (t) => {
  const refusals: ConnectionRefusal[] = [];
  const server = await secured(t, well, { limits, onRefused: (refusal) => refusals.push(refusal) });
  const finished = await server.http2();
  const sockets = [await silent(t, server.port), await silent(t, server.port)];
  sockets.push(await silent(t, server.port), await silent(t, server.port));
  for (const socket of sockets.slice(0, 2)) if (!socket.destroyed) await once(socket, "close");
  assert.deepEqual(
    sockets.map((socket) => socket.destroyed),
    [true, true, false, false],
  );
  assert.deepEqual(
    refusals.map(({ reason, count }) => [reason, count]),
    [["too many unfinished TLS handshakes", 1]],
  );
  assert.equal(finished.destroyed, false);
  assert.equal((await ask(server, "1.1")).text, "well");
});

test("beyond the connection limit new connections are closed and reported", async (t) => {
  const refusals: ConnectionRefusal[] = [];
  const server = await secured(t, well, {
    limits: { connections: 1, unfinishedHandshakes: 10 },
    onRefused: (refusal) => refusals.push(refusal),
  });
  await silent(t, server.port);
  await once(await silent(t, server.port), "close");
  assert.deepEqual(
    refusals.map(({ reason, count }) => [reason, count]),
    [["too many connections", 1]],
  );
});
