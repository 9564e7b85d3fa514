import assert from "node:assert/strict";
import { once } from "node:events";
import { type AddressInfo, type Socket, connect, createServer } from "node:net";
import { type TestContext, test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { freePort } from "#kit";
import { type Relay, localAddressOf, maxConnectionsPerClient, startRelay } from "./local-address.ts";

const addresses: [id: string, address: string][] = [
  ["00000000", "10.127.0.1"],
  ["ffffffff", "10.127.255.16"],
  ["0000fd00", "10.127.253.253"],
];
for (const [id, address] of addresses)
  test(`the cluster ${id} has the local address ${address}`, () => assert.equal(localAddressOf(id), address));

/** Starts a relay in front of a server that handles connections in the given way. */
async function withRelay(
  t: TestContext,
  handle: (socket: Socket) => void,
): Promise<{ readonly relay: Relay; readonly port: number }> {
  const server = createServer((socket) => handle(socket.on("error", () => undefined)));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const port = await freePort();
  const relay = await startRelay("127.0.0.1", port, {
    host: "127.0.0.1",
    port: (server.address() as AddressInfo).port,
  });
  t.after(() => {
    relay.close();
    server.close();
  });
  return { relay, port };
}

const echo = (socket: Socket): void => void socket.pipe(socket);

test("a relay forwards connections, and closes them when it is closed", async (t) => {
  const { relay, port } = await withRelay(t, echo);
  const client = connect(port, "127.0.0.1");
  client.write("hello");
  assert.equal(String((await once(client, "data"))[0]), "hello");
  relay.close();
  await once(client, "close");
});

test("connections of one client through a relay leave those of others room", async (t) => {
  const { port } = await withRelay(t, echo);
  const open = async (localAddress: string): Promise<Socket | undefined> => {
    const socket = connect({ host: "127.0.0.1", port, localAddress });
    t.after(() => socket.destroy());
    socket.on("error", () => undefined);
    socket.write("hello");
    return Promise.race([
      once(socket, "data").then(() => socket),
      once(socket, "close").then(() => undefined),
    ]);
  };
  const opened: Socket[] = [];
  for (let socket = await open("127.0.0.1"); socket; socket = await open("127.0.0.1")) opened.push(socket);
  assert.equal(opened.length, maxConnectionsPerClient);
  assert.ok(await open("127.0.0.2"));
  opened[0]!.destroy();
  while (!(await open("127.0.0.1"))) await turn();
});
