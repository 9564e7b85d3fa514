import assert from "node:assert/strict";
import { once } from "node:events";
import { connect } from "node:http2";
import { test } from "node:test";
import fc from "fast-check";
import { BodyTooLarge } from "../call.ts";
import { errorCode, flag, frame, maxWindow, numbersFrame, setting, settingsFrame } from "./frames.ts";
import {
  answerWith,
  get,
  getBlock,
  hello,
  made,
  post,
  postBlock,
  preface,
  rawClient,
  serve,
} from "./raw-client.fixture.ts";
import type { Stream } from "./stream.ts";

const literal = (name: string, value: string): Buffer =>
  Buffer.concat([
    Buffer.from([0, name.length]),
    Buffer.from(name),
    Buffer.from([value.length]),
    Buffer.from(value),
  ]);
const headers = (stream: number, block: Buffer, flags: number = flag.endHeaders | flag.endStream): Buffer =>
  made(frame.headers, flags, stream, block);
const some = (bytes: number): Buffer => Buffer.alloc(bytes, "x");

const connectionErrors: [name: string, sent: Buffer[], code: number][] = [
  [
    "a beginning that is not HTTP/2",
    [Buffer.from("GET / HTTP/1.1\r\nHost: somewhere\r\n\r\n")],
    errorCode.protocol,
  ],
  ["a first frame that is not SETTINGS", [preface, made(frame.ping, 0, 0, some(8))], errorCode.protocol],
  ["a frame that is too large", [hello, made(frame.data, 0, 1, some(16_385))], errorCode.frameSize],
  ["an even stream", [hello, get(2)], errorCode.protocol],
  ["HEADERS on no stream", [hello, get(0)], errorCode.protocol],
  ["a stream lower than one opened before", [hello, get(3), get(1)], errorCode.protocol],
  [
    "a header block interrupted by another frame",
    [hello, headers(1, getBlock, flag.endStream), made(frame.ping, 0, 0, some(8))],
    errorCode.protocol,
  ],
  [
    "a header block continued on another stream",
    [hello, headers(1, getBlock, flag.endStream), made(frame.continuation, flag.endHeaders, 3)],
    errorCode.protocol,
  ],
  [
    "CONTINUATION of nothing",
    [hello, made(frame.continuation, flag.endHeaders, 1, getBlock)],
    errorCode.protocol,
  ],
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
    "a stream that depends on itself",
    [
      hello,
      headers(1, Buffer.concat([Buffer.from([0, 0, 0, 1, 0]), getBlock]), flag.endHeaders | flag.priority),
    ],
    errorCode.protocol,
  ],
  [
    "HEADERS too short for its priority",
    [hello, headers(1, some(4), flag.endHeaders | flag.priority)],
    errorCode.frameSize,
  ],
  [
    "more padding than payload",
    [hello, headers(1, Buffer.from([9, 0x82]), flag.endHeaders | flag.padded)],
    errorCode.protocol,
  ],
  ["a header field nobody knows", [hello, headers(1, Buffer.from([0xff, 0x20]))], errorCode.compression],
  ["a header field cut off", [hello, headers(1, Buffer.from([0x00, 0x05, 0x61]))], errorCode.compression],
  [
    "a text that is no Huffman code",
    [hello, headers(1, Buffer.from([0x00, 0x84, 0xff, 0xff, 0xff, 0xff, 0x00]))],
    errorCode.compression,
  ],
  [
    "a header table larger than offered",
    [hello, headers(1, Buffer.from([0x3f, 0xe2, 0x1f]))],
    errorCode.compression,
  ],
  [
    "trailers that do not end the request",
    [hello, post(1), headers(1, literal("a", "b"), flag.endHeaders)],
    errorCode.protocol,
  ],
  ["DATA on no stream", [hello, made(frame.data, 0, 0, some(1))], errorCode.protocol],
  ["DATA on a stream that is not open", [hello, made(frame.data, 0, 1, some(1))], errorCode.protocol],
  ["WINDOW_UPDATE by nothing", [hello, numbersFrame(frame.windowUpdate, 0, 0)], errorCode.protocol],
  ["WINDOW_UPDATE of another size", [hello, made(frame.windowUpdate, 0, 0, some(3))], errorCode.frameSize],
  [
    "WINDOW_UPDATE beyond all limits",
    [hello, numbersFrame(frame.windowUpdate, 0, maxWindow)],
    errorCode.flowControl,
  ],
  [
    "WINDOW_UPDATE on a stream that is not open",
    [hello, numbersFrame(frame.windowUpdate, 1, 5)],
    errorCode.protocol,
  ],
  [
    "RST_STREAM on a stream that is not open",
    [hello, numbersFrame(frame.rstStream, 1, 8)],
    errorCode.protocol,
  ],
  ["RST_STREAM of another size", [hello, post(1), made(frame.rstStream, 0, 1, some(5))], errorCode.frameSize],
  ["SETTINGS on a stream", [hello, made(frame.settings, 0, 1)], errorCode.protocol],
  ["SETTINGS cut off", [hello, made(frame.settings, 0, 0, some(5))], errorCode.frameSize],
  [
    "an acknowledgement that says something",
    [hello, made(frame.settings, flag.ack, 0, some(6))],
    errorCode.frameSize,
  ],
  ["ENABLE_PUSH of 2", [hello, settingsFrame({ [setting.enablePush]: 2 })], errorCode.protocol],
  ["frames smaller than allowed", [hello, settingsFrame({ [setting.maxFrame]: 100 })], errorCode.protocol],
  [
    "an initial window beyond all limits",
    [hello, settingsFrame({ [setting.initialWindow]: 0x8000_0000 })],
    errorCode.flowControl,
  ],
  ["PING on a stream", [hello, made(frame.ping, 0, 1, some(8))], errorCode.protocol],
  ["PING of another size", [hello, made(frame.ping, 0, 0, some(7))], errorCode.frameSize],
  ["PRIORITY on no stream", [hello, made(frame.priority, 0, 0, some(5))], errorCode.protocol],
  ["GOAWAY on a stream", [hello, made(frame.goAway, 0, 1, some(8))], errorCode.protocol],
  ["a client that pushes", [hello, made(frame.pushPromise, flag.endHeaders, 1, some(8))], errorCode.protocol],
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
for (const [name, sent, code] of connectionErrors) {
  test(`${name}: the connection ends and says why`, async (t) => {
    const port = await serve(t, async (stream) => void stream.body(1).catch(() => undefined));
    const client = await rawClient(t, port);
    client.send(...sent);
    assert.equal(await client.refused(), code);
  });
}

const streamErrors: [name: string, sent: Buffer[], code: number][] = [
  ["no path", [headers(1, Buffer.from([0x82, 0x87]))], errorCode.protocol],
  ["two methods", [headers(1, Buffer.concat([getBlock, Buffer.from([0x83])]))], errorCode.protocol],
  [
    "a pseudo header after a header",
    [headers(1, Buffer.concat([Buffer.from([0x82, 0x87]), literal("a", "b"), Buffer.from([0x84])]))],
    errorCode.protocol,
  ],
  [
    "a pseudo header of answers",
    [headers(1, Buffer.concat([getBlock, Buffer.from([0x88])]))],
    errorCode.protocol,
  ],
  ["a name in capitals", [headers(1, Buffer.concat([getBlock, literal("Accept", "x")]))], errorCode.protocol],
  [
    "a line break in a value",
    [headers(1, Buffer.concat([getBlock, literal("accept", "x\r\ny: z")]))],
    errorCode.protocol,
  ],
  [
    "a header of HTTP/1.1 connections",
    [headers(1, Buffer.concat([getBlock, literal("connection", "close")]))],
    errorCode.protocol,
  ],
  [
    "a length that is no length",
    [headers(1, Buffer.concat([postBlock, literal("content-length", "-1")]))],
    errorCode.protocol,
  ],
  [
    "less than announced",
    [headers(1, Buffer.concat([postBlock, literal("content-length", "2")]))],
    errorCode.protocol,
  ],
  [
    "more than announced",
    [
      headers(1, Buffer.concat([postBlock, literal("content-length", "2")]), flag.endHeaders),
      made(frame.data, 0, 1, some(3)),
    ],
    errorCode.protocol,
  ],
  ["DATA after the end", [get(1), made(frame.data, 0, 1, some(1))], errorCode.streamClosed],
  [
    "WINDOW_UPDATE by nothing on a stream",
    [get(1), numbersFrame(frame.windowUpdate, 1, 0)],
    errorCode.protocol,
  ],
  [
    "a stream's window beyond all limits",
    [get(1), numbersFrame(frame.windowUpdate, 1, maxWindow)],
    errorCode.flowControl,
  ],
  ["PRIORITY of another size", [get(1), made(frame.priority, 0, 1, some(4))], errorCode.frameSize],
  ["pseudo headers in trailers", [post(1), headers(1, getBlock)], errorCode.protocol],
  [":scheme in trailers", [post(1), headers(1, literal(":scheme", "https"))], errorCode.protocol],
  ["capitals in trailers", [post(1), headers(1, literal("Trailer", "x"))], errorCode.protocol],
  [
    "two authorities",
    [headers(1, Buffer.concat([getBlock, literal(":authority", "a"), literal(":authority", "a")]))],
    errorCode.protocol,
  ],
  [
    "a value that starts with a space",
    [headers(1, Buffer.concat([getBlock, literal("a", " b")]))],
    errorCode.protocol,
  ],
  [
    "a path without a slash",
    [headers(1, Buffer.concat([Buffer.from([0x82, 0x87]), literal(":path", "api")]))],
    errorCode.protocol,
  ],
];
for (const [name, sent, code] of streamErrors) {
  test(`${name}: the stream ends and the connection lives on`, async (t) => {
    // Stream 1 is never answered, so that whatever ends it is the errorCode.
    const port = await serve(t, async (stream) => {
      stream.body(1000).catch(() => undefined);
      if (stream.id > 1) await answerWith("well")(stream);
    });
    const client = await rawClient(t, port);
    client.send(hello, ...sent, get(3));
    const { payload } = await client.next(({ type, stream }) => type === frame.rstStream && stream === 1);
    assert.equal(payload.readUInt32BE(0), code);
    assert.equal(
      (await client.next(({ type, stream }) => type === frame.data && stream === 3)).payload.toString(),
      "well",
    );
  });
}

test("frames that nobody knows, padding, priorities and trailers are taken", async (t) => {
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

test("however the bytes are cut, the same requests come out of them", async (t) => {
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
  test(`DATA on a stream ${name} is a stream error, and other streams go on`, async (t) => {
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
    { onProblem: (error) => problems.push(error.message) },
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

test("more streams than allowed are refused one by one, and fit again later", async (t) => {
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

test("a client that abandons its requests as fast as it makes them is sent away", async (t) => {
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

test("a request that is taken back before its turn is not served", async (t) => {
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

test("what is left of a request after its answer is passed over, its trailers too", async (t) => {
  const port = await serve(t, answerWith("early"));
  const client = await rawClient(t, port);
  client.send(hello, post(1));
  await client.next(
    ({ type, stream, flags }) => type === frame.data && stream === 1 && flags === flag.endStream,
  );
  client.send(made(frame.data, 0, 1, some(100)), headers(1, literal("trailer", "x")), get(3));
  await client.next(({ type, stream }) => type === frame.data && stream === 3);
});

test("a client that has its answer and goes on and on is told to stop", async (t) => {
  const port = await serve(t, answerWith("early"));
  const client = await rawClient(t, port);
  const update = (): Promise<unknown> =>
    client.next(
      ({ type, stream }) => type === frame.rstStream || (type === frame.windowUpdate && stream === 1),
    );
  client.send(hello, post(1));
  for (let sent = 0; sent < 65; sent++) {
    client.send(...Array.from({ length: 16 }, () => made(frame.data, 0, 1, some(16_384))));
    const { type, payload } = (await update()) as { type: number; payload: Buffer };
    if (type !== frame.rstStream) continue;
    assert.equal(payload.readUInt32BE(0), errorCode.none);
    // What was under way then is passed over.
    client.send(made(frame.data, 0, 1, some(100)), headers(1, literal("trailer", "x")), get(3));
    await client.next(({ type: next, stream }) => next === frame.data && stream === 3);
    return;
  }
  assert.fail("nobody said stop");
});

test("a client that sends more than there is room for loses the stream", async (t) => {
  const port = await serve(t, async () => undefined);
  const client = await rawClient(t, port);
  client.send(hello, post(1), ...Array.from({ length: 65 }, () => made(frame.data, 0, 1, some(16_384))));
  const { payload } = await client.next(({ type }) => type === frame.rstStream);
  assert.equal(payload.readUInt32BE(0), errorCode.flowControl);
});

test("a body beyond the limit is refused at once, and the rest of it is let through before the answer comes", async (t) => {
  const seen = Promise.withResolvers<Stream>();
  const port = await serve(t, async (stream) => {
    await assert.rejects(stream.body(10), BodyTooLarge);
    seen.resolve(stream);
  });
  const client = await rawClient(t, port);
  client.send(hello, post(1), made(frame.data, 0, 1, some(11)));
  const stream = await seen.promise;
  // More than there is room for, unless somebody takes it.
  for (let sent = 0; sent < 3; sent++) {
    client.send(...Array.from({ length: 48 }, () => made(frame.data, 0, 1, some(16_384))));
    const { type } = await client.next(
      (one) => one.stream === 1 && (one.type === frame.rstStream || one.type === frame.windowUpdate),
    );
    assert.equal(type, frame.windowUpdate);
  }
  stream.respond(413, {}, [], true);
  await client.next((one) => one.type === frame.headers && one.stream === 1);
});

test("an answer waits for room, and one that waits does not hold up others", async (t) => {
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

test("an answer that nobody reads is given up; one that is read slowly, and a stream that goes on, are not", async (t) => {
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

test("large bodies pass both ways through small windows", async (t) => {
  const port = await serve(t, async (stream) => {
    const body = await stream.body(8 * 1024 * 1024);
    stream.respond(200, {}, [body, body], true);
  });
  const session = connect(`http://127.0.0.1:${port}`, { settings: { initialWindowSize: 1000 } });
  t.after(() => session.destroy());
  const body = Buffer.from(Array.from({ length: 5_000_000 }, (_, at) => at % 251));
  const stream = session.request({ ":method": "POST" });
  stream.end(body);
  assert.ok(Buffer.concat(await Array.fromAsync(stream)).equals(Buffer.concat([body, body])));
});

test("a client that waits with its body is asked for it, unless nobody wants it", async (t) => {
  const port = await serve(t, async (stream) => {
    if (stream.head.target === "/wanted") await stream.body(100);
    await answerWith("well")(stream);
  });
  const session = connect(`http://127.0.0.1:${port}`);
  t.after(() => session.destroy());
  for (const [path, asked] of [
    ["/wanted", true],
    ["/unwanted", false],
  ] as const) {
    let heard = false;
    const stream = session.request({ ":method": "POST", ":path": path, expect: "100-continue" });
    stream.once("continue", () => {
      heard = true;
      stream.end("body");
    });
    assert.equal(Buffer.concat(await Array.fromAsync(stream)).toString(), "well");
    assert.equal(heard, asked);
  }
});

test("long answers to many streams arrive whole", async (t) => {
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
  ["begins with nothing", []],
  ["stops before its settings", [preface]],
  ["stops in the middle of its headers", [hello, headers(1, getBlock, 0)]],
];
for (const [name, sent] of timeouts) {
  test(`a client that ${name} is sent away`, async (t) => {
    const port = await serve(t, answerWith("well"), { headersTimeoutMilliseconds: 20 });
    const client = await rawClient(t, port);
    client.send(...sent);
    await once(client.socket, "close");
  });
}

test("a connection that nobody uses is closed politely", async (t) => {
  const port = await serve(t, answerWith("well"), { idleTimeoutMilliseconds: 20 });
  const session = connect(`http://127.0.0.1:${port}`);
  const away = once(session, "goaway");
  await once(session, "close");
  assert.equal((await away)[0], 0);
});

test("a client that uses nothing and answers nothing is closed all the same", async (t) => {
  const port = await serve(t, answerWith("well"), {
    idleTimeoutMilliseconds: 20,
    headersTimeoutMilliseconds: 40,
  });
  const client = await rawClient(t, port);
  client.send(hello, get(1).subarray(0, 10));
  await once(client.socket, "close");
});

test("headers that are too large get an answer's chance: the stream is served and says so", async (t) => {
  const seen = Promise.withResolvers<boolean>();
  const port = await serve(t, async (stream) => seen.resolve(stream.head.tooLarge));
  const client = await rawClient(t, port);
  const long = Buffer.concat([getBlock, ...Array.from({ length: 40 }, () => literal("x", "y".repeat(100)))]);
  client.send(hello, headers(1, long));
  assert.equal(await seen.promise, true);
});

const anyFrame = fc
  .record({
    type: fc.integer({ min: 0, max: 10 }),
    flags: fc.nat(255),
    stream: fc.oneof(fc.constant(0), fc.nat(9)),
    payload: fc.oneof(fc.uint8Array({ maxLength: 60 }), fc.constant(getBlock)),
  })
  .map(({ type, flags, stream, payload }) => made(type, flags, stream, payload));

test("whatever comes, the server makes no mistake and answers the next client", async (t) => {
  const problems: Error[] = [];
  const serveAll = async (stream: Stream): Promise<void> => {
    await stream.body(100).catch(() => undefined);
    await answerWith("well")(stream);
  };
  const port = await serve(t, serveAll, { onProblem: (error) => problems.push(error) });
  const rounds = fc.sample(fc.array(anyFrame, { minLength: 1, maxLength: 20 }), { numRuns: 300, seed: 7 });
  for (const frames of rounds) {
    const client = await rawClient(t, port);
    client.send(hello, ...frames);
    client.socket.end();
    if (!client.socket.destroyed) await once(client.socket, "close");
  }
  assert.deepEqual(problems, []);
  const client = await rawClient(t, port);
  client.send(hello, get(1));
  await client.next(({ type }) => type === frame.data);
});
