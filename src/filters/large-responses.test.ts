import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import { gunzipSync } from "node:zlib";
import { ApiError, virtualClock } from "#base";
import type { Reply, Sink } from "#http";
import { apiCall, memorySink, turn } from "#kit";
import { acceptsGzip, largeResponses } from "./large-responses.ts";

const kib = 1024;
const answerOf = (size: number, parts = 8): Reply => ({
  status: 200,
  headers: { "content-type": "application/json" },
  body: Array.from({ length: parts }, () => Buffer.alloc(size / parts, "x")),
});
const list = (headers = {}, more = {}) => apiCall({ path: "/api/v1/pods", headers, ...more });
const streamOf = (reply: Reply): ((sink: Sink) => Promise<void>) =>
  (reply.body as { stream: (sink: Sink) => Promise<void> }).stream;

const accepted: [header: string | undefined, gzip: boolean][] = [
  [undefined, false],
  ["gzip", true],
  ["deflate, gzip;q=0.5", true],
  ["gzip;q=0", false],
  ["gzip; q=0.0", false],
  ["identity", false],
  ["xgzip", false],
];
for (const [header, gzip] of accepted)
  test(`accept-encoding ${JSON.stringify(header)} ${gzip ? "takes" : "does not take"} gzip`, () =>
    assert.equal(acceptsGzip(header), gzip));

const sizes: [name: string, size: number, headers: Record<string, string>, encoding: string | undefined][] = [
  ["a small response is not compressed", 100 * kib, { "accept-encoding": "gzip" }, undefined],
  ["a large response is compressed", 200 * kib, { "accept-encoding": "gzip" }, "gzip"],
  ["a very large response is compressed, too", 2000 * kib, { "accept-encoding": "gzip" }, "gzip"],
  ["a response is not compressed for a client that does not accept it", 2000 * kib, {}, undefined],
];
for (const [name, size, headers, encoding] of sizes) {
  test(name, async () => {
    const step = largeResponses({ clock: virtualClock(), compress: true });
    const reply = await step.run(list(headers), () => Promise.resolve(answerOf(size)));
    assert.equal(reply.headers["content-encoding"], encoding);
    const sink = memorySink();
    if ("stream" in (reply.body as object)) {
      const written = streamOf(reply)(sink);
      for (let done = false; !done;) {
        void written.then(() => (done = true));
        sink.read();
        await turn();
      }
    } else sink.chunks.push(...(reply.body as Uint8Array[]));
    const bytes = Buffer.concat(sink.chunks);
    assert.equal((encoding ? gunzipSync(bytes) : bytes).toString(), "x".repeat(size));
  });
}

test("a compressed response that waits many times leaves no listeners behind", async () => {
  const warnings: string[] = [];
  const note = ({ message }: Error): void => void (message.includes("Gzip") && warnings.push(message));
  process.on("warning", note);
  try {
    const step = largeResponses({ clock: virtualClock(), compress: true });
    const body = Array.from({ length: 40 }, () => randomBytes(128 * kib));
    const reply = await step.run(list({ "accept-encoding": "gzip" }), () =>
      Promise.resolve({ ...answerOf(0), body }),
    );
    const sink = memorySink();
    let done = false;
    void streamOf(reply)(sink).then(() => (done = true));
    while (!done) {
      sink.read();
      await turn();
    }
    assert.equal(gunzipSync(Buffer.concat(sink.chunks)).length, 40 * 128 * kib);
    await turn();
    assert.deepEqual(warnings, []);
  } finally {
    process.off("warning", note);
  }
});

test("a large response to a write is compressed, too", async () => {
  const step = largeResponses({ clock: virtualClock(), compress: true });
  const encodingOf = async (method: string, size: number): Promise<string | undefined> =>
    (await step.run(list({ "accept-encoding": "gzip" }, { method }), () => Promise.resolve(answerOf(size))))
      .headers["content-encoding"] as string | undefined;
  assert.deepEqual(
    [
      await encodingOf("PATCH", 200 * kib),
      await encodingOf("PUT", 200 * kib),
      await encodingOf("POST", 100 * kib),
    ],
    ["gzip", "gzip", undefined],
  );
});

test("compression can be disabled by its feature gate", async () => {
  const reply = await largeResponses({ clock: virtualClock(), compress: false }).run(
    list({ "accept-encoding": "gzip" }),
    () => Promise.resolve(answerOf(200 * kib)),
  );
  assert.equal(reply.headers["content-encoding"], undefined);
});

test("a slow reader gets the response in pieces, as fast as it reads", async () => {
  const reply = await largeResponses({ clock: virtualClock(), compress: false }).run(list(), () =>
    Promise.resolve(answerOf(8192 * kib, 1024)),
  );
  assert.equal(reply.headers["content-length"], String(8192 * kib));
  const sink = memorySink();
  void streamOf(reply)(sink);
  await turn();
  assert.ok(sink.backlogBytes < 2048 * kib);
  sink.close();
});

test("slow readers share a budget: the next request waits, then is rejected; when one is done the next gets its response", async () => {
  const clock = virtualClock();
  const step = largeResponses({ clock, compress: false, budgetBytes: 3000 * kib });
  const ask = (more = {}) => step.run(list({}, more), () => Promise.resolve(answerOf(1000 * kib)));
  const read = new AbortController();
  // The size of the first response is not known beforehand.
  await Promise.all([ask({ over: read.signal }), ask(), ask()]);
  const late = assert.rejects(ask(), (error) => error instanceof ApiError && error.code === 429);
  await clock.advance(30_000);
  await late;
  const waiting = ask();
  read.abort();
  assert.equal((await waiting).status, 200);
});

test("lists of the pods of different nodes share the budget until they are sent", async () => {
  const step = largeResponses({ clock: virtualClock(), compress: false, budgetBytes: 250 * kib });
  const ask = (node: string, more = {}) =>
    step.run(apiCall({ path: `/api/v1/pods?fieldSelector=spec.nodeName%3D${node}`, ...more }), () =>
      Promise.resolve(answerOf(100 * kib)),
    );
  const sent = new AbortController();
  await ask("a", { over: sent.signal });
  await ask("b");
  let answered = false;
  const third = ask("c").then(() => (answered = true));
  await turn();
  assert.equal(answered, false);
  sent.abort();
  await third;
});

test("a response sent whole to a stalled client is aborted after a while, if others wait", async () => {
  const clock = virtualClock();
  const aborted: string[] = [];
  const step = largeResponses({
    clock,
    compress: false,
    budgetBytes: 150 * kib,
    aborted: (call) => void aborted.push(call.target.path),
  });
  const ask = (more = {}) => step.run(list({}, more), () => Promise.resolve(answerOf(100 * kib)));
  const over = new AbortController();
  const reply = await ask({ over: over.signal, abort: () => over.abort() });
  assert.equal("stream" in (reply.body as object), false);
  await clock.advance(9_000);
  const waiting = ask();
  await turn();
  assert.equal(over.signal.aborted, false);
  await clock.advance(10_000);
  assert.equal((await waiting).status, 200);
  assert.deepEqual(aborted, ["/api/v1/pods"]);
});

test("a response behind others on an active connection is not aborted until the client stalls", async () => {
  const clock = virtualClock();
  const step = largeResponses({ clock, compress: false, budgetBytes: 150 * kib });
  const ask = (more = {}) => step.run(list({}, more), () => Promise.resolve(answerOf(100 * kib)));
  const over = new AbortController();
  let sent = 0;
  await ask({ over: over.signal, abort: () => over.abort(), sentBytes: () => sent });
  const waiting = assert.rejects(ask(), /Too many requests/);
  for (let at = 0; at < 3; at++) {
    sent += 64 * kib;
    await clock.advance(10_000);
    assert.equal(over.signal.aborted, false);
  }
  await waiting;
  const next = ask();
  await clock.advance(10_000);
  assert.equal(over.signal.aborted, true);
  assert.equal((await next).status, 200);
});

for (const headers of [{}, { "accept-encoding": "gzip" }]) {
  test(`a response to a stalled client is aborted after five minutes, or soon if others wait, ${JSON.stringify(headers)}`, async () => {
    const clock = virtualClock();
    const step = largeResponses({ clock, compress: true, budgetBytes: 17_000 * kib });
    // Random bytes hardly compress.
    const body = [randomBytes(16_384 * kib)];
    const ask = (over?: AbortSignal) =>
      step.run(list(headers, { over }), () => Promise.resolve({ status: 200, headers: {}, body }));
    for (const wanted of [false, true]) {
      const gone = new AbortController();
      const sink = memorySink();
      let over = false;
      const given = assert.rejects(streamOf(await ask(gone.signal))(sink), /does not read/).finally(() => {
        over = true;
        gone.abort();
      });
      while (sink.backlogBytes <= 1024 * kib) await turn();
      await clock.advance(9_000);
      const waiting = wanted ? ask() : undefined;
      await turn();
      assert.equal(over, false);
      await clock.advance(wanted ? 1_000 : 290_000);
      assert.equal(over, wanted);
      await clock.advance(wanted ? 0 : 1_000);
      await given;
      assert.equal((await waiting)?.status, wanted ? 200 : undefined);
    }
  });
}

test("a slow reader is not aborted, even if others wait", async () => {
  const clock = virtualClock();
  const step = largeResponses({ clock, compress: false, budgetBytes: 5000 * kib });
  const ask = () => step.run(list(), () => Promise.resolve(answerOf(4096 * kib)));
  const sink = memorySink();
  const written = streamOf(await ask())(sink);
  while (sink.backlogBytes <= 1024 * kib) await turn();
  const refused = assert.rejects(ask(), (error) => error instanceof ApiError && error.code === 429);
  for (let looks = 0; looks < 20; looks++) {
    sink.read(kib);
    await clock.advance(5_000);
  }
  await refused;
  while (sink.chunks.reduce((sum, chunk) => sum + chunk.length, 0) < 4096 * kib) {
    sink.read();
    await turn();
  }
  sink.read();
  await written;
});

const varied: [vary: string | undefined, expected: string][] = [
  [undefined, "Accept-Encoding"],
  ["Accept", "Accept-Encoding, Accept"],
  ["Accept-Encoding, Accept", "Accept-Encoding, Accept"],
];
for (const [vary, expected] of varied) {
  test(`a compressed response with Vary ${vary} has Vary ${expected}`, async () => {
    const answer = { ...answerOf(200 * kib), headers: vary === undefined ? {} : { vary } };
    const reply = await largeResponses({ clock: virtualClock(), compress: true }).run(
      list({ "accept-encoding": "gzip" }),
      () => Promise.resolve(answer),
    );
    assert.equal(reply.headers["vary"], expected);
  });
}

test("a range of a document is not compressed", async () => {
  for (const size of [200, 2000]) {
    const reply = await largeResponses({ clock: virtualClock(), compress: true }).run(
      list({ "accept-encoding": "gzip" }),
      () => Promise.resolve({ ...answerOf(size * kib), status: 206 }),
    );
    assert.equal(reply.headers["content-encoding"], undefined);
  }
});

test("the response of a disconnected client releases its bytes", async () => {
  const clock = virtualClock();
  const step = largeResponses({ clock, compress: false, budgetBytes: 1500 * kib });
  const gone = new AbortController();
  const ask = (over?: AbortSignal) =>
    step.run(list({}, { over }), () => Promise.resolve(answerOf(1000 * kib)));
  await ask(gone.signal);
  const waiting = ask();
  await turn();
  gone.abort();
  assert.equal((await waiting).status, 200);
});

test("a failed list releases its bytes", async () => {
  const step = largeResponses({ clock: virtualClock(), compress: false, budgetBytes: 1500 * kib });
  const gone = new AbortController();
  await step.run(list({}, { over: gone.signal }), () => Promise.resolve(answerOf(1000 * kib)));
  gone.abort();
  await assert.rejects(
    step.run(list(), () => Promise.reject(new Error("broken"))),
    /broken/,
  );
  assert.equal((await step.run(list(), () => Promise.resolve(answerOf(1000 * kib)))).status, 200);
});
