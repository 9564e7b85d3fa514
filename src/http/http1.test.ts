import assert from "node:assert/strict";
import { once } from "node:events";
import { Socket } from "node:net";
import { test } from "node:test";
import { needs } from "#kit";
import type { Reply } from "./call.ts";
import { askHttp1, secured, untilEnd } from "./listener.fixture.ts";

const tls = needs("openssl");
const text = (body: string, status = 200): Reply => ({
  status,
  headers: { "content-type": "text/plain" },
  body: Buffer.from(body),
});
const host = "Host: x\r\n";
const last = `${host}Connection: close\r\n`;

const targets: [target: string, path: string, search: string][] = [
  ["/a?b=c", "/a", "b=c"],
  ["https://example:6443/a/b?c=d", "/a/b", "c=d"],
  ["HTTP://example/a", "/a", ""],
  ["https://example", "/", ""],
  ["https://example?c=d", "/", "c=d"],
];
for (const [target, path, search] of targets) {
  test(`the target ${target} is the path ${path}`, tls, async (t) => {
    const server = await secured(t, async (call) => text(`${call.path} ${call.search}`));
    const socket = await server.raw();
    socket.write(`GET ${target} HTTP/1.1\r\n${last}\r\n`);
    assert.equal((await untilEnd(socket)).split("\r\n\r\n")[1], `${path} ${search}`);
  });
}

const refused: [name: string, sent: string, answer: RegExp][] = [
  ["a request with two hosts", `GET / HTTP/1.1\r\n${host}${host}\r\n`, /^HTTP\/1\.1 400 /],
  ["a request without a version", "GET /\r\n\r\n", /^HTTP\/1\.1 400 /],
  ["an unknown method without a host", `FOO / HTTP/1.1\r\nA: b\r\n\r\n`, /^HTTP\/1\.1 400 /],
  ["an unknown method with two hosts", `FOO / HTTP/1.1\r\n${host}${host}\r\n`, /^HTTP\/1\.1 400 /],
  ["a malformed method", `F(O / HTTP/1.1\r\n${host}\r\n`, /^HTTP\/1\.1 400 /],
  ["a request of a future version", `GET / HTTP/2.0\r\n${host}\r\n`, /^HTTP\/1\.1 505 /],
];
for (const [name, sent, answer] of refused) {
  test(`${name} reaches no handler`, tls, async (t) => {
    const server = await secured(t, async () => assert.fail("handled"));
    const socket = await server.raw();
    socket.write(sent);
    assert.match(await untilEnd(socket), answer);
  });
}

test(
  "a request with a method unknown to the parser is handled, and its connection is closed",
  tls,
  async (t) => {
    const server = await secured(t, async (call) => {
      assert.equal((await call.body(10)).length, 0);
      return text(`${call.method} ${call.path} ${call.search} ${String(call.headers["x-a"])}`, 405);
    });
    const socket = await server.raw();
    socket.write(`GET /first HTTP/1.1\r\n${host}\r\n`);
    await once(socket, "data");
    socket.write(`FOO /a?b=c HTTP/1.1\r\n${host}X-A:  b \r\nContent-Length: 1\r\n\r\nx`);
    const answer = await untilEnd(socket);
    assert.match(answer, /^HTTP\/1\.1 405 /);
    assert.match(answer, /\r\nFOO \/a b=c b$/);
  },
);

test("100 Continue is sent only when the body is read", tls, async (t) => {
  const server = await secured(t, async () => text("who are you?", 401));
  const socket = await server.raw();
  socket.write(`POST / HTTP/1.1\r\n${host}Expect: 100-continue\r\nContent-Length: 5\r\n\r\n`);
  const answer = await untilEnd(socket);
  assert.match(answer, /^HTTP\/1\.1 401 /);
  assert.match(answer, /\r\nconnection: close\r\n/i);
});

test("an upgrade request with a body is handled as an ordinary request", tls, async (t) => {
  const server = await secured(t, async (call) =>
    text(`${call.upgradable} ${Buffer.from(await call.body(10)).toString()}`),
  );
  const { text: answer } = await askHttp1(server, {
    method: "POST",
    headers: { connection: "Upgrade", upgrade: "h2c" },
    body: "hello",
  });
  assert.equal(answer, "false hello");
});

test("a body that continues after its response is read for a limited time", tls, async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const server = await secured(t, async () => text("too large", 413));
  const socket = await server.raw();
  socket.write(`POST / HTTP/1.1\r\n${host}Transfer-Encoding: chunked\r\n\r\n1\r\nx\r\n`);
  await once(socket, "data");
  assert.equal(socket.destroyed, false);
  const ended = once(socket, "close");
  t.mock.timers.tick(5_000);
  await ended;
});

test("a keep-alive connection retains nothing of finished requests", tls, async (t) => {
  const signals: AbortSignal[] = [];
  const server = await secured(t, async (call) => {
    signals.push(call.signal);
    return text("well");
  });
  const warned: Error[] = [];
  const note = (warning: Error): void => void warned.push(warning);
  process.on("warning", note);
  t.after(() => process.off("warning", note));
  const socket = await server.raw();
  for (let requests = 0; requests < 30; requests++) {
    socket.write(`GET / HTTP/1.1\r\n${host}\r\n`);
    await once(socket, "data");
  }
  socket.destroy();
  while (server.listener.connections() > 0) await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual([signals.length, signals.filter(({ aborted }) => aborted).length], [30, 0]);
  assert.deepEqual(
    warned.filter(({ name }) => name === "MaxListenersExceededWarning"),
    [],
  );
});

test("the handler is notified when its client disconnects before the response", tls, async (t) => {
  const left = Promise.withResolvers<void>();
  const server = await secured(t, async ({ signal }) => {
    socket.destroy();
    signal.addEventListener("abort", () => left.resolve());
    await left.promise;
    return text("too late");
  });
  const socket = await server.raw();
  socket.write(`GET / HTTP/1.1\r\n${host}\r\n`);
  await left.promise;
});

test("a client that does not read the end of its response is disconnected", tls, async (t) => {
  const server = await secured(
    t,
    async () => ({ status: 200, headers: {}, body: Buffer.alloc(64 * 1024 * 1024) }),
    { stalledMilliseconds: 20 },
  );
  const socket = await server.raw();
  socket.pause();
  socket.write(`GET / HTTP/1.1\r\n${host}\r\n`);
  while (server.listener.connections() > 0) await new Promise((resolve) => setImmediate(resolve));
});

test("a keep-alive connection has no such limit after a response", tls, async (t) => {
  // A real timeout would also end connections on a slow machine.
  const stalledMilliseconds = 60_001;
  const limits = t.mock.method(Socket.prototype, "setTimeout");
  const read = Promise.withResolvers<void>();
  const long = 5_000_000;
  const server = await secured(
    t,
    async ({ path }) => {
      if (path === "/next") await read.promise;
      return text(path === "/next" ? "next" : "x".repeat(long));
    },
    { stalledMilliseconds },
  );
  const socket = await server.raw();
  let bytes = 0;
  socket.on("data", (chunk: Buffer) => (bytes += chunk.length) > long && read.resolve());
  socket.write(`GET / HTTP/1.1\r\n${host}\r\nGET /next HTTP/1.1\r\n${last}\r\n`);
  assert.match(await untilEnd(socket), /next$/);
  const { calls } = limits.mock;
  const limited = calls.findIndex((call) => call.arguments[0] === stalledMilliseconds);
  const after = calls.slice(limited + 1).filter((call) => call.this === calls[limited]!.this);
  assert.equal(after[0]?.arguments[0], 0, "the limit is taken back with the end of the answer");
});

test("pipelined requests are handled one after the other", tls, async (t) => {
  const open: string[] = [];
  const server = await secured(t, async ({ path }) => {
    open.push(path);
    const reply = text(open.join(" "));
    await new Promise((resolve) => setImmediate(resolve));
    open.pop();
    return reply;
  });
  const socket = await server.raw();
  socket.write(`GET /a HTTP/1.1\r\n${host}\r\nGET /b HTTP/1.1\r\n${host}\r\nGET /c HTTP/1.1\r\n${last}\r\n`);
  const bodies = (await untilEnd(socket)).match(/^\/.*?(?=HTTP|$)/gm);
  assert.deepEqual(bodies, ["/a", "/b", "/c"]);
});

const unanswered: [name: string, sent: string][] = [
  ["more pipelined requests than may wait", `GET / HTTP/1.1\r\n${host}\r\n`.repeat(200)],
  [
    "an upgrade request behind one that is being handled",
    `GET / HTTP/1.1\r\n${host}\r\nGET / HTTP/1.1\r\n${host}Connection: Upgrade\r\nUpgrade: x\r\n\r\n`,
  ],
];
for (const [name, sent] of unanswered) {
  test(`${name} end the connection`, tls, async (t) => {
    let calls = 0;
    const left = Promise.withResolvers<void>();
    const server = await secured(t, async ({ signal }) => {
      calls++;
      signal.addEventListener("abort", () => left.resolve());
      await left.promise;
      return text("too late");
    });
    const socket = await server.raw();
    socket.on("error", () => undefined);
    socket.write(sent);
    await left.promise;
    assert.equal(calls, 1);
  });
}

test("requests behind one whose client has disconnected are not handled", tls, async (t) => {
  const paths: string[] = [];
  const over = Promise.withResolvers<void>();
  const server = await secured(t, async ({ path, onFinished }) => {
    paths.push(path);
    onFinished(over.resolve);
    socket.destroy();
    await over.promise;
    return text("too late");
  });
  const socket = await server.raw();
  socket.write(`GET /a HTTP/1.1\r\n${host}\r\nGET /b HTTP/1.1\r\n${host}\r\n`);
  await over.promise;
  await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual(paths, ["/a"]);
});
