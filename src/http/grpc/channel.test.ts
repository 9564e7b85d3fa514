import { type TestContext, test } from "node:test";
import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { type AddressInfo, type Socket, connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { constants } from "node:http2";
import { virtualClock } from "#base";
import { type GrpcChannel, type GrpcChannelOptions, type GrpcMethod, grpcChannel } from "./channel.ts";
import { GrpcError } from "./status.ts";
import {
  type ScriptedServer,
  type ScriptedCall,
  type ScriptedServerOptions,
  scriptedServer,
} from "./scripted-server.fixture.ts";

const method = (name: string): GrpcMethod<string, string> => ({
  path: `/test.Service/${name}`,
  encode: (text) => Buffer.from(text),
  decode: (bytes) => Buffer.from(bytes).toString(),
});
const echo = method("Echo");

async function server(
  t: TestContext,
  answer: (call: ScriptedCall) => void | Promise<void>,
  options?: ScriptedServerOptions,
): Promise<ScriptedServer> {
  const made = await scriptedServer(answer, options);
  t.after(() => made.close());
  return made;
}
function channel(t: TestContext, options: GrpcChannelOptions): GrpcChannel {
  const made = grpcChannel(options);
  t.after(() => made.close());
  return made;
}
const answerEcho = async (call: ScriptedCall): Promise<void> => {
  for await (const text of call.messages) call.send(`echo ${text}`);
  call.finish();
};
const turns = async (count = 20): Promise<void> => {
  for (let at = 0; at < count; at++) await new Promise((resolve) => setImmediate(resolve));
};
const until = async (what: () => boolean): Promise<void> => {
  while (!what()) await new Promise((resolve) => setImmediate(resolve));
};
const failsWith =
  (code: string, words = "") =>
  (error: unknown) =>
    error instanceof GrpcError && error.code === code && error.message.includes(words);

test("calls share one connection", async (t) => {
  const { url, sessions } = await server(t, answerEcho);
  const { unary } = channel(t, { endpoints: [url] });
  const answers = await Promise.all(Array.from({ length: 50 }, (_, at) => unary(echo, `${at}`)));
  assert.deepEqual(
    answers,
    Array.from({ length: 50 }, (_, at) => `echo ${at}`),
  );
  assert.equal(sessions.length, 1);
});

test("a call goes over a unix socket, with its metadata and timeout", async (t) => {
  const dir = await mkdtemp(join(tmpdir(), "grpc-"));
  t.after(() => rm(dir, { recursive: true }));
  const { url, calls } = await server(t, answerEcho, { listen: { path: join(dir, "socket") } });
  assert.equal(
    await channel(t, { endpoints: [url] }).unary(echo, "x", {
      metadata: { hasleader: "true" },
      deadlineMilliseconds: 30_000,
    }),
    "echo x",
  );
  const { headers } = calls[0]!;
  assert.deepEqual(
    [headers[":path"], headers["te"], headers["content-type"], headers["hasleader"]],
    ["/test.Service/Echo", "trailers", "application/grpc", "true"],
  );
  assert.match(headers["grpc-timeout"]!, /^\d{5}m$/);
});

test("a status without a message is an error with the server's detail", async (t) => {
  const { url } = await server(t, (call) => call.finish(11, "no such r%C3%A9vision"));
  await assert.rejects(
    channel(t, { endpoints: [url] }).unary(echo, "x"),
    failsWith("OUT_OF_RANGE", "no such révision"),
  );
});

test("a status after a message is an error too", async (t) => {
  const { url } = await server(t, (call) => {
    call.send("half");
    call.finish(13, "broken");
  });
  await assert.rejects(channel(t, { endpoints: [url] }).unary(echo, "x"), failsWith("INTERNAL", "broken"));
});

const badAnswers: [name: string, answer: (call: ScriptedCall) => void, code: string][] = [
  [
    "no message",
    ({ stream }) => (
      stream.respond({ ":status": 200, "content-type": "application/grpc", "grpc-status": "0" }),
      stream.end()
    ),
    "INTERNAL",
  ],
  ["two messages", (call) => (call.send("1"), call.send("2"), call.finish()), "INTERNAL"],
  [
    "a plain HTTP error",
    ({ stream }) => (stream.respond({ ":status": 503 }), stream.end("down")),
    "UNAVAILABLE",
  ],
  [
    "a web page",
    ({ stream }) => (stream.respond({ ":status": 200, "content-type": "text/html" }), stream.end("<p>")),
    "UNKNOWN",
  ],
  ["a reset", ({ stream }) => stream.close(constants.NGHTTP2_INTERNAL_ERROR), "INTERNAL"],
  [
    "a truncated message",
    ({ stream }) => (
      stream.respond({ ":status": 200, "content-type": "application/grpc", "grpc-status": "0" }),
      stream.end(Buffer.from([0, 0, 0, 0, 9, 1]))
    ),
    "INTERNAL",
  ],
];
for (const [name, answer, code] of badAnswers) {
  test(`an answer with ${name} fails as ${code}`, async (t) => {
    const { url } = await server(t, answer);
    await assert.rejects(channel(t, { endpoints: [url] }).unary(echo, "x"), failsWith(code));
  });
}

test("a message above the limit is rejected and the connection is kept", async (t) => {
  const { url, sessions } = await server(t, answerEcho);
  const made = channel(t, { endpoints: [url], maxMessageBytes: 1000 });
  await assert.rejects(
    made.unary(echo, "x".repeat(2000)),
    failsWith("RESOURCE_EXHAUSTED", "(2005 vs. 1000)"),
  );
  assert.equal(await made.unary(echo, "y"), "echo y");
  assert.equal(sessions.length, 1);
});

test("a long message is received", async (t) => {
  const { url } = await server(t, answerEcho);
  const long = "z".repeat(9 << 20);
  assert.equal(await channel(t, { endpoints: [url] }).unary(echo, long), `echo ${long}`);
});

test("a deadline ends the call here and at the server", async (t) => {
  const clock = virtualClock();
  const { url, calls } = await server(t, () => {});
  const answer = channel(t, { endpoints: [url], clock }).unary(echo, "x", { deadlineMilliseconds: 500 });
  await until(() => calls.length === 1);
  const gone = new Promise((resolve) => calls[0]!.stream.once("close", resolve));
  const refused = assert.rejects(answer, failsWith("DEADLINE_EXCEEDED"));
  await clock.advance(500);
  await refused;
  await gone;
  assert.equal(calls[0]!.stream.rstCode, constants.NGHTTP2_CANCEL);
});

test("an aborted call ends here and at the server, an aborted signal sends nothing", async (t) => {
  const { url, calls } = await server(t, () => {});
  const { unary } = channel(t, { endpoints: [url] });
  const stop = new AbortController();
  const answer = unary(echo, "x", { signal: stop.signal });
  await until(() => calls.length === 1);
  stop.abort(new Error("enough"));
  await assert.rejects(
    answer,
    (error: GrpcError) => error.code === "CANCELLED" && (error.cause as Error).message === "enough",
  );
  await until(() => calls[0]!.stream.closed);
  await assert.rejects(unary(echo, "y", { signal: stop.signal }), failsWith("CANCELLED"));
  assert.equal(calls.length, 1);
});

test("a server stream delivers every message and then its status", async (t) => {
  const { url } = await server(t, (call) => {
    for (let at = 0; at < 1000; at++) call.send(`${at}`);
    call.finish(5, "over");
  });
  const seen: string[] = [];
  await assert.rejects(
    async () => {
      for await (const text of channel(t, { endpoints: [url] }).serverStream(echo, "go")) seen.push(text);
    },
    failsWith("NOT_FOUND", "over"),
  );
  assert.deepEqual(
    seen,
    Array.from({ length: 1000 }, (_, at) => `${at}`),
  );
});

test("a slow reader slows the sender down", async (t) => {
  const block = "b".repeat(1 << 20);
  let sent = 0;
  const { url } = await server(t, async (call) => {
    for (; sent < 64 && !call.stream.destroyed; sent++)
      if (!call.send(block)) await new Promise((resolve) => call.stream.once("drain", resolve));
    call.finish();
  });
  const reading = channel(t, { endpoints: [url] })
    .serverStream(echo, "go")
    [Symbol.asyncIterator]();
  await reading.next();
  let before = -1;
  while (before !== sent) {
    before = sent;
    await turns(200);
  }
  assert.ok(sent < 40, `${sent} of 64 blocks left the server`);
  let received = 1;
  for (; !(await reading.next()).done; received++);
  assert.equal(received, 64);
});

test("leaving the iteration cancels the call", async (t) => {
  const { url, calls } = await server(t, (call) => void call.send("first"));
  for await (const text of channel(t, { endpoints: [url] }).serverStream(echo, "go")) {
    assert.equal(text, "first");
    break;
  }
  await until(() => calls[0]!.stream.closed);
  assert.equal(calls[0]!.stream.rstCode, constants.NGHTTP2_CANCEL);
});

test("a duplex stream sends and receives in turn", async (t) => {
  const { url } = await server(t, answerEcho);
  const stream = await channel(t, { endpoints: [url] }).duplex(echo);
  assert.equal(stream.endpoint, url);
  const answers: string[] = [];
  await stream.send("1");
  for await (const text of stream) {
    answers.push(text);
    if (answers.length === 3) stream.end();
    else await stream.send(`${answers.length + 1}`);
  }
  assert.deepEqual(answers, ["echo 1", "echo 2", "echo 3"]);
});

test("the second endpoint is used if the first is unreachable", async (t) => {
  const gone = await scriptedServer(answerEcho);
  await gone.close();
  const { url } = await server(t, answerEcho);
  assert.equal(await channel(t, { endpoints: [gone.url, url] }).unary(echo, "x"), "echo x");
});

test("the second endpoint is used if the first accepts connections but does not respond", async (t) => {
  const clock = virtualClock();
  const sockets: Socket[] = [];
  const silent = createServer((socket) => void sockets.push(socket.on("error", () => {})));
  await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve));
  t.after(() => (sockets.forEach((socket) => socket.destroy()), silent.close()));
  const { url } = await server(t, answerEcho);
  const answer = channel(t, {
    endpoints: [`http://127.0.0.1:${(silent.address() as AddressInfo).port}`, url],
    clock,
    connectMilliseconds: 2000,
  }).unary(echo, "x");
  await until(() => sockets.length === 1);
  await turns();
  await clock.advance(2000);
  assert.equal(await answer, "echo x");
});

test("a call lost with its connection is retried only if it is repeatable", async (t) => {
  const first = await server(t, (call) => call.stream.session!.destroy());
  const second = await server(t, answerEcho);
  await assert.rejects(
    channel(t, { endpoints: [first.url, second.url] }).unary(echo, "x"),
    (error: GrpcError) => error.code === "UNAVAILABLE" && !error.unprocessed && error.endpoint === first.url,
  );
  assert.equal(second.calls.length, 0);
  assert.equal(
    await channel(t, { endpoints: [first.url, second.url] }).unary(echo, "x", { repeatable: true }),
    "echo x",
  );
});

test("an endpoint that responds UNAVAILABLE is replaced by the next one", async (t) => {
  const first = await server(t, (call) => call.finish(14, "no leader"));
  const second = await server(t, answerEcho);
  const made = channel(t, { endpoints: [first.url, second.url] });
  await assert.rejects(made.unary(echo, "x"), failsWith("UNAVAILABLE", "no leader"));
  assert.equal(await made.unary(echo, "y"), "echo y");
  await assert.rejects(made.unary(echo, "z", { endpoint: first.url }), failsWith("UNAVAILABLE", "no leader"));
  assert.equal(await made.unary(echo, "y"), "echo y");
});

test("a refused stream is retried automatically", async (t) => {
  let refused = 0;
  const { url } = await server(t, (call) => {
    if (refused++ === 0) return call.stream.close(constants.NGHTTP2_REFUSED_STREAM);
    return answerEcho(call);
  });
  assert.equal(await channel(t, { endpoints: [url] }).unary(echo, "x"), "echo x");
  assert.equal(refused, 2);
});

test("after GOAWAY active calls finish and new ones use a new connection", async (t) => {
  const held: ScriptedCall[] = [];
  const { url, sessions } = await server(t, (call) =>
    call.headers["hold"] ? void held.push(call) : answerEcho(call),
  );
  const { unary } = channel(t, { endpoints: [url] });
  const slow = unary(echo, "slow", { metadata: { hold: "1" } });
  await until(() => held.length === 1);
  sessions[0]!.goaway(constants.NGHTTP2_NO_ERROR, held[0]!.stream.id);
  let answer = "";
  for (let at = 0; sessions.length < 2; at++) answer = await unary(echo, `${at}`);
  assert.match(answer, /^echo \d+$/);
  await answerEcho(held[0]!);
  assert.equal(await slow, "echo slow");
});

test("a restarted server is reconnected", async (t) => {
  const before = await scriptedServer(answerEcho);
  const clock = virtualClock();
  const made = channel(t, { endpoints: [before.url], clock });
  assert.equal(await made.unary(echo, "1"), "echo 1");
  await before.close();
  // Until the client notices the closed connection, calls may still fail on it.
  for (let reported = ""; !reported.includes("ECONNREFUSED");)
    reported = await made.unary(echo, "2").then(assert.fail, (error: Error) => error.message);
  const again = await server(t, answerEcho, { listen: { port: before.port } });
  // During the backoff no endpoint is tried.
  await assert.rejects(made.unary(echo, "3"), failsWith("UNAVAILABLE", "no endpoint can be reached"));
  assert.equal(again.sessions.length, 0);
  const patient = made.unary(echo, "4", { waitForReady: true });
  await turns();
  await clock.advance(1000);
  assert.equal(await patient, "echo 4");
});

test("the backoff between attempts grows to its maximum", async (t) => {
  const gone = await scriptedServer(answerEcho);
  await gone.close();
  const clock = virtualClock();
  const made = channel(t, {
    endpoints: [gone.url],
    clock,
    backOff: { firstMilliseconds: 100, maxMilliseconds: 1000 },
  });
  const pauses: number[] = [];
  let since = 0;
  for (let tick = 0; pauses.length < 9; tick += 20) {
    await clock.advance(20);
    const error = await made.unary(echo, "x").then(
      () => undefined,
      (failure: GrpcError) => failure,
    );
    if (!error!.detail.startsWith("cannot connect")) continue;
    pauses.push(tick - since);
    since = tick;
  }
  assert.ok(
    pauses[1]! <= 140 && pauses[8]! >= 800 && Math.max(...pauses) <= 1240,
    `pauses were ${pauses.join(", ")}`,
  );
});

test("the backoff ends in time although the machine's clock is set back", async (t) => {
  const gone = await scriptedServer(answerEcho);
  await gone.close();
  const clock = virtualClock(1e12);
  const made = channel(t, {
    endpoints: [gone.url],
    clock,
    backOff: { firstMilliseconds: 100, maxMilliseconds: 1000 },
  });
  const attempt = (): Promise<string> =>
    made.unary(echo, "x").then(
      () => "",
      (failure: GrpcError) => failure.detail,
    );
  assert.match(await attempt(), /^cannot connect/);
  clock.set(clock.now() - 3_600_000);
  await clock.advance(200);
  assert.match(await attempt(), /^cannot connect/);
});

/** A connection to a port that can be interrupted so that both ends stay open and receive nothing. */
async function cuttable(t: TestContext, port: number): Promise<{ readonly url: string; cut(): void }> {
  const sockets: Socket[] = [];
  const wire = createServer((socket) => {
    const onward = connect(port, "127.0.0.1");
    sockets.push(
      socket.on("error", () => {}),
      onward.on("error", () => {}),
    );
    socket.pipe(onward).pipe(socket);
  });
  await new Promise<void>((resolve) => wire.listen(0, "127.0.0.1", resolve));
  t.after(() => (sockets.forEach((socket) => socket.destroy()), wire.close()));
  return {
    url: `http://127.0.0.1:${(wire.address() as AddressInfo).port}`,
    cut: () => sockets.forEach((socket) => void socket.unpipe().pause()),
  };
}

test("the session of a silent server is closed during a call", async (t) => {
  const clock = virtualClock();
  // A message sent after the ping reveals when the ping was answered.
  const { port } = await server(t, (call) => {
    call.send("first");
    call.stream.session!.on("ping", () => call.send("alive"));
  });
  const { url, cut } = await cuttable(t, port);
  const made = channel(t, {
    endpoints: [url],
    clock,
    keepAlive: { everyMilliseconds: 1000, timeoutMilliseconds: 300 },
  });
  const stream = (await made.duplex(echo))[Symbol.asyncIterator]();
  assert.equal((await stream.next()).value, "first");
  for (let at = 0; at < 10; at++) {
    const nextMessage = stream.next();
    await clock.advance(1000);
    assert.equal((await nextMessage).value, "alive", "a server that answers pings is kept");
  }
  const next = stream.next();
  next.catch(() => undefined);
  cut();
  await clock.advance(1000);
  await clock.advance(1000);
  await clock.advance(300);
  await assert.rejects(next, failsWith("UNAVAILABLE", "no sign of life"));
});

test("a call that misses its deadline makes the channel ping the server at once", async (t) => {
  const clock = virtualClock();
  const { port, calls } = await server(t, (call) =>
    call.headers["hold"] ? void call.send("first") : undefined,
  );
  const { url, cut } = await cuttable(t, port);
  const { duplex, unary } = channel(t, {
    endpoints: [url],
    clock,
    keepAlive: { everyMilliseconds: 60_000, timeoutMilliseconds: 300 },
  });
  const stream = (await duplex(echo, { metadata: { hold: "1" } }))[Symbol.asyncIterator]();
  await stream.next();
  const lost = assert.rejects(stream.next(), failsWith("UNAVAILABLE", "no sign of life"));
  const slow = assert.rejects(
    unary(echo, "x", { deadlineMilliseconds: 1000 }),
    failsWith("DEADLINE_EXCEEDED"),
  );
  await until(() => calls.length === 2);
  cut();
  await clock.advance(1000);
  await slow;
  await clock.advance(300);
  await lost;
});

test("closing the channel ends its calls and rejects new ones", async (t) => {
  const { url, calls } = await server(t, () => {});
  const made = channel(t, { endpoints: [url] });
  const answer = made.unary(echo, "x", { waitForReady: true });
  await until(() => calls.length === 1);
  made.close();
  await assert.rejects(answer, failsWith("UNAVAILABLE"));
  await assert.rejects(made.unary(echo, "y", { waitForReady: true }), failsWith("UNAVAILABLE", "closed"));
});

test("an endpoint with an unknown scheme is rejected immediately", () => {
  assert.throws(() => grpcChannel({ endpoints: ["ftp://x"] }), /must start with/);
  assert.throws(() => grpcChannel({ endpoints: [] }), /at least one/);
});
