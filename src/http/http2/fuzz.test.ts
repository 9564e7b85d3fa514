import assert from "node:assert/strict";
import { once } from "node:events";
import { test } from "node:test";
import fc from "fast-check";
import { frame } from "./frames.ts";
import { answerWith, get, getBlock, hello, made, rawClient, serve } from "./raw-client.fixture.ts";
import type { Stream } from "./stream.ts";

/** A different seed for each run; HTTP2_FUZZ_SEED repeats a run. */
const seed = Number(process.env["HTTP2_FUZZ_SEED"] ?? Math.floor(Math.random() * 2 ** 31));

const anyFrame = fc
  .record({
    type: fc.integer({ min: 0, max: 10 }),
    flags: fc.nat(255),
    stream: fc.oneof(fc.constant(0), fc.nat(9)),
    payload: fc.oneof(fc.uint8Array({ maxLength: 60 }), fc.constant(getBlock)),
  })
  .map(({ type, flags, stream, payload }) => made(type, flags, stream, payload));

test(`whatever frames arrive, the server has no internal error and serves the next client (seed ${seed})`, async (t) => {
  t.diagnostic(`HTTP2_FUZZ_SEED=${seed}`);
  const problems: Error[] = [];
  const serveAll = async (stream: Stream): Promise<void> => {
    await stream.body(100).catch(() => undefined);
    await answerWith("well")(stream);
  };
  const port = await serve(t, serveAll, { onInternalError: (error) => problems.push(error) });
  const rounds = fc.sample(fc.array(anyFrame, { minLength: 1, maxLength: 20 }), { numRuns: 300, seed });
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
