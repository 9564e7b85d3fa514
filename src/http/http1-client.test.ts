import assert from "node:assert/strict";
import { once } from "node:events";
import { type AddressInfo, type Server, type Socket, connect, createServer } from "node:net";
import { after, test } from "node:test";
import { type Clock, systemClock, virtualClock } from "#base";
import { Http1Client } from "./http1-client.ts";
import { ReplyReader } from "./reply-reader.ts";

const replies: [name: string, text: string, body: string | undefined, reusable?: boolean][] = [
  ["a body of given length", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi", "hi", true],
  ["no body", "HTTP/1.1 204 No Content\r\n\r\n", "", true],
  [
    "chunks with extensions and a trailer",
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2;a=b\r\nhi\r\n1\r\n!\r\n0\r\nX: y\r\n\r\n",
    "hi!",
    true,
  ],
  [
    "a preceding interim response",
    "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n",
    "",
    true,
  ],
  [
    "a connection that is closed after it",
    "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 1\r\n\r\nx",
    "x",
    false,
  ],
  ["an HTTP/1.0 server", "HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\nx", "x", false],
  ["trailing bytes", "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nxy", "x", false],
  ["another protocol", "SSH-2.0-server\r\n\r\n", undefined],
  ["a folded header", "HTTP/1.1 200 OK\r\na: b\r\n c\r\n\r\n", undefined],
  ["an invalid length", "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n", undefined],
  ["another encoding", "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n", undefined],
  ["a chunk without a size", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n", undefined],
  ["a body above the limit", "HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n" + "x".repeat(99), undefined],
];
for (const [name, text, body, reusable] of replies)
  for (const [how, size] of [
    ["whole", text.length],
    ["byte by byte", 1],
  ] as const)
    test(`a response is read ${how}: ${name}`, () => {
      const reader = new ReplyReader(64);
      let step: ReturnType<ReplyReader["take"]> = "more";
      for (let at = 0; at < text.length && step === "more"; at += size)
        step = reader.take(Buffer.from(text.slice(at, at + size)));
      if (body === undefined) return assert.ok(step instanceof Error);
      assert.ok(step !== "more" && !(step instanceof Error));
      assert.equal(step.reply.body.toString(), body);
      // If read byte by byte, the bytes after the response have not arrived yet.
      if (size > 1 || name !== "trailing bytes") assert.equal(step.reusable, reusable);
    });

test("a response without a length ends with the connection", () => {
  const reader = new ReplyReader(64);
  assert.equal(reader.take(Buffer.from("HTTP/1.1 200 OK\r\n\r\nhi")), "more");
  assert.equal(reader.end()?.body.toString(), "hi");
});

const servers: Server[] = [];
after(() => servers.forEach((server) => server.close()));

/**
 * A server that handles each connection with the given function; the client's sockets are recorded in
 * `opened`.
 */
async function serverOf(
  serve: (socket: Socket, connection: number) => void,
  { opened = [], clock = systemClock }: { opened?: Socket[]; clock?: Clock } = {},
): Promise<Http1Client> {
  let connections = 0;
  const server = createServer((socket) => {
    socket.on("error", () => undefined);
    serve(socket, connections++);
  }).listen(0, "127.0.0.1");
  servers.push(server.unref());
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const open = async (): Promise<Socket> => {
    const socket = connect({ host: "127.0.0.1", port });
    opened.push(socket);
    return socket;
  };
  return new Http1Client({ connect: open, maxReplyBytes: 1024, clock });
}
const ask = "POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 0\r\n\r\n";
const answer = (body: string): string => `HTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
const textOf = async (client: Http1Client): Promise<string> => (await client.send(ask).reply).body.toString();

test("sequential exchanges share a connection, concurrent ones do not", async () => {
  const client = await serverOf((socket, connection) =>
    socket.on("data", () => socket.write(answer(String(connection)))),
  );
  assert.deepEqual([await textOf(client), await textOf(client)], ["0", "0"]);
  assert.deepEqual((await Promise.all([textOf(client), textOf(client)])).sort(), ["0", "1"]);
  client.close();
});

test("replies of concurrent exchanges are delivered together", async () => {
  const waiting: Socket[] = [];
  const serve = (socket: Socket): void => {
    socket.on("data", () => {
      waiting.push(socket);
      if (waiting.length === 3) for (const each of waiting) each.write(answer("x"));
    });
  };
  const client = await serverOf(serve, { clock: virtualClock() });
  let turns = 0;
  const counting = setInterval(() => turns++, 0);
  const turnOf = async (): Promise<number> => textOf(client).then(() => turns);
  const [first, second, third] = await Promise.all([turnOf(), turnOf(), turnOf()]);
  clearInterval(counting);
  assert.ok(first === second && second === third);
  client.close();
});

test("a failed exchange is not waited for", async () => {
  const serve = (socket: Socket): void => void socket.on("data", () => socket.write(answer("x")));
  const client = await serverOf(serve, { clock: virtualClock() });
  const { reply, abort } = client.send(ask);
  abort(new Error("too late"));
  abort(new Error("too late"));
  await assert.rejects(reply, { message: "too late" });
  assert.equal(await textOf(client), "x");
  client.close();
});

test("as many idle connections are kept as were used concurrently", async () => {
  let connections = 0;
  const client = await serverOf((socket) => {
    connections++;
    socket.on("data", () => socket.write(answer("x")));
  });
  for (let round = 0; round < 3; round++) await Promise.all(Array.from({ length: 64 }, () => textOf(client)));
  assert.equal(connections, 64);
  client.close();
});

test("a connection idle for long is closed when another becomes idle", async (t) => {
  let now = 0;
  t.mock.method(performance, "now", () => now);
  const closed = Promise.withResolvers<number>();
  const client = await serverOf((socket, number) => {
    socket.on("data", () => socket.write(answer(String(number))));
    socket.on("close", () => closed.resolve(number));
  });
  const [first, second] = await Promise.all([textOf(client), textOf(client)]);
  assert.notEqual(first, second);
  for (now = 1; now < 90_000; now += 30_000) await textOf(client);
  now = 90_002;
  const last = await textOf(client);
  assert.notEqual(String(await closed.promise), last);
  client.close();
});

test("an idle connection that the server has closed is skipped", async () => {
  const sockets: Socket[] = [];
  const opened: Socket[] = [];
  const client = await serverOf(
    (socket, connection) => {
      sockets.push(socket);
      socket.on("data", () => socket.write(answer(String(connection))));
    },
    { opened },
  );
  assert.equal(await textOf(client), "0");
  const closed = once(opened[0]!, "close");
  sockets[0]!.destroy();
  await closed;
  assert.equal(await textOf(client), "1");
  client.close();
});

test("a request that was sent is not retried when its reused connection breaks", async () => {
  let requests = 0;
  const client = await serverOf((socket) =>
    socket.on("data", () => {
      requests += 1;
      if (requests === 2) socket.end();
      else socket.write(answer("x"));
    }),
  );
  assert.equal(await textOf(client), "x");
  await assert.rejects(client.send(ask).reply, { message: "EOF" });
  assert.equal(requests, 2);
  client.close();
});

test("a response in many pieces is buffered once", () => {
  const reader = new ReplyReader(1 << 20);
  reader.take(Buffer.from("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n"));
  const piece = Buffer.from("1\r\nx\r\n".repeat(1000));
  for (let turn = 0; turn < 100; turn++) assert.equal(reader.take(piece), "more");
  const step = reader.take(Buffer.from("0\r\n\r\n"));
  assert.ok(step !== "more" && !(step instanceof Error));
  assert.equal(step.reply.body.length, 100_000);
  assert.ok(step.reply.body.buffer.byteLength <= 1 << 18);
});

test("a connection that ends without a complete response is an error", async () => {
  const silent = await serverOf((socket) => socket.on("data", () => socket.end()));
  await assert.rejects(silent.send(ask).reply, { message: "EOF" });
  const half = await serverOf((socket) => socket.on("data", () => socket.end("HTTP/1.1 200 OK\r\nconte")));
  await assert.rejects(half.send(ask).reply, { message: "unexpected EOF" });
});

test("an aborted exchange fails with the reason, and its connection is not reused", async () => {
  const client = await serverOf((socket, connection) =>
    socket.on("data", () => connection > 0 && socket.write(answer(String(connection)))),
  );
  const { reply, abort } = client.send(ask);
  setImmediate(() => abort(new Error("too late")));
  await assert.rejects(reply, { message: "too late" });
  assert.equal(await textOf(client), "1");
  client.close();
});

test("aborting a completed exchange does not affect its connection", async () => {
  const client = await serverOf((socket, connection) =>
    socket.on("data", () => socket.write(answer(String(connection)))),
  );
  const { reply, abort } = client.send(ask);
  assert.equal((await reply).body.toString(), "0");
  abort(new Error("too late"));
  assert.equal(await textOf(client), "0");
  client.close();
});

test("unsolicited bytes end an idle connection", async () => {
  const sockets: Socket[] = [];
  const client = await serverOf((socket, connection) => {
    sockets.push(socket);
    socket.on("data", () => socket.write(answer(String(connection))));
  });
  assert.equal(await textOf(client), "0");
  sockets[0]!.write("surprise");
  await once(sockets[0]!, "close");
  assert.equal(await textOf(client), "1");
  client.close();
});
