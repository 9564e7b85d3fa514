import assert from "node:assert/strict";
import { once } from "node:events";
import { existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { type IncomingMessage, request as requestPlain } from "node:http";
import { request } from "node:https";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { eventually, needs } from "#kit";
import type { Reply } from "./call.ts";
import { ask, askHttp1, askHttp2, identities, openHttp2, secured, untilEnd } from "./listener.fixture.ts";
import { listenPlain } from "./listener.ts";

const tls = needs("openssl");
const text = (body: string, status = 200): Reply => ({
  status,
  headers: { "content-type": "text/plain" },
  body: Buffer.from(body),
});
const well = async (): Promise<Reply> => text("well");

test(
  "the client's certificate chain is available, leaf first; without a certificate it is empty",
  tls,
  async (t) => {
    const server = await secured(t, async ({ peer }) => {
      const chain = peer.certificates();
      assert.equal(peer.certificates(), chain);
      return text(chain[0]?.subject ?? "nobody");
    });
    const { client } = await identities();
    assert.equal((await askHttp1(server, {}, client)).text, "O=testers\nCN=client");
    assert.equal((await askHttp2(await server.http2({ client }))).text, "O=testers\nCN=client");
    assert.equal((await askHttp1(server)).text, "nobody");
  },
);

test("a connection without a negotiated protocol is HTTP/1.1", tls, async (t) => {
  const server = await secured(t, async ({ protocol }) => text(protocol));
  const socket = await server.raw();
  socket.write("GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  assert.match(await untilEnd(socket), /^HTTP\/1\.1 200 OK\r\n[^]*1\.1$/);
});

const faults: [name: string, sent: string, answer: RegExp][] = [
  [
    "headers beyond the limit",
    `GET / HTTP/1.1\r\nHost: x\r\nX-Long: ${"x".repeat(70_000)}\r\n\r\n`,
    /^HTTP\/1\.1 431 /,
  ],
  ["data other than HTTP", "nonsense\r\n\r\n", /^HTTP\/1\.1 400 /],
  [
    "two lengths at once",
    "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
    /^HTTP\/1\.1 400 /,
  ],
  ["a header with a line break", "GET / HTTP/1.1\r\nHost: x\r\nX: a\nb\r\n\r\n", /^HTTP\/1\.1 400 /],
];
for (const [name, sent, answer] of faults) {
  test(`${name}: rejected, and the connection is closed`, tls, async (t) => {
    const server = await secured(t, well);
    const socket = await server.raw();
    socket.write(sent);
    assert.match(await untilEnd(socket), answer);
    assert.equal((await askHttp1(server)).text, "well");
  });
}

test("headers just below the limit are accepted in both protocols", tls, async (t) => {
  const server = await secured(t, async ({ headers }) => text(String((headers["x-long"] as string).length)));
  const headers = { "x-long": "x".repeat(60_000) };
  assert.equal((await askHttp1(server, { headers })).text, "60000");
  assert.equal((await askHttp2(await server.http2(), { headers })).text, "60000");
});

for (const protocol of ["1.1", "2"] as const) {
  test(`the request target may be long over HTTP/${protocol}, up to its limit`, tls, async (t) => {
    const server = await secured(t, async ({ search }) => text(String(search.length)));
    assert.equal((await ask(server, protocol, { path: `/?${"x".repeat(1_000_000)}` })).text, "1000000");
    await assert.rejects(async () =>
      assert.equal((await ask(server, protocol, { path: `/?${"x".repeat(1_200_000)}` })).status, 200),
    );
    assert.equal((await ask(server, protocol, { path: "/?x" })).text, "1");
  });
}

test("over HTTP/2 headers above the limit are rejected", tls, async (t) => {
  const server = await secured(t, well);
  const session = await server.http2();
  assert.equal((await askHttp2(session, { headers: { "x-long": "x".repeat(70_000) } })).status, 431);
  assert.equal((await askHttp2(await server.http2())).text, "well");
});

test("a client that never finishes its headers is disconnected", tls, async (t) => {
  const server = await secured(t, well, { headersTimeoutMilliseconds: 20 });
  const socket = await server.raw();
  socket.write("GET / HTTP/1.1\r\nHost: x\r\nX-Slow: ");
  assert.match(await untilEnd(socket), /^HTTP\/1\.1 408 /);
});

for (const [given, announced] of [
  [7, 7],
  [0, 100],
] as const) {
  test(`HTTP/2 clients receive the stream limit: ${given} means ${announced}`, tls, async (t) => {
    const server = await secured(t, well, { maxStreamsPerConnection: given });
    const session = await server.http2();
    await askHttp2(session);
    assert.equal(session.remoteSettings.maxConcurrentStreams, announced);
  });
}

for (const http2 of ["builtin", "node"] as const)
  test(`HTTP/2 clients receive the settings of the reference from ${http2}`, tls, async (t) => {
    const server = await secured(t, well, { http2Implementation: http2 });
    const session = await server.http2();
    await askHttp2(session);
    const { maxConcurrentStreams, initialWindowSize, maxFrameSize, maxHeaderListSize } =
      session.remoteSettings;
    assert.deepEqual(
      { maxConcurrentStreams, initialWindowSize, maxFrameSize, maxHeaderListSize },
      {
        maxConcurrentStreams: 100,
        initialWindowSize: 262_144,
        maxFrameSize: 262_144,
        maxHeaderListSize: 1_048_896,
      },
    );
  });

test("goAway sends GOAWAY to an HTTP/2 client, and its response still arrives", tls, async (t) => {
  const server = await secured(t, async (call) => {
    call.goAway();
    return text("bye");
  });
  const session = await server.http2();
  const away = once(session, "goaway");
  assert.equal((await askHttp2(session)).text, "bye");
  assert.deepEqual((await away)[0], 0);
  assert.equal((await askHttp1(server)).text, "bye");
});

test("new certificates are used for new connections", tls, async (t) => {
  const { authority, server: identity } = await identities();
  const server = await secured(t, well, {
    tls: {
      ...identity,
      maxVersion: "TLSv1.2",
      ciphers: "ECDHE-RSA-AES256-GCM-SHA384:ECDHE-ECDSA-AES256-GCM-SHA384",
    },
  });
  const shown = async (): Promise<unknown[]> => {
    const socket = await server.raw();
    const { CN } = socket.getPeerCertificate().subject;
    const lines = [CN, socket.getProtocol(), socket.getCipher().name.replace(/^ECDHE-(RSA|ECDSA)-/, "")];
    socket.destroy();
    return lines;
  };
  const old = await server.http2();
  assert.deepEqual(await shown(), ["server", "TLSv1.2", "AES256-GCM-SHA384"]);
  server.listener.setSecureContext(await authority.issue("/CN=renewed", { ips: ["127.0.0.1"] }));
  assert.deepEqual(await shown(), ["renewed", "TLSv1.2", "AES256-GCM-SHA384"]);
  assert.equal((await askHttp2(old)).text, "well");
});

const upgrade = "GET /up HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n";

test("an upgrade hands over the connection, including bytes received early", tls, async (t) => {
  const server = await secured(t, async (call) => ({
    status: 101,
    headers: {},
    body: {
      takeOver: (socket, head) => {
        assert.equal(call.upgradable, true);
        socket.write(
          `HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n${Buffer.from(head).toString()}`,
        );
        socket.pipe(socket);
      },
    },
  }));
  const socket = await server.raw();
  socket.write(`${upgrade}early `);
  const seen = untilEnd(socket);
  socket.write("late");
  socket.end();
  assert.match(await seen, /^HTTP\/1\.1 101 [^]*\r\n\r\nearly late$/);
});

test("an upgrade may be rejected like any request, and the connection is closed", tls, async (t) => {
  const server = await secured(t, async ({ path }) => text(path, 403));
  const socket = await server.raw();
  socket.write(upgrade);
  const answer = await untilEnd(socket);
  assert.match(answer, /^HTTP\/1\.1 403 Forbidden\r\n/);
  assert.match(answer, /\r\nconnection: close\r\n/i);
  assert.match(answer, /\r\n\r\n\/up$/);
});

test("an upgrade whose handler fails ends the connection", tls, async (t) => {
  const server = await secured(t, async () => {
    throw new Error("on purpose");
  });
  const socket = await server.raw();
  socket.write(upgrade);
  assert.equal(await untilEnd(socket), "");
});

/** A handler that responds when `answer` is called. */
function held(): { handle: () => Promise<Reply>; arrived: Promise<void>; answer: () => void } {
  const [arrived, go] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  return {
    handle: async () => {
      arrived.resolve();
      await go.promise;
      return text("late");
    },
    arrived: arrived.promise,
    answer: () => go.resolve(),
  };
}

test(
  "draining finishes active exchanges, closes idle connections and accepts no new ones",
  tls,
  async (t) => {
    const { handle, arrived, answer } = held();
    const server = await secured(t, async (call) => (call.path === "/wait" ? await handle() : text("well")));
    const [idle, busy, idleSession, busySession] = [
      await server.raw(),
      await server.raw(),
      await server.http2(),
      await server.http2(),
    ];
    idle.write("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    await once(idle, "data");
    await askHttp2(idleSession);
    busy.write("GET /wait HTTP/1.1\r\nHost: x\r\n\r\n");
    const overHttp1 = untilEnd(busy);
    const overHttp2 = askHttp2(busySession, { path: "/wait" });
    await arrived;
    await new Promise((resolve) => busySession.ping(() => resolve(undefined)));
    const away = [once(idleSession, "close"), once(busySession, "goaway"), once(idle, "close")];
    server.listener.drain();
    await Promise.all(away);
    await assert.rejects(askHttp1(server), { code: "ECONNREFUSED" });
    answer();
    assert.equal((await overHttp2).text, "late");
    assert.match(await overHttp1, /connection: close[^]*late$/i);
    while (server.listener.connections() > 0) await new Promise((resolve) => setImmediate(resolve));
  },
);

test("closing ends all connections immediately", tls, async (t) => {
  const open = (): number =>
    process.getActiveResourcesInfo().filter((name) => /TCP|TLS|Pipe|HTTP/i.test(name)).length;
  const before = open();
  const { handle, arrived } = held();
  const server = await secured(t, handle);
  const [idle, busy, session] = [await server.raw(), await server.raw(), await server.http2()];
  busy.write("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  openHttp2(session, {}, true);
  await arrived;
  const ended = [idle, busy, session].map((each) => new Promise((resolve) => each.once("close", resolve)));
  await server.listener.close();
  await server.listener.close();
  await Promise.all(ended);
  assert.equal(server.listener.connections(), 0);
  // Closed connections are released some turns later.
  await eventually(async () => open() <= before);
});

test("a port in use is an error, not a crash", tls, async (t) => {
  const server = await secured(t, well);
  await assert.rejects(secured(t, well, { port: server.port }), { code: "EADDRINUSE" });
});

test("several requests share one keep-alive connection", tls, async (t) => {
  const server = await secured(t, async ({ path }) => text(path));
  const socket = await server.raw();
  socket.write(
    "GET /1 HTTP/1.1\r\nHost: x\r\n\r\nGET /2 HTTP/1.1\r\nHost: x\r\n\r\nGET /3 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
  );
  assert.deepEqual((await untilEnd(socket)).match(/\r\n\r\n\/\d/g), [
    "\r\n\r\n/1",
    "\r\n\r\n/2",
    "\r\n\r\n/3",
  ]);
});

test("a request with Expect: 100-continue is served", tls, async (t) => {
  const server = await secured(t, async (call) => text(Buffer.from(await call.body(10)).toString()));
  const sent = request({
    host: "127.0.0.1",
    port: server.port,
    ca: server.ca,
    agent: false,
    method: "POST",
    headers: { expect: "100-continue" },
  });
  sent.flushHeaders();
  await once(sent, "continue");
  sent.end("body");
  const [answer] = (await once(sent, "response")) as [IncomingMessage];
  assert.equal(Buffer.concat(await Array.fromAsync(answer)).toString(), "body");
});

function folder(t: TestContext): string {
  const made = mkdtempSync(join(tmpdir(), "orch-socket-"));
  t.after(() => rmSync(made, { recursive: true }));
  return made;
}

async function askPlain(
  options: { readonly socketPath: string } | { readonly port: number; readonly host: string },
): Promise<string> {
  const sent = requestPlain({ ...options, agent: false }).end();
  const [answer] = (await once(sent, "response")) as [IncomingMessage];
  return Buffer.concat(await Array.fromAsync(answer)).toString();
}

test("a local socket is accessible to its owner only, replaces a stale one, and is removed when closed", async (t) => {
  const path = join(folder(t), "s");
  const left = createServer().listen(path);
  await once(left, "listening");
  const listener = await listenPlain({
    path,
    handle: async ({ peer }) => text(`${peer.certificates().length}`),
    now: () => 0,
  });
  assert.equal(await askPlain({ socketPath: path }), "0");
  assert.equal(statSync(path).mode & 0o777, 0o600);
  await listener.close();
  assert.equal(existsSync(path), false);
  left.close();
});

test("a file that is not a socket is not replaced", async (t) => {
  const path = join(folder(t), "precious");
  writeFileSync(path, "data");
  await assert.rejects(listenPlain({ path, handle: well, now: () => 0 }), { code: "EADDRINUSE" });
  assert.equal(statSync(path).size, 4);
});

for (const protocol of ["1.1", "2"] as const)
  test(
    `an unshared response is complete, and finished when it was sent, HTTP/${protocol}`,
    tls,
    async (t) => {
      const unshared = [Buffer.alloc(300_000, "a"), Buffer.alloc(300_000, "b")];
      const over = Promise.withResolvers<void>();
      const server = await secured(t, async (call) => {
        call.onFinished(over.resolve);
        return { status: 200, headers: {}, body: unshared, unshared };
      });
      const { text: got } = await ask(server, protocol);
      await over.promise;
      assert.equal(got, "a".repeat(300_000) + "b".repeat(300_000));
      // Node's own writer may still read the parts; our implementation has copied them.
      assert.deepEqual(
        unshared.map(({ length }) => length),
        protocol === "2" ? [0, 0] : [300_000, 300_000],
      );
    },
  );

test("a client that disconnects ends its call, whatever is left of the response", tls, async (t) => {
  const unshared = [Buffer.alloc(3_000_000, "a")];
  const over = Promise.withResolvers<void>();
  const server = await secured(t, async (call) => {
    call.onFinished(over.resolve);
    return { status: 200, headers: {}, body: unshared, unshared };
  });
  const session = await server.http2();
  const stream = openHttp2(session, {}, true);
  await once(stream, "response");
  stream.close();
  await over.promise;
  assert.equal(unshared[0]!.length, 0);
  session.close();
});

test("a plain port serves and closes", async () => {
  const listener = await listenPlain({ host: "127.0.0.1", port: 0, handle: well, now: () => 0 });
  const { port } = listener.address as { port: number };
  assert.equal(await askPlain({ host: "127.0.0.1", port }), "well");
  await listener.close();
  await assert.rejects(askPlain({ host: "127.0.0.1", port }), { code: "ECONNREFUSED" });
});
