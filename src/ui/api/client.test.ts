import assert from "node:assert/strict";
import { test } from "node:test";
import { CallError, client, isUnreachable, pathWith } from "./client.ts";

const answering = (reply: () => Response | Promise<Response>, token?: string) => {
  const requests: { path: string; headers: Record<string, string> }[] = [];
  let refused = 0;
  const calls = client({
    token: () => token,
    onUnauthorized: () => refused++,
    fetch: async (path, init) => {
      requests.push({ path: path as string, headers: init!.headers as Record<string, string> });
      return await reply();
    },
  });
  return { calls, requests, refused: () => refused };
};

test("parameters without a value are omitted, lists are repeated", () => {
  assert.equal(
    pathWith("/a", { b: "1", c: "", d: undefined, e: [], f: ["x", "y z"], g: 0 }),
    "/a?b=1&f=x&f=y+z&g=0",
  );
  assert.equal(pathWith("/a"), "/a");
});

test("a call sends the user's token, if any", async () => {
  const withToken = answering(() => Response.json({}), "t");
  await withToken.calls.json("/a");
  assert.equal(withToken.requests[0]!.headers["authorization"], "Bearer t");
  const without = answering(() => Response.json({}));
  await without.calls.json("/a");
  assert.ok(!("authorization" in without.requests[0]!.headers));
});

test("a refusal is reported with the server's message", async () => {
  const { calls } = answering(() => Response.json({ reason: "Forbidden", message: "no" }, { status: 403 }));
  await assert.rejects(calls.json("/a"), new CallError(403, "Forbidden", "no"));
});

test("rejected credentials require a new sign-in", async () => {
  const { calls, refused } = answering(() => new Response("Unauthorized", { status: 401 }));
  await assert.rejects(calls.json("/a"), { status: 401 });
  assert.equal(refused(), 1);
});

test("an unreachable server is reported", async () => {
  const { calls } = answering(() => Promise.reject(new TypeError("fetch failed")));
  await assert.rejects(calls.json("/a"), { status: 0, message: "the server cannot be reached" });
});

test("lines are complete, however they are split into chunks", async () => {
  const parts = ['{"a":1}\n{"b"', ':"', "ä".slice(0, 1), '"}\n', '{"c":3}'];
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => {
      for (const part of parts) controller.enqueue(new TextEncoder().encode(part));
      controller.close();
    },
  });
  const { calls } = answering(() => new Response(body));
  const lines = await Array.fromAsync(calls.lines("/a", {}, new AbortController().signal));
  assert.deepEqual(lines, ['{"a":1}', '{"b":"ä"}', '{"c":3}']);
});

test("an interrupted response is reported as an unreachable server", async () => {
  let sent = false;
  const body = new ReadableStream<Uint8Array>({
    pull: (controller) => {
      if (sent) controller.error(new TypeError("network error"));
      else controller.enqueue(new TextEncoder().encode("one\n"));
      sent = true;
    },
  });
  const { calls } = answering(() => new Response(body));
  const lines: string[] = [];
  const read = async (): Promise<void> => {
    for await (const line of calls.lines("/a", {}, new AbortController().signal)) lines.push(line);
  };
  await assert.rejects(read, (error) => isUnreachable(error));
  assert.deepEqual(lines, ["one"]);
  assert.ok(!isUnreachable(new CallError(403, "Forbidden", "no")));
});
