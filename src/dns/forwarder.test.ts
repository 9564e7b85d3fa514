import assert from "node:assert/strict";
import { test } from "node:test";
import { virtualClock } from "#base";
import { type Exchange, type Upstream, forwarder } from "./forwarder.ts";
import { fileUpstreams, parseUpstream, serversIn } from "./resolver-file.ts";
import { type Query, readQuery, recordsOf, responseCodes, writeReply } from "./wire.ts";

const first: Upstream = { address: "192.0.2.1", port: 53 };
const second: Upstream = { address: "192.0.2.2", port: 53 };

function queryFor(name: string, id = 7): Query {
  const question = [
    ...name.split(".").flatMap((label) => [label.length, ...Buffer.from(label)]),
    0,
    0,
    1,
    0,
    1,
  ];
  const read = readQuery(Uint8Array.from([0, id, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, ...question]));
  assert.equal(read.is, "query");
  return (read as { query: Query }).query;
}

/** A server that returns the same address for every name. */
const answering =
  (log: string[], change: (reply: Uint8Array, over: string) => Uint8Array = (reply) => reply): Exchange =>
  async ({ address }, message, over) => {
    log.push(`${address} ${over}`);
    const read = readQuery(message) as { query: Query };
    const reply = writeReply(
      read.query,
      {
        code: responseCodes.noError,
        authoritative: false,
        answers: [{ type: "A", name: read.query.name, ttl: 60, address: "198.51.100.1" }],
      },
      512,
    );
    return change(reply, over);
  };

function made(exchange: Exchange, more: { maxPending?: number; maxPendingPerClient?: number } = {}) {
  const clock = virtualClock();
  const stopping = new AbortController();
  const forward = forwarder({
    upstreams: () => [first, second],
    exchange,
    clock,
    timeoutMilliseconds: 2000,
    cacheBytes: 10_000,
    maxPending: 10,
    maxPendingPerClient: 10,
    signal: stopping.signal,
    ...more,
  });
  const resolve = (query: Query, client = "10.0.0.1"): Promise<Uint8Array | undefined> =>
    forward.resolve(query, client);
  return { clock, forward, resolve };
}
const ttlOf = (reply: Uint8Array): number => {
  const [record] = [...recordsOf(reply)];
  return Buffer.from(reply).readUInt32BE(record!.ttlAt);
};

test("an answer is cached for its decreasing lifetime and returned under the client's message ID", async () => {
  const log: string[] = [];
  const { clock, forward, resolve } = made(answering(log));
  const reply = await resolve(queryFor("example.org", 9));
  assert.equal(reply![1], 9);
  assert.equal(ttlOf(reply!), 60);
  await clock.advance(20_000);
  assert.equal(ttlOf((await resolve(queryFor("example.org")))!), 40);
  await clock.advance(40_000);
  assert.equal(ttlOf((await resolve(queryFor("example.org")))!), 60);
  assert.deepEqual(log, ["192.0.2.1 udp", "192.0.2.1 udp"]);
  assert.deepEqual([forward.cacheHits, forward.cacheMisses], [1, 2]);
});

test("the question is echoed in the client's spelling", async () => {
  const { resolve } = made(answering([]));
  const reply = await resolve(queryFor("eXample.org"));
  assert.ok(Buffer.from(reply!).toString("latin1").includes("eXample"));
});

test("the next server is tried after a failing one", async () => {
  const log: string[] = [];
  const good = answering(log);
  const { resolve } = made((upstream, message, over, signal) =>
    upstream === first ? Promise.reject(new Error("down")) : good(upstream, message, over, signal),
  );
  assert.ok(await resolve(queryFor("example.org")));
  assert.deepEqual(log, ["192.0.2.2 udp"]);
});

test("a truncated reply is requested again over TCP", async () => {
  const log: string[] = [];
  const { resolve } = made(
    answering(log, (reply, over) => {
      if (over === "udp") reply[2] = reply[2]! | 2;
      return reply;
    }),
  );
  const reply = await resolve(queryFor("example.org"));
  assert.equal(reply![2]! & 2, 0);
  assert.deepEqual(log, ["192.0.2.1 udp", "192.0.2.1 tcp"]);
});

const forged: [name: string, change: (reply: Uint8Array) => void][] = [
  ["under another message ID", (reply) => void (reply[0] = reply[0]! ^ 1)],
  ["to another question", (reply) => void (reply[13] = "x".charCodeAt(0))],
  ["that is a query", (reply) => void (reply[2] = 1)],
  ["with truncated records", (reply) => void (reply[reply.length - 5] = 200)],
];
for (const [name, change] of forged)
  test(`a reply ${name} is rejected`, async () => {
    const { resolve } = made(
      answering([], (reply) => {
        change(reply);
        return reply;
      }),
    );
    assert.equal(await resolve(queryFor("example.org")), undefined);
  });

/** A server that answers on demand. */
function held(): { exchange: Exchange; release: () => void; log: string[] } {
  const log: string[] = [];
  const { promise, resolve } = Promise.withResolvers<void>();
  const good = answering(log);
  return {
    log,
    release: resolve,
    exchange: async (...args) => {
      await promise;
      return await good(...args);
    },
  };
}

test("identical pending queries are coalesced, and too many are refused", async () => {
  const { exchange, release, log } = held();
  const { forward, resolve } = made(exchange, { maxPending: 2 });
  const both = [resolve(queryFor("example.org", 1)), resolve(queryFor("example.org", 2))];
  assert.equal(forward.isPending(queryFor("example.org")), true);
  assert.equal(await resolve(queryFor("example.com"), "10.0.0.2"), undefined);
  release();
  assert.deepEqual(
    (await Promise.all(both)).map((reply) => reply?.[1]),
    [1, 2],
  );
  assert.equal(log.length, 1);
  assert.equal(forward.isPending(queryFor("example.org")), false);
});

test("pending queries of one client leave those of others room", async () => {
  const { exchange, release } = held();
  const { resolve } = made(exchange, { maxPendingPerClient: 1 });
  const first = resolve(queryFor("example.org"));
  assert.equal(await resolve(queryFor("example.com")), undefined);
  const other = resolve(queryFor("example.net"), "10.0.0.2");
  release();
  assert.ok((await first) && (await other));
  assert.ok(await resolve(queryFor("example.edu")), "answered queries no longer count");
});

test("an unresponsive server is abandoned after the timeout", async () => {
  const { clock, resolve } = made(
    (_upstream, _message, _over, signal) =>
      new Promise((_, reject) => signal.addEventListener("abort", () => reject(new Error("late")))),
  );
  let outcome: unknown = "waiting";
  void resolve(queryFor("example.org")).then((reply) => (outcome = reply));
  for (let tries = 0; tries < 4; tries++) await clock.advance(2000);
  assert.equal(outcome, undefined);
});

test("name servers are read from resolv.conf", () => {
  const text = "# x\nsearch a b\nnameserver 192.0.2.1\nnameserver fe80::1%eth0\n nameserver nope\n";
  assert.deepEqual(
    serversIn(text).map(({ address }) => address),
    ["192.0.2.1", "fe80::1%eth0"],
  );
  assert.deepEqual(fileUpstreams("/nowhere/resolv.conf", virtualClock(), () => false)(), []);
});

const given: [text: string, upstream: Upstream | undefined][] = [
  ["192.0.2.1", first],
  ["192.0.2.1:5353", { address: "192.0.2.1", port: 5353 }],
  ["[fd00::1]:53", { address: "fd00::1", port: 53 }],
  ["fd00::1", { address: "fd00::1", port: 53 }],
  ["example.org", undefined],
  ["192.0.2.1:70000", undefined],
];
for (const [text, upstream] of given)
  test(`${text} as a name server`, () => assert.deepEqual(parseUpstream(text), upstream));
