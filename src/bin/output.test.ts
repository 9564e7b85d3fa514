import assert from "node:assert/strict";
import { EventEmitter } from "node:events";
import { test } from "node:test";
import { endWithReader } from "./output.ts";

test("a program whose output is no longer read ends, other errors of its output are reported", () => {
  const stream = new EventEmitter();
  const codes: number[] = [];
  endWithReader(stream, (code) => void codes.push(code));
  stream.emit("error", Object.assign(new Error("write EPIPE"), { code: "EPIPE" }));
  assert.deepEqual(codes, [141]);
  const full = Object.assign(new Error("no space left"), { code: "ENOSPC" });
  assert.throws(() => stream.emit("error", full), full);
});
