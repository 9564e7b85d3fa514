import assert from "node:assert/strict";
import { test } from "node:test";
import { virtualClock } from "#base";
import { isWatch, withFaults } from "./faults.ts";
import type { ClientRequest, ClientResponse, Transport } from "./transport.ts";

const server = (lines: string[]): Transport & { readonly sent: string[] } => {
  const sent: string[] = [];
  const chunks = async function* () {
    for (const line of lines) yield Buffer.from(line);
  };
  return {
    sent,
    send: async ({ method, path }) => (
      sent.push(`${method} ${path}`),
      { status: 200, headers: {}, chunks: chunks() }
    ),
    close: () => undefined,
  };
};
const get = (path: string): ClientRequest => ({ method: "GET", path });
const read = async ({ chunks }: ClientResponse): Promise<string> =>
  Buffer.concat(await Array.fromAsync(chunks)).toString();

test("planned responses are returned in order, each once, without reaching the server", async () => {
  const inner = server(["ok"]);
  const faults = withFaults(inner);
  faults.plan({ answer: 500 });
  faults.plan({ answer: 410 }, { times: 2 });
  const statuses: number[] = [];
  for (let i = 0; i < 4; i++) statuses.push((await faults.send(get("/a"))).status);
  assert.deepEqual(statuses, [500, 410, 410, 200]);
  assert.deepEqual(inner.sent, ["GET /a"]);
  assert.deepEqual(
    faults.injected.map(({ fault }) => fault),
    [{ answer: 500 }, { answer: 410 }, { answer: 410 }],
  );
});

test("a planned response is a Status with Retry-After", async () => {
  const faults = withFaults(server([]));
  faults.plan({ answer: 429, retryAfterSeconds: 5, message: "busy" });
  const answer = await faults.send(get("/a"));
  assert.equal(answer.headers["retry-after"], "5");
  const { reason, message, details } = JSON.parse(await read(answer)) as Record<string, unknown>;
  assert.deepEqual([reason, message, details], ["TooManyRequests", "busy", { retryAfterSeconds: 5 }]);
});

test("a rule selects its requests and applies until it is used up", async () => {
  const faults = withFaults(server(["1\n", "2\n3\n"]));
  faults.plan({ dropAfterEvents: 2 }, { when: isWatch });
  assert.equal(await read(await faults.send(get("/a"))), "1\n2\n3\n");
  const parts: string[] = [];
  await assert.rejects(async () => {
    for await (const chunk of (await faults.send(get("/a?watch=true"))).chunks)
      parts.push(Buffer.from(chunk).toString());
  }, /cut/);
  assert.deepEqual(parts, ["1\n", "2\n"]);
  assert.equal(await read(await faults.send(get("/a?watch=1"))), "1\n2\n3\n");
});

test("an event that arrives in pieces counts once", async () => {
  const faults = withFaults(server(["1", "\n", "2\n"]));
  faults.plan({ dropAfterEvents: 1 });
  const parts: string[] = [];
  await assert.rejects(async () => {
    for await (const chunk of (await faults.send(get("/a"))).chunks)
      parts.push(Buffer.from(chunk).toString());
  }, /cut/);
  assert.deepEqual(parts, ["1", "\n"]);
});

test("a stream may break before its first event, and one that ends earlier ends normally", async () => {
  const faults = withFaults(server(["1\n"]));
  faults.plan({ dropAfterEvents: 0 });
  faults.plan({ dropAfterEvents: 9 });
  await assert.rejects(async () => read(await faults.send(get("/a"))), /cut/);
  assert.equal(await read(await faults.send(get("/a"))), "1\n");
});

test("a cut before the request keeps it from the server, a cut after it does not", async () => {
  const inner = server(["ok"]);
  const faults = withFaults(inner);
  faults.plan({ cut: "before" });
  faults.plan({ cut: "after" });
  await assert.rejects(faults.send(get("/before")), /cut before/);
  await assert.rejects(faults.send(get("/after")), /cut after/);
  assert.deepEqual(inner.sent, ["GET /after"]);
});

test("a delay uses the given clock and can be aborted", async () => {
  const clock = virtualClock();
  const inner = server(["ok"]);
  const faults = withFaults(inner, { clock });
  faults.plan({ delayMilliseconds: 1000 }, { times: 2 });
  const answer = faults.send(get("/a"));
  await clock.advance(999);
  assert.deepEqual(inner.sent, []);
  await clock.advance(1);
  assert.equal((await answer).status, 200);
  const stop = new AbortController();
  const given = faults.send({ ...get("/b"), signal: stop.signal });
  stop.abort(new Error("enough"));
  await assert.rejects(given, /enough/);
  assert.deepEqual(inner.sent, ["GET /a"]);
});

test("clear() removes planned faults", async () => {
  const faults = withFaults(server(["ok"]));
  faults.plan({ answer: 500 }, { times: Infinity });
  assert.equal((await faults.send(get("/a"))).status, 500);
  assert.equal(faults.planned, 1);
  faults.clear();
  assert.equal((await faults.send(get("/a"))).status, 200);
});
