import assert from "node:assert/strict";
import {
  type Http2SecureServer,
  type ServerHttp2Session,
  type ServerHttp2Stream,
  createSecureServer,
} from "node:http2";
import type { AddressInfo } from "node:net";
import { after, before, test } from "node:test";
import { type HttpsTransport, Unreachable, https } from "#client";
import { freePort, testAuthority } from "#kit";

let server: Http2SecureServer;
let authority: Awaited<ReturnType<typeof testAuthority>>;
let ca: string;
let url: string;
const sessions: ServerHttp2Session[] = [];
let answer: (stream: ServerHttp2Stream, path: string) => void;

before(async () => {
  authority = await testAuthority();
  ca = authority.ca;
  server = createSecureServer({
    ...(await authority.issue("/CN=localhost", { ips: ["127.0.0.1"] })),
    settings: { maxConcurrentStreams: 2 },
  });
  server.on("session", (session) => sessions.push(session));
  server.on("stream", (stream: ServerHttp2Stream, headers) => {
    stream.on("error", () => undefined);
    answer(stream, headers[":path"] ?? "");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
after(() => {
  for (const session of sessions) session.destroy();
  server.close();
});

const whole = async (transport: HttpsTransport, path = "/"): Promise<string> => {
  const { chunks } = await transport.send({ method: "GET", path });
  return Buffer.concat(await Array.fromAsync(chunks)).toString();
};
const plain = (stream: ServerHttp2Stream, path: string): void => {
  stream.respond({ ":status": 200 });
  stream.end(path);
};

async function withTransport(use: (transport: HttpsTransport) => Promise<void>): Promise<void> {
  sessions.splice(0).forEach((session) => session.destroy());
  const transport = https({ server: url, ca });
  try {
    await use(transport);
  } finally {
    transport.close();
  }
}

test("a request that was not authenticated makes later ones use a renewed certificate", async () => {
  answer = (stream, path) => {
    stream.respond({ ":status": path === "/expired" ? 401 : 200 });
    stream.end(path);
  };
  sessions.splice(0).forEach((session) => session.destroy());
  let pair = await authority.issue("/CN=first");
  const secrets = () => ({ ca, certificate: pair.cert, key: pair.key });
  const transport = https({ server: url, secrets });
  try {
    await whole(transport, "/expired");
    await whole(transport);
    assert.equal(sessions.length, 1, "the certificate is the same");
    pair = await authority.issue("/CN=second");
    await whole(transport);
    assert.equal(sessions.length, 1, "the connection still authenticates");
    await whole(transport, "/expired");
    await whole(transport);
    assert.equal(sessions.length, 2);
  } finally {
    transport.close();
  }
});

test("requests share one connection, which is opened again when the server closes it", async () => {
  answer = plain;
  await withTransport(async (transport) => {
    assert.deepEqual(await Promise.all(["/a", "/b"].map((path) => whole(transport, path))), ["/a", "/b"]);
    assert.equal(sessions.length, 1);
    const left = new Promise((resolve) => sessions[0]!.once("close", resolve));
    sessions[0]!.close();
    await left;
    assert.equal(await whole(transport, "/c"), "/c");
    assert.equal(sessions.length, 2);
  });
});

test("streams that stay open do not delay the next request: it uses another connection", async () => {
  answer = (stream, path) => (path === "/watch" ? stream.respond({ ":status": 200 }) : plain(stream, path));
  await withTransport(async (transport) => {
    assert.equal(await whole(transport), "/");
    for (let i = 0; i < 2; i++) await transport.send({ method: "GET", path: "/watch" });
    assert.equal(await whole(transport, "/quick"), "/quick");
    assert.equal(sessions.length, 2);
  });
});

test("a truncated response throws instead of appearing complete", async () => {
  answer = (stream) => {
    stream.respond({ ":status": 200 });
    stream.write("half", () => stream.session!.destroy());
  };
  await withTransport(async (transport) => {
    await assert.rejects(whole(transport), Unreachable);
    const response = await transport.send({ method: "GET", path: "/" });
    await assert.rejects(response.whole!(), Unreachable);
  });
});

test("a response is received as a whole, also an empty one, unless the request is aborted", async () => {
  answer = (stream, path) => {
    if (path === "/endless") stream.respond({ ":status": 200 });
    else if (path === "/empty") stream.respond({ ":status": 204 }, { endStream: true });
    else plain(stream, path);
  };
  await withTransport(async (transport) => {
    const text = async (path: string): Promise<string> =>
      Buffer.from(await (await transport.send({ method: "GET", path })).whole!()).toString();
    assert.deepEqual([await text("/some"), await text("/empty")], ["/some", ""]);
    const stop = new AbortController();
    const response = await transport.send({ method: "GET", path: "/endless", signal: stop.signal });
    const waiting = response.whole!();
    stop.abort(new Error("enough"));
    await assert.rejects(waiting, /enough/);
  });
});

test("a reset without a response is Unreachable", async () => {
  answer = (stream) => stream.close(8);
  await withTransport(async (transport) => {
    await assert.rejects(whole(transport), Unreachable);
  });
});

test("a refused connection, an untrusted certificate and a silent server are Unreachable, each with its reason", async () => {
  const nobody = https({ server: `https://127.0.0.1:${await freePort()}`, ca });
  await assert.rejects(
    whole(nobody),
    (error) => error instanceof Unreachable && /ECONNREFUSED/.test(error.message),
  );
  nobody.close();
  const distrust = https({ server: url, ca: (await testAuthority()).ca });
  await assert.rejects(whole(distrust), Unreachable);
  distrust.close();
  answer = () => undefined;
  await withTransport(async (transport) => {
    await assert.rejects(
      transport.send({ method: "GET", path: "/", timeoutMilliseconds: 50 }),
      (error) => error instanceof Unreachable && /50 ms/.test(error.message),
    );
  });
});

test("an aborted request fails with the reason of the abort, before and during the response", async () => {
  answer = (stream, path) => (path === "/never" ? undefined : stream.respond({ ":status": 200 }));
  await withTransport(async (transport) => {
    const first = new AbortController();
    const waiting = transport.send({ method: "GET", path: "/never", signal: first.signal });
    first.abort(new Error("changed my mind"));
    await assert.rejects(waiting, /changed my mind/);
    const second = new AbortController();
    const { chunks } = await transport.send({ method: "GET", path: "/open", signal: second.signal });
    setImmediate(() => second.abort(new Error("enough")));
    await assert.rejects(Array.fromAsync(chunks), /enough/);
    await assert.rejects(transport.send({ method: "GET", path: "/", signal: second.signal }), /enough/);
  });
});

test("renew() sends the next request over a new connection with new secrets, and lets the old one finish", async () => {
  const open: ServerHttp2Stream[] = [];
  answer = (stream, path) => {
    if (path !== "/slow") return plain(stream, path);
    stream.respond({ ":status": 200 });
    open.push(stream);
  };
  sessions.splice(0).forEach((session) => session.destroy());
  let requests = 0;
  const transport = https({ server: url, secrets: () => (requests++, { ca }) });
  const slow = await transport.send({ method: "GET", path: "/slow" });
  transport.renew();
  assert.equal(await whole(transport, "/new"), "/new");
  assert.deepEqual([requests, sessions.length], [2, 2]);
  open[0]!.end("done");
  assert.equal(Buffer.concat(await Array.fromAsync(slow.chunks)).toString(), "done");
  transport.close();
});

test("headers carry the current token, the impersonated user, and the headers of the request", async () => {
  const seen: Record<string, unknown>[] = [];
  answer = (stream) => plain(stream, "");
  const note = (_stream: ServerHttp2Stream, headers: Record<string, unknown>): void =>
    void seen.push(headers);
  server.on("stream", note);
  let token = "one";
  const transport = https({
    server: url,
    ca,
    token: () => token,
    headers: { "impersonate-user": "x" },
    userAgent: "me",
  });
  await whole(transport);
  token = "two";
  await transport.send({ method: "POST", path: "/", headers: { accept: "a/b" }, body: "x" });
  server.off("stream", note);
  transport.close();
  assert.deepEqual(
    seen.map((headers) => [
      headers["authorization"],
      headers["impersonate-user"],
      headers["user-agent"],
      headers["accept"],
    ]),
    [
      ["Bearer one", "x", "me", undefined],
      ["Bearer two", "x", "me", "a/b"],
    ],
  );
});

test("close() also ends requests on connections that were replaced", async () => {
  answer = () => undefined;
  await withTransport(async (transport) => {
    const waiting = assert.rejects(transport.send({ method: "GET", path: "/" }), Unreachable);
    while (sessions.length === 0) await new Promise((resolve) => setImmediate(resolve));
    transport.renew();
    transport.close();
    await waiting;
  });
});
