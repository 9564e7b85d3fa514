import assert from "node:assert/strict";
import { test } from "node:test";
import { recentWrites } from "./recent-writes.ts";

const bytes = (text: string): Buffer => Buffer.from(text);

test("a value is found by its key and the exact sealed bytes, only the newest of each key", () => {
  const recent = recentWrites();
  recent.add("/a", bytes("sealed"), bytes("value"));
  assert.deepEqual(recent.find("/a", bytes("sealed")), bytes("value"));
  assert.equal(recent.find("/a", bytes("sealeD")), undefined);
  assert.equal(recent.find("/b", bytes("sealed")), undefined);
  recent.add("/a", bytes("second"), bytes("other"));
  assert.equal(recent.find("/a", bytes("sealed")), undefined);
  assert.deepEqual(recent.find("/a", bytes("second")), bytes("other"));
});

test("only a limited number of small values is kept", () => {
  const recent = recentWrites();
  recent.add("/large", bytes("l"), Buffer.alloc(16 * 1024 + 1));
  assert.equal(recent.find("/large", bytes("l")), undefined);
  for (let at = 0; at < 257; at++) recent.add(`/${at}`, bytes(`s${at}`), bytes("v"));
  assert.equal(recent.find("/0", bytes("s0")), undefined);
  assert.deepEqual(recent.find("/256", bytes("s256")), bytes("v"));
});
