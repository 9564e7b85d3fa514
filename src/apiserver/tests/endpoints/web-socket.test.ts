import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import { test } from "node:test";
import { WebSocket } from "ws";
import { virtualClock } from "#base";
import { dialects, streamProtocols } from "#dialect";
import type { Sink } from "#http";
import { type RunningServer, startServer } from "../../library.ts";
import { fakeAgent } from "../virtual/connect/agent.fixture.ts";
import { webSocketReply } from "#endpoints";

const home = "/api/v1/namespaces/default";

async function post(server: RunningServer, path: string, body: object): Promise<void> {
  const answer = await server.inject({ method: "POST", path, body: JSON.stringify(body) });
  assert.equal(answer.status, 201, await answer.text());
}

/** Opens a WebSocket as an administrator; all messages are recorded. */
function open(
  server: RunningServer,
  path: string,
  protocols: readonly string[] = [],
  headers: Record<string, string> = {},
) {
  const { token } = server.clientConfig.users[0]!.user as { token: string };
  const bearer = headers["authorization"] === "" ? {} : { authorization: `Bearer ${token}` };
  const { authorization: _, ...others } = headers;
  const socket = new WebSocket(`${server.url.replace("https", "wss")}${path}`, [...protocols], {
    rejectUnauthorized: false,
    headers: { ...bearer, ...others },
  });
  const messages: (string | Buffer)[] = [];
  socket.on("message", (data: Buffer, isBinary) => messages.push(isBinary ? data : data.toString()));
  return { socket, messages, token };
}

const refused = async (socket: WebSocket): Promise<[status: number, text: string]> => {
  const [, response] = (await once(socket, "unexpected-response")) as [
    unknown,
    AsyncIterable<Buffer> & { statusCode: number },
  ];
  let text = "";
  for await (const chunk of response) text += chunk.toString();
  return [response.statusCode, text];
};

const [plain, spelled] = streamProtocols.logs;
const bytes = (text: string): Buffer => Buffer.from(text);
const logs: [name: string, offered: string[], spoken: string, messages: (string | Buffer)[]][] = [
  ["a log is sent as bytes if no protocol is requested", [], "", [bytes(""), bytes("hello\n")]],
  ["a log is sent as bytes on request", [plain], plain, [bytes(""), bytes("hello\n")]],
  ["a log is sent as base64 text on request", [spelled], spelled, ["", "aGVsbG8K"]],
  [
    "the first known of several protocols is selected",
    ["unheard", spelled, plain],
    spelled,
    ["", "aGVsbG8K"],
  ],
];
test("logs over a WebSocket", async (t) => {
  await using agent = await fakeAgent({ answer: (_request, response) => void response.end("hello\n") });
  await using server = await startServer({
    store: "memory",
    port: 0,
    flags: ["--disable-admission-plugins=ServiceAccount"],
  });
  const status = {
    addresses: [{ type: "InternalIP", address: "127.0.0.1" }],
    daemonEndpoints: { nodeagentEndpoint: { Port: agent.port } },
  };
  await post(server, "/api/v1/nodes", { metadata: { name: "n1" }, status });
  await post(server, `${home}/pods`, {
    metadata: { name: "web" },
    spec: { nodeName: "n1", containers: [{ name: "c", image: "img" }] },
  });
  for (const [name, offered, spoken, expected] of logs) {
    await t.test(name, async () => {
      const { socket, messages } = open(server, `${home}/pods/web/log`, offered);
      const [code] = (await once(socket, "close")) as [number];
      assert.deepEqual([code, socket.protocol, messages], [1000, spoken, expected]);
    });
  }
  await t.test("an unknown protocol is rejected", async () => {
    const { socket } = open(server, `${home}/pods/web/log`, ["unheard"]);
    assert.deepEqual(await refused(socket), [
      403,
      `requested protocol(s) are not supported: [unheard]; supports [${plain} ${spelled}]\n`,
    ]);
  });
  await t.test("errors are reported as usual", async () => {
    const { socket } = open(server, `${home}/pods/none/log`);
    const [code, text] = await refused(socket);
    assert.deepEqual([code, (JSON.parse(text) as { reason: string }).reason], [404, "NotFound"]);
  });
});

test("watches over a WebSocket", async (t) => {
  const clock = virtualClock(Date.now());
  await using server = await startServer({ store: "memory", port: 0, clock });
  const make = (name: string): Promise<void> => post(server, `${home}/configmaps`, { metadata: { name } });
  const next = async (
    socket: WebSocket,
    messages: (string | Buffer)[],
    count: number,
  ): Promise<(string | Buffer)[]> => {
    while (messages.length < count) await once(socket, "message");
    return messages.splice(0);
  };
  const seen = (messages: readonly (string | Buffer)[]): string[] =>
    messages.map((text) => {
      const { type, object } = JSON.parse(String(text)) as {
        type: string;
        object: { metadata: { name: string } };
      };
      return `${type} ${object.metadata.name}`;
    });
  await make("a");
  await make("b");
  await t.test("every event is a separate message, even if several occur at once", async () => {
    const { socket, messages } = open(
      server,
      `${home}/configmaps?watch=1&fieldSelector=metadata.name!%3Dother`,
    );
    const first = await next(socket, messages, 2);
    assert.ok(first.every((text) => typeof text === "string" && text.endsWith("\n")));
    assert.deepEqual(seen(first), ["ADDED a", "ADDED b"]);
    await make("c");
    assert.deepEqual(seen(await next(socket, messages, 1)), ["ADDED c"]);
    socket.close();
    await once(socket, "close");
  });
  await t.test("a watch that ends closes the WebSocket", async () => {
    const { socket, messages } = open(server, `${home}/configmaps?watch=1&timeoutSeconds=60`);
    const closed = once(socket, "close") as Promise<[number]>;
    await next(socket, messages, 2);
    await clock.advance(60_000);
    assert.equal((await closed)[0], 1000);
  });
  await t.test("a browser sends its token as a protocol, which is not echoed", async () => {
    const { token, socket: anonymous } = open(server, `${home}/configmaps?watch=1`, [], {
      authorization: "",
    });
    assert.equal((await refused(anonymous))[0], 403);
    const bearer = `${streamProtocols.bearerTokenPrefix}${Buffer.from(token).toString("base64url")}`;
    const { socket, messages } = open(server, `${home}/configmaps?watch=1`, [bearer, "chosen"], {
      authorization: "",
    });
    assert.deepEqual(seen((await next(socket, messages, 2)).slice(0, 2)), ["ADDED a", "ADDED b"]);
    assert.equal(socket.protocol, "chosen");
    socket.terminate();
  });
  await t.test("compact events are messages of bytes without a length", async () => {
    const accept = `${dialects.orch.wire.protobufMediaType};stream=watch`;
    const { socket, messages } = open(server, `${home}/configmaps?watch=1`, [], { accept });
    const [first] = await next(socket, messages, 2);
    assert.ok(Buffer.isBuffer(first));
    assert.equal(first.subarray(2, 7).toString(), "ADDED");
    socket.terminate();
  });
});

test("a handshake of another version is rejected with the supported one", async () => {
  const call = {
    method: "GET",
    headers: { "sec-websocket-version": "8", "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==" },
  } as unknown as Parameters<typeof webSocketReply>[0];
  const reply = webSocketReply(call, { messages: () => [], stream: () => Promise.resolve() });
  assert.deepEqual([reply.status, reply.headers["sec-websocket-version"]], [400, "13"]);
});

test("a disconnect of the client is reported to writers, including blocked ones", async (t) => {
  const talking = Promise.withResolvers<Sink>();
  const http = createServer().listen(0, "127.0.0.1");
  t.after(() => http.close());
  await once(http, "listening");
  http.on("upgrade", ({ method, headers }, socket, head) => {
    const call = { method, headers } as unknown as Parameters<typeof webSocketReply>[0];
    const stream = async (sink: Sink): Promise<void> => {
      talking.resolve(sink);
      await once(sink.closed, "abort");
    };
    const { body } = webSocketReply(call, { messages: (chunk) => [chunk], stream });
    (body as { takeOver(socket: Duplex, head: Uint8Array): void }).takeOver(socket, head);
  });
  const client = new WebSocket(`ws://127.0.0.1:${(http.address() as AddressInfo).port}`);
  client.on("error", () => undefined);
  const sink = await talking.promise;
  if (client.readyState !== client.OPEN) await once(client, "open");
  client.pause();
  while (sink.backlogBytes < 1024 * 1024) {
    sink.write(Buffer.alloc(256 * 1024));
    await new Promise((resolve) => setImmediate(resolve));
  }
  const drained = sink.drained();
  client.terminate();
  await drained;
  assert.equal(sink.closed.aborted, true);
  assert.match(String(sink.closed.reason), /the client closed the connection/);
});
