import assert from "node:assert/strict";
import { test } from "node:test";
import { Change, type Frame, type FrameEncoder } from "./frame.ts";
import { encodedThing, prefix, readThing } from "./source.fixture.ts";

const frameOf = (revision: number): Frame =>
  new Change(
    revision,
    readThing({ key: `${prefix}n/a`, value: encodedThing("n/a", {}), revision, created: revision }),
    undefined,
    false,
  ).frameFor(() => true)!;

test("a frame is encoded once for all watchers, and again for late ones: old encodings are dropped", () => {
  let made = 0;
  const encoder: FrameEncoder = { encode: () => Buffer.from(String(++made)) };
  const frames = Array.from({ length: 1000 }, (_, at) => frameOf(at + 1));
  for (const frame of frames) for (let watcher = 0; watcher < 3; watcher++) frame.bytes(encoder);
  assert.equal(made, 1000);
  frames.at(-1)!.bytes(encoder);
  assert.equal(made, 1000);
  frames[0]!.bytes(encoder);
  assert.equal(made, 1001);
});

test("the frame of a deletion does not read the deleted object unless its content is needed", () => {
  let reads = 0;
  const stored = readThing({ key: `${prefix}n/a`, value: encodedThing("n/a", {}), revision: 1, created: 1 });
  const last = new Proxy(stored, {
    get: (target, property) => {
      if (property === "line") reads++;
      return Reflect.get(target, property, target);
    },
  });
  const frame = new Change(2, last, last, true).frameFor(() => true)!;
  assert.equal(frame.type, "DELETED");
  assert.equal(frame.key, `${prefix}n/a`);
  const readBefore = reads;
  assert.equal(frame.item.revision, 2);
  assert.equal(frame.item, frame.item);
  assert.ok(reads > readBefore, "the last state is read on access");
  assert.equal(readBefore, 1, "only its size was accessed");
});
