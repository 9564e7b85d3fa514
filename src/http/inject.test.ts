import assert from "node:assert/strict";
import { test } from "node:test";
import { BodyTooLarge, type Call, type Reply, type Sink } from "./call.ts";
import { type Injection, inject } from "./inject.ts";

const reply = (body?: Reply["body"]): Reply => ({
  status: 200,
  headers: { "x-a": "1" },
  ...(body && { body }),
});
const bytes = (text: string): Buffer => Buffer.from(text);

async function seen(request: Injection): Promise<Call> {
  let call: Call | undefined;
  await inject(async (given) => {
    call = given;
    return reply();
  }, request);
  return call!;
}

test("an injected request is equivalent to one from a socket", async () => {
  const call = await seen({
    method: "PUT",
    path: "/a%20b?x=1?2",
    headers: { Accept: "x", "X-Many": ["1", "2"] },
    body: "ä",
    trusted: { name: "me", groups: [] },
  });
  const { method, path, search, headers, peer, upgradable } = call;
  assert.deepEqual(
    { method, path, search, headers, upgradable },
    {
      method: "PUT",
      path: "/a%20b",
      search: "x=1?2",
      headers: { accept: "x", "x-many": ["1", "2"] },
      upgradable: false,
    },
  );
  assert.deepEqual(peer.trusted, { name: "me", groups: [] });
  assert.deepEqual(peer.certificates(), []);
  assert.equal(Buffer.from(await call.body(2)).toString(), "ä");
  await assert.rejects(call.body(1), BodyTooLarge);
});

test("the method defaults to GET and the body to an empty one", async () => {
  const call = await seen({ path: "/" });
  assert.equal(call.method, "GET");
  assert.equal((await call.body(0)).length, 0);
});

const bodies: [name: string, body: Reply["body"], text: string][] = [
  ["nothing", undefined, ""],
  ["bytes", bytes("one"), "one"],
  ["parts", [bytes("one"), bytes("two")], "onetwo"],
  [
    "a stream",
    { stream: async (sink) => ["one", "two"].forEach((text) => sink.write(bytes(text))) },
    "onetwo",
  ],
  ["a stream that writes nothing", { stream: async () => undefined }, ""],
  ["a connection taken over", { takeOver: () => assert.fail("taken over") }, ""],
];
for (const [name, body, text] of bodies) {
  test(`the response of ${name} is read whole`, async () => {
    const answer = await inject(async () => reply(body), { path: "/" });
    assert.deepEqual([answer.status, answer.headers, await answer.text()], [200, { "x-a": "1" }, text]);
  });
}

test("JSON is parsed", async () =>
  assert.deepEqual(await (await inject(async () => reply(bytes('{"a":[1]}')), { path: "/" })).json(), {
    a: [1],
  }));

test("a handler's error is thrown to the caller", async () => {
  await assert.rejects(
    inject(
      async () => {
        throw new Error("on purpose");
      },
      { path: "/" },
    ),
    /on purpose/,
  );
});

/** A stream controlled by the test, which reports how it ended. */
function scripted(): { body: Reply["body"]; sink: Promise<Sink>; ended: Promise<boolean> } {
  const [sink, ended] = [Promise.withResolvers<Sink>(), Promise.withResolvers<boolean>()];
  const stream = async (given: Sink): Promise<void> => {
    sink.resolve(given);
    if (!given.closed.aborted)
      await new Promise((resolve) => given.closed.addEventListener("abort", resolve, { once: true }));
    ended.resolve(given.closed.aborted);
  };
  return { body: { stream }, sink: sink.promise, ended: ended.promise };
}

test("a response that breaks off is not read as complete", async () => {
  const stream = async (sink: Sink): Promise<void> => {
    sink.write(bytes("half"));
    throw new Error("on purpose");
  };
  const answer = await inject(async () => reply({ stream }), { path: "/" });
  const seen: string[] = [];
  await assert.rejects(async () => {
    for await (const chunk of answer.chunks) {
      seen.push(Buffer.from(chunk).toString());
      // The stream fails in the meantime.
      await new Promise((resolve) => setImmediate(resolve));
    }
  }, /on purpose/);
  assert.deepEqual(seen, ["half"]);
});

test("aborting the request ends its stream and closes the sink", async () => {
  const { body, sink, ended } = scripted();
  const abort = new AbortController();
  const answer = await inject(async () => reply(body), { path: "/", signal: abort.signal });
  const text = answer.text();
  (await sink).write(bytes("one"));
  await new Promise((resolve) => setImmediate(resolve));
  abort.abort();
  assert.equal(await text, "one");
  assert.equal(await ended, true);
});

test("a request aborted beforehand is aborted for the handler, and streams nothing", async () => {
  const { body, ended } = scripted();
  let aborted = false;
  const answer = await inject(
    async ({ signal }) => {
      aborted = signal.aborted;
      return reply(body);
    },
    { path: "/", signal: AbortSignal.abort() },
  );
  assert.equal(aborted, true);
  assert.equal(await answer.text(), "");
  assert.equal(await ended, true);
});

test("a reader that stops reading closes the sink, and later writes are discarded", async () => {
  const { body, sink, ended } = scripted();
  const answer = await inject(async () => reply(body), { path: "/" });
  const reading = (async () => {
    for await (const chunk of answer.chunks) return Buffer.from(chunk).toString();
  })();
  (await sink).write(bytes("one"));
  assert.equal(await reading, "one");
  assert.equal(await ended, true);
  (await sink).write(bytes("two"));
  assert.equal((await sink).backlogBytes, 0);
});

test("unread bytes count as backlog, and draining waits for the reader", async () => {
  const steps: string[] = [];
  const stream = async (sink: Sink): Promise<void> => {
    for (let i = 0; i < 3; i++) {
      sink.write(Buffer.alloc(100_000));
      sink.write(Buffer.alloc(100_000));
      steps.push(`wrote, backlog ${sink.backlogBytes}`);
      await sink.drained();
      steps.push(`drained, backlog ${sink.backlogBytes}`);
    }
  };
  const answer = await inject(async () => reply({ stream }), { path: "/" });
  let read = 0;
  for await (const chunk of answer.chunks) read += chunk.length;
  assert.equal(read, 600_000);
  assert.deepEqual(
    steps,
    Array.from({ length: 3 }, () => ["wrote, backlog 200000", "drained, backlog 0"]).flat(),
  );
});
