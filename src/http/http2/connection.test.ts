import assert from "node:assert/strict";
import { once } from "node:events";
import { connect } from "node:http2";
import { test } from "node:test";
import { BodyTooLarge, IncompleteBody } from "../call.ts";
import { errorCode, flag, frame, numbersFrame, setting, settingsFrame } from "./frames.ts";
import {
  answerWith,
  get,
  getBlock,
  hello,
  literal,
  made,
  post,
  postBlock,
  preface,
  rawClient,
  serve,
} from "./raw-client.fixture.ts";
import type { Stream } from "./stream.ts";

const headers = (stream: number, block: Buffer, flags: number = flag.endHeaders | flag.endStream): Buffer =>
  made(frame.headers, flags, stream, block);
const some = (bytes: number): Buffer => Buffer.alloc(bytes, "x");

const floods: [name: string, sent: Buffer[], code: number][] = [
  [
    "headers without end",
    [
      hello,
      headers(1, getBlock, 0),
      ...Array.from({ length: 4 }, () => made(frame.continuation, 0, 1, some(4000))),
    ],
    errorCode.enhanceYourCalm,
  ],
  [
    "headers in parts of one byte",
    [
      hello,
      headers(1, getBlock, 0),
      ...Array.from({ length: 200 }, () => made(frame.continuation, 0, 1, some(1))),
    ],
    errorCode.enhanceYourCalm,
  ],
  [
    "PING after PING after PING",
    [hello, ...Array.from({ length: 12_000 }, () => made(frame.ping, 0, 0, some(8)))],
    errorCode.enhanceYourCalm,
  ],
  [
    "SETTINGS after SETTINGS",
    [hello, ...Array.from({ length: 12_000 }, () => settingsFrame({}))],
    errorCode.enhanceYourCalm,
  ],
  [
    "empty DATA after empty DATA",
    [hello, post(1), ...Array.from({ length: 12_000 }, () => made(frame.data, 0, 1))],
    errorCode.enhanceYourCalm,
  ],
];
for (const [name, sent, code] of floods) {
  test(`${name}: the connection is closed with the error code`, async (t) => {
    const port = await serve(t, async (stream) => void stream.body(1).catch(() => undefined));
    const client = await rawClient(t, port);
    client.send(...sent);
    assert.equal(await client.refused(), code);
  });
}

test("unknown frames, padding, priorities and trailers are accepted", async (t) => {
  const bodies: string[] = [];
  const port = await serve(t, async (stream) => {
    bodies.push(Buffer.from(await stream.body(100)).toString());
    await answerWith("well")(stream);
  });
  const client = await rawClient(t, port);
  const padded = Buffer.concat([Buffer.from([3, 0, 0, 0, 9, 5]), postBlock, Buffer.alloc(3)]);
  client.send(
    hello,
    made(0x77, 255, 1, some(9)),
    headers(1, padded, flag.endHeaders | flag.padded | flag.priority),
  );
  client.send(
    made(frame.data, flag.padded, 1, Buffer.from([2, 104, 105, 0, 0])),
    made(frame.priority, 0, 1, some(5)),
    headers(1, literal("trailer", "x")),
  );
  assert.equal((await client.next(({ type }) => type === frame.data)).payload.toString(), "well");
  assert.deepEqual(bodies, ["hi"]);
});

test("the same requests are read however the bytes are split", async (t) => {
  const port = await serve(t, async (stream) =>
    answerWith(`${stream.id}:${Buffer.from(await stream.body(100)).toString()}`)(stream),
  );
  const block = Buffer.concat([postBlock, literal("x-long", "y".repeat(100))]);
  const split = [
    headers(3, block.subarray(0, 7), 0),
    made(frame.continuation, 0, 3, block.subarray(7, 50)),
    made(frame.continuation, flag.endHeaders, 3, block.subarray(50)),
  ];
  const sent = Buffer.concat([
    hello,
    get(1),
    ...split,
    made(frame.data, 0, 3, Buffer.from("he")),
    made(frame.data, flag.endStream, 3, Buffer.from("llo")),
    get(5),
  ]);
  for (const size of [1, 2, 3, 7, 10, 24, 33, 100, sent.length]) {
    const client = await rawClient(t, port);
    client.socket.setNoDelay(true);
    for (let at = 0; at < sent.length; at += size) {
      client.send(sent.subarray(at, at + size));
      await new Promise((resolve) => setImmediate(resolve));
    }
    const answers: string[] = [];
    while (answers.length < 3)
      answers.push(
        (
          await client.next(({ type, payload }) => type === frame.data && payload.length > 0)
        ).payload.toString(),
      );
    assert.deepEqual(answers.sort(), ["1:", "3:hello", "5:"]);
  }
});

const closings: [name: string, sent: Buffer[]][] = [
  ["that was answered", [get(1)]],
  ["that the client reset", [post(1), numbersFrame(frame.rstStream, 1, errorCode.cancel)]],
];
for (const [name, sent] of closings) {
  test(`DATA on a stream ${name} is a stream error, and other streams continue`, async (t) => {
    const port = await serve(t, answerWith("well"));
    const client = await rawClient(t, port);
    client.send(hello, ...sent, get(3));
    await client.next(({ type, stream }) => type === frame.data && stream === 3);
    client.send(made(frame.data, 0, 1, some(10)), get(5));
    const { payload } = await client.next(({ type, stream }) => type === frame.rstStream && stream === 1);
    assert.equal(payload.readUInt32BE(0), errorCode.streamClosed);
    await client.next(({ type, stream }) => type === frame.data && stream === 5);
  });
}

test("a response that cannot be written resets its stream, is reported, and leaves nothing for others", async (t) => {
  const problems: string[] = [];
  const broken = {
    get a(): string {
      throw new Error("no value");
    },
  };
  const port = await serve(
    t,
    async (stream) => stream.respond(200, stream.id === 1 ? broken : {}, [Buffer.from("well")], true),
    { onInternalError: (error) => problems.push(error.message) },
  );
  const client = await rawClient(t, port);
  client.send(hello, get(1), get(3));
  const isData = ({ type, stream }: { type: number; stream: number }): boolean =>
    type === frame.data && stream === 3;
  assert.equal((await client.next(isData)).payload.toString(), "well");
  const reset = await client.next(({ type }) => type === frame.rstStream);
  assert.deepEqual([reset.stream, reset.payload.readUInt32BE(0)], [1, errorCode.internal]);
  const other = await rawClient(t, port);
  other.send(hello, get(3));
  assert.equal((await other.next(isData)).payload.toString(), "well");
  assert.deepEqual(problems, ["no value"]);
});

test("streams above the limit are refused one by one, and accepted again later", async (t) => {
  const waiting: Stream[] = [];
  const port = await serve(t, async (stream) => void waiting.push(stream), { maxStreams: 2 });
  const client = await rawClient(t, port);
  client.send(hello, get(1), get(3), get(5));
  const { payload } = await client.next(({ type, stream }) => type === frame.rstStream && stream === 5);
  assert.equal(payload.readUInt32BE(0), errorCode.refusedStream);
  for (const stream of waiting.splice(0)) await answerWith("done")(stream);
  await client.next(({ type, stream }) => type === frame.data && stream === 3);
  client.send(get(7));
  while (waiting.length === 0) await new Promise((resolve) => setImmediate(resolve));
});

test("a client that resets its requests as fast as it sends them is disconnected", async (t) => {
  const port = await serve(t, () => new Promise(() => undefined), { maxStreams: 5 });
  const client = await rawClient(t, port);
  client.send(
    hello,
    ...Array.from({ length: 21 }, (_, at) => [
      get(at * 2 + 1),
      numbersFrame(frame.rstStream, at * 2 + 1, errorCode.cancel),
    ]).flat(),
  );
  assert.equal(await client.refused(), errorCode.enhanceYourCalm);
});

test("a request that is reset before it is started is not served", async (t) => {
  const turns: (() => void)[] = [];
  const served: number[] = [];
  const port = await serve(t, async ({ id }) => void served.push(id), {
    begin: (exchange) => turns.push(exchange),
  });
  const client = await rawClient(t, port);
  client.send(
    hello,
    get(1),
    get(3),
    numbersFrame(frame.rstStream, 1, errorCode.cancel),
    numbersFrame(frame.ping, 0, 0, 0),
  );
  await client.next(({ type, flags }) => type === frame.ping && flags === flag.ack);
  for (const turn of turns) turn();
  assert.deepEqual([turns.length, served], [2, [3]]);
});

test("the rest of a request after its response is ignored, including trailers", async (t) => {
  const port = await serve(t, answerWith("early"));
  const client = await rawClient(t, port);
  client.send(hello, post(1));
  await client.next(
    ({ type, stream, flags }) => type === frame.data && stream === 1 && flags === flag.endStream,
  );
  client.send(made(frame.data, 0, 1, some(100)), headers(1, literal("trailer", "x")), get(3));
  await client.next(({ type, stream }) => type === frame.data && stream === 3);
});

test("a client that keeps sending after its response gets a reset", async (t) => {
  const port = await serve(t, answerWith("early"));
  const client = await rawClient(t, port);
  const update = (): Promise<unknown> =>
    client.next(
      ({ type, stream }) => type === frame.rstStream || (type === frame.windowUpdate && stream === 1),
    );
  client.send(hello, post(1));
  for (let sent = 0; sent < 260; sent++) {
    client.send(...Array.from({ length: 4 }, () => made(frame.data, 0, 1, some(16_384))));
    const { type, payload } = (await update()) as { type: number; payload: Buffer };
    if (type !== frame.rstStream) continue;
    assert.equal(payload.readUInt32BE(0), errorCode.none);
    // Frames in flight at that time are ignored.
    client.send(made(frame.data, 0, 1, some(100)), headers(1, literal("trailer", "x")), get(3));
    await client.next(({ type: next, stream }) => next === frame.data && stream === 3);
    return;
  }
  assert.fail("nobody said stop");
});

test("a client that exceeds the window loses the stream", async (t) => {
  const port = await serve(t, async () => undefined);
  const client = await rawClient(t, port);
  client.send(hello, post(1), ...Array.from({ length: 17 }, () => made(frame.data, 0, 1, some(16_384))));
  const { payload } = await client.next(({ type }) => type === frame.rstStream);
  assert.equal(payload.readUInt32BE(0), errorCode.flowControl);
});

test("a body above the limit is rejected immediately, and its rest is drained before the response", async (t) => {
  const seen = Promise.withResolvers<Stream>();
  const port = await serve(t, async (stream) => {
    await assert.rejects(stream.body(10), BodyTooLarge);
    seen.resolve(stream);
  });
  const client = await rawClient(t, port);
  client.send(hello, post(1), made(frame.data, 0, 1, some(11)));
  const stream = await seen.promise;
  // More than the window permits, unless the body is being read.
  for (let sent = 0; sent < 3; sent++) {
    client.send(...Array.from({ length: 12 }, () => made(frame.data, 0, 1, some(16_384))));
    const { type } = await client.next(
      (one) => one.stream === 1 && (one.type === frame.rstStream || one.type === frame.windowUpdate),
    );
    assert.equal(type, frame.windowUpdate);
  }
  stream.respond(413, {}, [], true);
  await client.next((one) => one.type === frame.headers && one.stream === 1);
});

test("a response waits for window, without delaying others", async (t) => {
  const port = await serve(t, answerWith("0123456789"));
  const client = await rawClient(t, port);
  client.send(preface, settingsFrame({ [setting.initialWindow]: 4 }), get(1), get(3));
  const isData =
    (id: number) =>
    ({ type, stream }: { type: number; stream: number }): boolean =>
      type === frame.data && stream === id;
  const first = await client.next(isData(1));
  assert.deepEqual([first.payload.toString(), first.flags], ["0123", 0]);
  client.send(numbersFrame(frame.windowUpdate, 3, 100));
  assert.equal(
    (
      await client.next(({ type, stream, flags }) => isData(3)({ type, stream }) && flags === flag.endStream)
    ).payload.toString(),
    "456789",
  );
  client.send(settingsFrame({ [setting.initialWindow]: 6 }));
  assert.equal((await client.next(isData(1))).payload.toString(), "45");
  client.send(settingsFrame({ [setting.initialWindow]: 0 }), numbersFrame(frame.windowUpdate, 1, 5));
  client.send(numbersFrame(frame.windowUpdate, 1, 100));
  const last = await client.next(isData(1));
  assert.deepEqual([last.payload.toString(), last.flags], ["6789", flag.endStream]);
});

test("a response that is not read is reset; one that is read slowly, and an active stream, are not", async (t) => {
  t.mock.timers.enable({ apis: ["setInterval"] });
  const port = await serve(t, async (stream) => stream.respond(200, {}, [some(1000)], stream.id !== 5));
  const client = await rawClient(t, port);
  client.send(preface, settingsFrame({ [setting.initialWindow]: 0 }), get(1), get(3), get(5));
  for (let answers = 0; answers < 3; answers++) await client.next(({ type }) => type === frame.headers);
  t.mock.timers.tick(150_000);
  client.send(numbersFrame(frame.windowUpdate, 3, 10));
  await client.next(({ type, stream }) => type === frame.data && stream === 3);
  t.mock.timers.tick(150_000);
  assert.equal((await client.next(({ type }) => type === frame.rstStream)).stream, 1);
  client.send(numbersFrame(frame.windowUpdate, 3, 990), numbersFrame(frame.windowUpdate, 5, 1000));
  await client.next(
    ({ type, stream, flags }) => type === frame.data && stream === 3 && (flags & flag.endStream) !== 0,
  );
  await client.next(({ type, stream }) => type === frame.data && stream === 5);
});

test("large bodies are transferred both ways through small windows", async (t) => {
  const port = await serve(t, async (stream) => {
    const body = await stream.body(8 * 1024 * 1024);
    stream.respond(200, {}, [body, body], true);
  });
  const session = connect(`http://127.0.0.1:${port}`, { settings: { initialWindowSize: 1000 } });
  t.after(() => session.destroy());
  const body = Buffer.alloc(1_500_000).map((_, at) => at % 251);
  const stream = session.request({ ":method": "POST" });
  stream.end(body);
  assert.ok(Buffer.concat(await Array.fromAsync(stream)).equals(Buffer.concat([body, body])));
});

test("100 Continue is sent to a client that waits, unless the body is not read", async (t) => {
  const port = await serve(t, async (stream) => {
    if (stream.head.target === "/wanted") await stream.body(100);
    await answerWith("well")(stream);
  });
  const session = connect(`http://127.0.0.1:${port}`);
  t.after(() => session.destroy());
  for (const [path, isRequested] of [
    ["/wanted", true],
    ["/unwanted", false],
  ] as const) {
    let isReceived = false;
    const stream = session.request({ ":method": "POST", ":path": path, expect: "100-continue" });
    stream.once("continue", () => {
      isReceived = true;
      stream.end("body");
    });
    assert.equal(Buffer.concat(await Array.fromAsync(stream)).toString(), "well");
    assert.equal(isReceived, isRequested);
  }
});

test("long responses to many streams are complete", async (t) => {
  const port = await serve(t, async (stream) =>
    stream.respond(
      200,
      {},
      Array.from({ length: 3000 }, (_, at) => Buffer.from(`${stream.head.target} ${at}\n`.repeat(20))),
      true,
    ),
  );
  const session = connect(`http://127.0.0.1:${port}`);
  t.after(() => session.destroy());
  const answers = await Promise.all(
    Array.from({ length: 8 }, async (_, number) => {
      const stream = session.request({ ":path": `/${number}` });
      return Buffer.concat(await Array.fromAsync(stream)).toString();
    }),
  );
  answers.forEach((answer, number) =>
    assert.equal(answer, Array.from({ length: 3000 }, (_, at) => `/${number} ${at}\n`.repeat(20)).join("")),
  );
});

const timeouts: [name: string, sent: Buffer[]][] = [
  ["sends nothing", []],
  ["stops before its settings", [preface]],
  ["stops in the middle of its headers", [hello, headers(1, getBlock, 0)]],
];
for (const [name, sent] of timeouts) {
  test(`a client that ${name} is disconnected`, async (t) => {
    const port = await serve(t, answerWith("well"), { headersTimeoutMilliseconds: 20 });
    const client = await rawClient(t, port);
    client.send(...sent);
    await once(client.socket, "close");
  });
}

test("an idle connection is closed with GOAWAY", async (t) => {
  const port = await serve(t, answerWith("well"), { idleTimeoutMilliseconds: 20 });
  const session = connect(`http://127.0.0.1:${port}`);
  const away = once(session, "goaway");
  await once(session, "close");
  assert.equal((await away)[0], 0);
});

test("an idle client that does not answer is disconnected, too", async (t) => {
  const port = await serve(t, answerWith("well"), {
    idleTimeoutMilliseconds: 20,
    headersTimeoutMilliseconds: 40,
  });
  const client = await rawClient(t, port);
  client.send(hello, get(1).subarray(0, 10));
  await once(client.socket, "close");
});

test("headers above the limit are passed to the handler, marked as too large", async (t) => {
  const seen = Promise.withResolvers<boolean>();
  const port = await serve(t, async (stream) => seen.resolve(stream.head.tooLarge));
  const client = await rawClient(t, port);
  const long = Buffer.concat([getBlock, ...Array.from({ length: 40 }, () => literal("x", "y".repeat(100)))]);
  client.send(hello, headers(1, long));
  assert.equal(await seen.promise, true);
});

for (const atOnce of [false, true])
  test(`a client that is sent away${atOnce ? " at once" : ""} ${atOnce ? "gets no" : "still gets an"} answer to what it sends then`, async (t) => {
    const served: number[] = [];
    const both = Promise.withResolvers<void>();
    const port = await serve(t, async (stream) => {
      if (served.push(stream.id) === 2) both.resolve();
      stream.goAway(atOnce);
      // The first request is answered after the second has arrived, or has had time to.
      await (atOnce ? new Promise((resolve) => setTimeout(resolve, 30)) : both.promise);
      await answerWith("well")(stream);
    });
    const client = await rawClient(t, port);
    client.send(hello, get(1));
    await client.next(({ type }) => type === frame.goAway);
    client.send(get(3));
    await client.next(({ type, stream }) => type === frame.data && stream === (atOnce ? 1 : 3));
    assert.deepEqual(served, atOnce ? [1] : [1, 3]);
  });

test("a body that arrives after the response is incomplete, not empty", async (t) => {
  const read = Promise.withResolvers<Uint8Array>();
  const port = await serve(t, async (stream) => {
    read.resolve(stream.body(1000));
    await answerWith("early")(stream);
  });
  const client = await rawClient(t, port);
  client.send(hello, post(1));
  await client.next(
    ({ type, stream, flags }) => type === frame.data && stream === 1 && flags === flag.endStream,
  );
  client.send(made(frame.data, flag.endStream, 1, some(100)));
  await assert.rejects(read.promise, IncompleteBody);
});
