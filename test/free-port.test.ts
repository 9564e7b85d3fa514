import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:net";
import { test } from "node:test";
import { freePort } from "#kit";

test("a free port can be listened on, and is not given out twice", async () => {
  const ports = await Promise.all(Array.from({ length: 40 }, freePort));
  assert.equal(new Set(ports).size, 40);
  const server = createServer().listen(ports[0], "127.0.0.1");
  await once(server, "listening");
  server.close();
});
