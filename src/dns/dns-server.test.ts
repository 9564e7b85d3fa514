import assert from "node:assert/strict";
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { type Socket, connect } from "node:net";
import { Duplex } from "node:stream";
import { setImmediate as turn } from "node:timers/promises";
import { test } from "node:test";
import { serveConnection, serveDatagrams, startDnsServer } from "./dns-server.ts";

const noErrors = (error: Error): void => assert.fail(error);

test("a datagram from port 0, to which no reply can be sent, is dropped", async (t) => {
  const [server, client] = [createSocket("udp4"), createSocket("udp4")];
  const stopping = new AbortController();
  t.after(() => {
    server.close();
    client.close();
  });
  serveDatagrams(server, {
    resolve: (message) => Promise.resolve(message),
    isAllowed: () => true,
    onError: noErrors,
    signal: stopping.signal,
  });
  server.bind({ address: "127.0.0.1", port: 0 });
  await once(server, "listening");
  const query = Buffer.from("query");
  server.emit("message", query, { address: "127.0.0.1", family: "IPv4", port: 0, size: query.length });
  const replied = once(client, "message");
  client.send(query, server.address().port, "127.0.0.1");
  assert.deepEqual((await replied)[0], query);
});

test("connections of one client leave those of others room", async (t) => {
  const server = await startDnsServer({
    addresses: ["127.0.0.1"],
    port: 0,
    allowed: ["127.0.0.0/8"],
    resolve: (message) => Promise.resolve(message),
    signal: t.signal,
    onError: noErrors,
  });
  t.after(() => server.close());
  const open = async (localAddress: string): Promise<Socket | undefined> => {
    const socket = connect({ host: "127.0.0.1", port: server.port, localAddress });
    t.after(() => socket.destroy());
    socket.on("error", () => undefined);
    socket.write(Buffer.from([0, 1, 9]));
    return Promise.race([
      once(socket, "data").then(() => socket),
      once(socket, "close").then(() => undefined),
    ]);
  };
  const opened: Socket[] = [];
  for (let socket = await open("127.0.0.1"); socket; socket = await open("127.0.0.1")) opened.push(socket);
  assert.equal(opened.length, 32);
  assert.ok(await open("127.0.0.2"));
  opened[0]!.destroy();
  while (!(await open("127.0.0.1"))) await turn();
});

test("queries of a client that does not read its replies are left unread", async () => {
  const unread: (() => void)[] = [];
  const socket = new Duplex({
    read: () => undefined,
    write: (_chunk, _encoding, written) => void unread.push(written),
  });
  let resolved = 0;
  const resolve = (): Promise<Uint8Array> => {
    resolved += 1;
    return Promise.resolve(new Uint8Array(60_000));
  };
  serveConnection(
    Object.assign(socket, { setTimeout: () => socket }) as unknown as Socket,
    resolve,
    noErrors,
  );
  const settled = async (): Promise<number> => {
    for (let last = -1; last !== resolved + unread.length; await turn()) last = resolved + unread.length;
    return resolved;
  };
  for (let sent = 0; sent < 1000; sent++) {
    socket.push(Buffer.from([0, 2, 1, 2]));
    await turn();
  }
  assert.ok((await settled()) < 100);
  while (resolved < 1000) {
    unread.shift()!();
    await settled();
  }
});
