import assert from "node:assert/strict";
import { test } from "node:test";
import { virtualClock } from "#base";
import { memorySink, turn } from "#kit";
import { endableSink, throttledSink } from "./long-stream.ts";

test("an endable sink closes with its client, or when it is ended", () => {
  const inner = memorySink();
  const endable = endableSink(inner);
  assert.equal(endable.sink.closed.aborted, false);
  endable.end();
  assert.equal(endable.sink.closed.aborted, true);
  assert.equal(inner.closed.aborted, false);
  const other = endableSink(inner);
  inner.close();
  assert.equal(other.sink.closed.aborted, true);
});

test("a throttled sink passes on one second's worth immediately and the rest at its rate, in order", async () => {
  const clock = virtualClock();
  const inner = memorySink();
  const sink = throttledSink(inner, 1000, clock);
  for (let at = 0; at < 3; at++) sink.write(Buffer.alloc(1000, String(at)));
  const size = (): number => inner.chunks.reduce((sum, chunk) => sum + chunk.length, 0);
  assert.equal(size(), 1000);
  assert.equal(sink.backlogBytes, 3000);
  let drained = false;
  void sink.drained().then(() => (drained = true));
  await clock.advance(1000);
  assert.equal(size(), 2000);
  await clock.advance(2000);
  assert.equal(size(), 3000);
  inner.read();
  await turn();
  assert.equal(drained, true);
  assert.equal(
    Buffer.concat(inner.chunks).toString(),
    "0".repeat(1000) + "1".repeat(1000) + "2".repeat(1000),
  );
});

test("queued bytes of a disconnected client are released", async () => {
  const inner = memorySink();
  const sink = throttledSink(inner, 10, virtualClock());
  sink.write(Buffer.alloc(1000));
  inner.close();
  await sink.drained();
  assert.equal(sink.backlogBytes, 0);
});

test("a throttled sink keeps its rate when the machine's clock is set back", async () => {
  const clock = virtualClock();
  const inner = memorySink();
  const sink = throttledSink(inner, 1000, clock);
  for (let at = 0; at < 2; at++) sink.write(Buffer.alloc(1000));
  clock.set(clock.now() - 3_600_000);
  await clock.advance(1000);
  assert.equal(
    inner.chunks.reduce((sum, { length }) => sum + length, 0),
    2000,
  );
});
