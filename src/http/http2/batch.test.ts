import assert from "node:assert/strict";
import type { Socket } from "node:net";
import { test } from "node:test";
import { addData, addDataHead, addFrames, batchBytes, sendBatch } from "./batch.ts";
import { frameBytes, frameHead } from "./frames.ts";

test("a batch filled by long headers still takes the following data", () => {
  const sent: Uint8Array[] = [];
  const socket = { write: (bytes: Uint8Array) => sent.push(bytes) } as unknown as Socket;
  const headers = Buffer.alloc(batchBytes() + 60_000, "h");
  const data = Buffer.alloc(frameBytes, "d");
  addFrames(headers);
  addDataHead(1, data.length, true);
  addData(data);
  sendBatch(socket);
  const bytes = Buffer.concat(sent);
  assert.equal(bytes.length, headers.length + frameHead + data.length);
  assert.ok(bytes.subarray(0, headers.length).equals(headers));
  assert.ok(bytes.subarray(headers.length + frameHead).equals(data));
});
