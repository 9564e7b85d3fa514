import assert from "node:assert/strict";
import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { test } from "node:test";
import { connect } from "node:tls";
import { constants, createInflate } from "node:zlib";
import { WebSocket } from "ws";
import type { RunningServer } from "../../../library.ts";
import { fakeAgent } from "./agent.fixture.ts";
import { cluster } from "./cluster.fixture.ts";
import { dictionary } from "#virtual";

const tokenOf = (server: RunningServer): string =>
  (server.clientConfig.users[0]!.user as { token: string }).token;
const open = (server: RunningServer, path: string, protocol: string): WebSocket =>
  new WebSocket(
    `${server.url.replace("https", "wss")}/api/v1/namespaces/default/pods/web/${path}`,
    protocol,
    {
      rejectUnauthorized: false,
      headers: { authorization: `Bearer ${tokenOf(server)}` },
    },
  );

const agreed = "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\n\r\n";
const frame = (first: number, flags: number, body: Uint8Array): Buffer => {
  const head = Buffer.alloc(8);
  head.writeUInt32BE(first, 0);
  head.writeUInt32BE(((flags << 24) | body.length) >>> 0, 4);
  return Buffer.concat([head, body]);
};
const ping = Buffer.from([0, 0, 0, 2]);

/** The agent's side: reports its streams and what was written to each, and ends with the given status. */
function otherHalf(
  socket: Duplex,
  onStream: (id: number, type: string) => void,
  onData: (id: number, data: Buffer, last: boolean) => Promise<void>,
  onControl: (kind: number, body: Buffer) => void,
): void {
  const unpack = createInflate({ dictionary, flush: constants.Z_SYNC_FLUSH });
  let pending = Buffer.alloc(0);
  const opened: number[] = [];
  unpack.on("data", (block: Buffer) => {
    const type = /streamtype.{4}(\w+)/s.exec(block.toString("latin1"))?.[1] ?? "";
    onStream(opened.shift()!, type);
  });
  socket.on("data", (chunk: Buffer) => {
    pending = Buffer.concat([pending, chunk]);
    while (pending.length >= 8 && pending.length >= 8 + (pending.readUInt32BE(4) & 0xffffff)) {
      const first = pending.readUInt32BE(0);
      const body = pending.subarray(8, 8 + (pending.readUInt32BE(4) & 0xffffff));
      const flags = pending[4]!;
      pending = pending.subarray(8 + body.length);
      if (first < 0x80000000) void onData(first, body, (flags & 1) === 1);
      else if ((first & 0xffff) === 1) {
        opened.push(body.readUInt32BE(0));
        unpack.write(body.subarray(10));
        socket.write(frame(0x80030002, 0, body.subarray(0, 4)));
      } else onControl(first & 0xffff, body);
    }
  });
  socket.on("error", () => undefined);
}

test("commands with the newest protocol: streams by channel, the end of the input, the status last", async () => {
  const seen: string[] = [];
  await using agent = await fakeAgent({
    upgrade: (request, socket) => {
      seen.push(
        `${request.headers["upgrade"]} ${request.headers["x-stream-protocol-version"]} ${request.headers["sec-websocket-key"]}`,
      );
      socket.write(agreed);
      const ids = new Map<string, number>();
      let input = "";
      otherHalf(
        socket,
        (id, type) => ids.set(type, id),
        async (id, data, last) => {
          assert.equal(id, 3, "only stdin is written to");
          input += data.toString();
          if (!last) return;
          // Headers are decompressed asynchronously.
          while (ids.size < 4) await new Promise((resolve) => setImmediate(resolve));
          socket.write(
            Buffer.concat([
              frame(0x80030006, 0, ping),
              frame(ids.get("stdout")!, 0, Buffer.from(`heard ${input}`)),
              frame(ids.get("stderr")!, 0, Buffer.from("oh")),
            ]),
          );
          seen.push([...ids].map(([type, at]) => `${type}${at}`).join(" "));
          const status = Buffer.from('{"metadata":{},"status":"Success"}');
          socket.write(
            Buffer.concat([
              frame(ids.get("stdout")!, 1, Buffer.alloc(0)),
              frame(ids.get("error")!, 0, status.subarray(0, 9)),
            ]),
          );
          socket.write(frame(ids.get("error")!, 0, status.subarray(9)));
        },
        (kind, body) => seen.push(`control ${kind} ${body.toString("hex")}`),
      );
    },
  });
  await using server = await cluster(agent, 0);
  const client = open(server, "exec?command=cat&stdin=true&stdout=true&stderr=true", "v5.channel.k8s.io");
  const messages: string[] = [];
  client.on("message", (data: Buffer) => messages.push(`${data[0]} ${data.subarray(1).toString()}`));
  client.on("open", () => {
    client.send(Buffer.from("\0some "));
    client.send(Buffer.from("\0input"));
    client.send(Buffer.from([255, 0]));
  });
  const [code] = (await once(client, "close")) as [number];
  assert.deepEqual(messages, ["1 ", "1 heard some input", "2 oh", '3 {"metadata":{},"status":"Success"}']);
  assert.deepEqual(
    [code, agent.requests],
    [1000, ["POST /exec/default/web/c?command=cat&error=1&input=1&output=1"]],
  );
  assert.deepEqual(seen, [
    "SPDY/3.1 v4.channel.k8s.io undefined",
    "error1 stdin3 stdout5 stderr7",
    "control 6 00000002",
    "control 7 0000000000000000",
  ]);
});

test("a status that arrives byte by byte is parsed once", async (t) => {
  const text = '{"metadata":{},"status":"Failure","message":"a } and a \\" {"}';
  const [bytes, end] = [Buffer.from(text.slice(0, -1)), Buffer.from("}\n")];
  await using agent = await fakeAgent({
    upgrade: (_, socket) => {
      socket.write(agreed);
      otherHalf(
        socket,
        (id, type) => {
          if (type !== "error") return;
          for (const part of [...bytes].map((byte) => Uint8Array.of(byte)).concat(end))
            socket.write(frame(id, 0, part));
        },
        async () => undefined,
        () => undefined,
      );
    },
  });
  await using server = await cluster(agent, 0);
  const parse = t.mock.method(JSON, "parse");
  const client = open(server, "exec?command=cat&stdout=true", "v5.channel.k8s.io");
  const messages: string[] = [];
  client.on("message", (data: Buffer) => messages.push(`${data[0]} ${data.subarray(1).toString()}`));
  await once(client, "close");
  assert.deepEqual(messages, ["1 ", `3 ${text}\n`]);
  const parsed = parse.mock.calls.filter(({ arguments: [given] }) => String(given).startsWith('{"meta'));
  assert.equal(parsed.filter(({ arguments: [given] }) => `${text}\n`.startsWith(String(given))).length, 1);
});

test("output is forwarded as it arrives, also of a frame that is not complete", async () => {
  const parts: Buffer[] = [];
  let write: (part: Buffer) => void = () => undefined;
  await using agent = await fakeAgent({
    upgrade: (_, socket) => {
      socket.write(agreed);
      write = (part) => void socket.write(part);
      otherHalf(
        socket,
        (id, type) => {
          if (type === "error") parts.push(frame(id, 1, Buffer.from('{"status":"Success"}')));
          if (type !== "stdout") return;
          const [output, pinged] = [frame(id, 0, Buffer.from("ab")), frame(0x80030006, 0, ping)];
          parts.unshift(output.subarray(9), pinged);
          write(output.subarray(0, 3));
          setImmediate(() => write(output.subarray(3, 9)));
        },
        async () => undefined,
        (kind) => kind === 6 && write(parts.pop()!),
      );
    },
  });
  await using server = await cluster(agent, 0);
  const client = open(server, "exec?command=cat&stdout=true", "v5.channel.k8s.io");
  const messages: string[] = [];
  client.on("message", (data: Buffer) => {
    messages.push(`${data[0]} ${data.subarray(1).toString()}`);
    if (messages.at(-1) !== "1 a") return;
    write(Buffer.concat([parts.shift()!, parts[0]!.subarray(0, 9)]));
    setImmediate(() => write(parts.shift()!.subarray(9)));
  });
  await once(client, "close");
  assert.deepEqual(messages, ["1 ", "1 a", "1 b", '3 {"status":"Success"}']);
});

const protocol = "SPDY/3.1+portforward.k8s.io";
test("port forwarding: messages carry the agent's bytes, both ways", async () => {
  await using agent = await fakeAgent({
    upgrade: (request, socket) => {
      socket.write(`${agreed}early,`);
      socket.on("data", (chunk: Buffer) => {
        socket.write(`${request.headers["x-stream-protocol-version"]} heard ${chunk.toString()}`);
      });
    },
  });
  await using server = await cluster(agent, 0);
  // The client library rejects the protocol name, which is not a token, so the handshake is written by hand.
  const { hostname, port } = new URL(server.url);
  const socket = connect({
    host: hostname,
    port: Number(port),
    rejectUnauthorized: false,
    ALPNProtocols: ["http/1.1"],
  });
  await once(socket, "secureConnect");
  const handshake = [
    "Upgrade: websocket",
    "Connection: Upgrade",
    "Sec-WebSocket-Version: 13",
    "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==",
    `Sec-WebSocket-Protocol: ${protocol}`,
  ];
  socket.write(
    `GET /api/v1/namespaces/default/pods/web/portforward HTTP/1.1\r\nHost: api\r\nAuthorization: Bearer ${tokenOf(server)}\r\n${handshake.join("\r\n")}\r\n\r\n`,
  );
  let text = "";
  const message = Buffer.concat([Buffer.from([0x82, 0x85, 0, 0, 0, 0]), Buffer.from("bytes")]);
  socket.setEncoding("latin1").on("data", (chunk: string) => {
    if (!text.includes("early,") && (text + chunk).includes("early,")) socket.write(message);
    text += chunk;
  });
  socket.on("error", () => undefined);
  while (!text.includes("heard bytes")) await once(socket, "data");
  socket.destroy();
  assert.match(
    text,
    /^HTTP\/1\.1 101 [^]*Sec-WebSocket-Protocol: SPDY\/3\.1\+portforward\.k8s\.io\r\n[^]*early,[^]*portforward\.k8s\.io heard bytes/,
  );
  assert.deepEqual(agent.requests, ["POST /portForward/default/web"]);
});

test("an error of the agent is returned to the client", async () => {
  await using agent = await fakeAgent({
    upgrade: (_request, socket) =>
      void socket.end("HTTP/1.1 404 Not Found\r\nContent-Length: 7\r\n\r\nno such"),
  });
  await using server = await cluster(agent, 0);
  const client = open(server, "exec?command=cat&stdout=true", "v5.channel.k8s.io");
  const [, response] = (await once(client, "unexpected-response")) as [
    unknown,
    { statusCode: number; destroy(): void },
  ];
  assert.equal(response.statusCode, 404);
  response.destroy();
});

test("an error that arrives in many parts is copied once", async (t) => {
  const part = Buffer.alloc(1024, "x");
  const count = 300;
  await using agent = await fakeAgent({
    upgrade: (_request, socket) => {
      socket.on("error", () => undefined);
      socket.write("HTTP/1.1 404 Not Found\r\n\r\n");
      let sent = 0;
      const send = (): void => {
        if (sent++ < count) socket.write(part, () => setImmediate(send));
        else socket.end();
      };
      send();
    },
  });
  await using server = await cluster(agent, 0);
  const { mock } = t.mock.method(Buffer, "concat");
  const client = open(server, "exec?command=cat&stdout=true", "v5.channel.k8s.io");
  const [, response] = (await once(client, "unexpected-response")) as [unknown, IncomingMessage];
  let length = 0;
  for await (const chunk of response) length += (chunk as Buffer).length;
  assert.equal(length, count * part.length);
  const copied = mock.calls
    .map(({ result }) => result?.toString("latin1") ?? "")
    .filter((text) => text.includes("xxx"))
    .reduce((total, text) => total + text.length, 0);
  assert.ok(copied < 4 * length, `${copied} bytes were copied`);
});
