import assert from "node:assert/strict";
import { test } from "node:test";
import type { Endpoint } from "#registry";
import type { ApiCall } from "./api-call.ts";
import { replyWithPage } from "./read.ts";
import type { Representation } from "./represent/representation.ts";

test("buffers read for a page are freed once the body is built", async () => {
  const lent = [Buffer.from(new ArrayBuffer(100_000))];
  const lengths: number[] = [];
  const list = async (): Promise<{ parts: Uint8Array[]; unshared: boolean }> => {
    lengths.push(lent[0]!.length);
    return { parts: [Buffer.from("body")], unshared: true };
  };
  const as = { media: "json", list } as unknown as Representation;
  const endpoint = { resource: { dialect: { wire: {} } } } as unknown as Endpoint;
  const listing = { revision: 1, items: [], lent };
  const reply = await replyWithPage(as, {} as ApiCall, endpoint, listing);
  assert.deepEqual([...lengths, lent[0]!.length], [100_000, 0]);
  assert.equal(String((reply.body as Uint8Array[])[0]), "body");
});
