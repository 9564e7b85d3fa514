import assert from "node:assert/strict";
import { test } from "node:test";
import type { GrpcChannel, GrpcMethod } from "./channel.ts";
import { type GrpcObserver, observedChannel } from "./observed-channel.ts";
import { GrpcError } from "./status.ts";

const method: GrpcMethod<string, string> = {
  path: "/example.Words/Say",
  encode: (text) => Buffer.from(text),
  decode: (bytes) => Buffer.from(bytes).toString(),
};

/** Returns the events observed for calls with these responses or errors. */
function observed(answers: readonly (string | GrpcError)[]) {
  const reported: string[] = [];
  const followed: string[] = [];
  const tell =
    (what: string): GrpcObserver["started"] =>
    ({ service, method: name, type }) =>
      void reported.push(`${what} ${service} ${name} ${type}`);
  async function* messages<T>(): AsyncGenerator<T> {
    for (const answer of answers) {
      if (answer instanceof GrpcError) throw answer;
      yield answer as T;
    }
  }
  const channel: GrpcChannel = {
    endpoints: ["http://example"],
    unary: async <_Q, R>() => {
      for await (const message of messages<R>()) return message;
      throw new Error("no answer");
    },
    serverStream: <_Q, R>() => messages<R>(),
    duplex: async <_Q, R>() => {
      const iterator = messages<R>();
      return {
        endpoint: "http://example",
        send: async () => undefined,
        end: () => undefined,
        cancel: () => void iterator.return(undefined),
        [Symbol.asyncIterator]: () => iterator,
      };
    },
    close: () => void reported.push("closed"),
  };
  const observer: GrpcObserver = {
    started: tell("started"),
    sent: tell("sent"),
    received: tell("received"),
    handled: ({ type }, code) => void reported.push(`handled ${type} ${code}`),
    follow: () => (code) => void followed.push(code),
  };
  return { reported, followed, channel: observedChannel(channel, observer) };
}

const busy = new GrpcError("UNAVAILABLE", "busy");
const words = (type: string, ...what: string[]): string[] =>
  what.map((each) => `${each} example.Words Say ${type}`);

test("a unary call is one message each way", async () => {
  const { reported, followed, channel } = observed(["yes"]);
  assert.equal(await channel.unary(method, "ask"), "yes");
  assert.deepEqual(followed, ["OK"]);
  assert.deepEqual(reported, [...words("unary", "started", "sent", "received"), "handled unary OK"]);
});

test("a failed call is reported with its code", async () => {
  const { reported, followed, channel } = observed([busy]);
  await assert.rejects(channel.unary(method, "ask"), busy);
  assert.deepEqual(followed, ["UNAVAILABLE"]);
  assert.deepEqual(reported, [...words("unary", "started", "sent"), "handled unary UNAVAILABLE"]);
});

test("every message of a stream is counted, and its end once", async () => {
  const { reported, channel } = observed(["a", "b", busy]);
  const stream = await channel.duplex(method);
  await stream.send("ask");
  await assert.rejects(async () => {
    for await (const _ of stream) void _;
  }, busy);
  assert.deepEqual(reported, [
    ...words("bidi_stream", "started", "sent", "received", "received"),
    "handled bidi_stream UNAVAILABLE",
  ]);
});

test("leaving a stream is reported as cancelled", async () => {
  const { reported, channel } = observed(["a", "b"]);
  for await (const _ of channel.serverStream(method, "ask")) break;
  assert.deepEqual(reported, [
    ...words("server_stream", "started", "sent", "received"),
    "handled server_stream CANCELLED",
  ]);
  channel.close();
  assert.equal(reported.at(-1), "closed");
});
