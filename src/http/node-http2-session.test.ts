import assert from "node:assert/strict";
import { once } from "node:events";
import { test } from "node:test";
import { needs } from "#kit";
import { BodyTooLarge, type Call, type Reply } from "./call.ts";
import { askHttp2, identities, openHttp2, secured } from "./listener.fixture.ts";

const tls = needs("openssl");
const node = { http2Implementation: "node" } as const;
const text = (body: string, headers: Reply["headers"] = {}): Reply => ({
  status: 200,
  headers,
  body: Buffer.from(body),
});

test("a handler receives the request unchanged, and the client the reply", tls, async (t) => {
  const { client } = await identities();
  let seen: Call | undefined;
  const server = await secured(
    t,
    async (call) => {
      seen = call;
      return text(Buffer.from(await call.body(100)).toString(), { "x-a": ["1", "2"], connection: "close" });
    },
    node,
  );
  const session = await server.http2({ client });
  const headers = { "x-many": ["a", "b"], "x-one": "c" };
  const answer = await askHttp2(session, { method: "PUT", path: "/a%2Fb?x=1", headers, body: "hello" });
  assert.deepEqual(
    [answer.status, answer.text, answer.headers["x-a"], answer.headers["connection"]],
    [200, "hello", "1, 2", undefined],
  );
  assert.deepEqual(
    [seen?.method, seen?.path, seen?.search, seen?.protocol, seen?.headers["x-many"], seen?.headers["x-one"]],
    ["PUT", "/a%2Fb", "x=1", "2", ["a", "b"], "c"],
  );
  assert.equal(seen?.peer.certificates()[0]?.subject.includes("CN=client"), true);
});

for (const size of [0, 5, 3_000_000])
  test(`a body of ${size} bytes is buffered and then read whole`, tls, async (t) => {
    const server = await secured(
      t,
      async (call) => {
        await call.bodyBuffered();
        return text(String((await call.body(4_000_000)).length));
      },
      node,
    );
    const session = await server.http2();
    assert.equal((await askHttp2(session, { method: "POST", body: Buffer.alloc(size) })).text, String(size));
  });

test("a body above the limit is rejected", tls, async (t) => {
  const server = await secured(
    t,
    async (call) => {
      await assert.rejects(call.body(10), BodyTooLarge);
      return { status: 413, headers: {} };
    },
    node,
  );
  assert.equal((await askHttp2(await server.http2(), { method: "POST", body: "x".repeat(11) })).status, 413);
});

test(
  "a streamed reply ends with its promise, and its writer is notified when the client disconnects",
  tls,
  async (t) => {
    const left = Promise.withResolvers<void>();
    const server = await secured(
      t,
      async ({ path }) => ({
        status: 200,
        headers: {},
        body: {
          stream: async (sink) => {
            sink.write(Buffer.from("one "));
            sink.write(Buffer.from("two"));
            if (path === "/") return;
            await once(sink.closed, "abort");
            left.resolve();
          },
        },
      }),
      node,
    );
    const session = await server.http2();
    assert.equal((await askHttp2(session)).text, "one two");
    const endless = openHttp2(session, { path: "/endless" }, true);
    await once(endless, "data");
    endless.close();
    await left.promise;
  },
);

test("a call is aborted when its client disconnects before the reply", tls, async (t) => {
  const [came, left] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const server = await secured(
    t,
    async ({ signal }) => {
      came.resolve();
      await once(signal, "abort");
      left.resolve();
      return text("");
    },
    node,
  );
  const stream = openHttp2(await server.http2(), {}, true);
  await came.promise;
  stream.close();
  await left.promise;
});

test("HEAD has the headers of GET and no body", tls, async (t) => {
  const server = await secured(t, async () => text("hello"), node);
  const session = await server.http2();
  const { headers, text: body } = await askHttp2(session, { method: "HEAD" });
  assert.deepEqual([headers["content-length"], body], ["5", ""]);
});

test("a draining server sends GOAWAY and serves active requests", tls, async (t) => {
  const [came, answer] = [Promise.withResolvers<void>(), Promise.withResolvers<Reply>()];
  const server = await secured(
    t,
    () => {
      came.resolve();
      return answer.promise;
    },
    node,
  );
  const session = await server.http2();
  const pending = askHttp2(session);
  const away = once(session, "goaway");
  await came.promise;
  server.listener.drain();
  await away;
  answer.resolve(text("late"));
  assert.equal((await pending).text, "late");
});
