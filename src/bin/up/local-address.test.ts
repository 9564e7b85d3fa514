import assert from "node:assert/strict";
import { once } from "node:events";
import { type AddressInfo, connect, createServer } from "node:net";
import { test } from "node:test";
import { freePort } from "#kit";
import { localAddressOf, startRelay } from "./local-address.ts";

const addresses: [id: string, address: string][] = [
  ["00000000", "10.127.0.1"],
  ["ffffffff", "10.127.255.16"],
  ["0000fd00", "10.127.253.253"],
];
for (const [id, address] of addresses)
  test(`the cluster ${id} has the local address ${address}`, () => assert.equal(localAddressOf(id), address));

test("a relay forwards connections, and closes them when it is closed", async () => {
  const server = createServer((socket) => socket.on("error", () => undefined).pipe(socket));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const port = await freePort();
  const relay = await startRelay("127.0.0.1", port, {
    host: "127.0.0.1",
    port: (server.address() as AddressInfo).port,
  });
  const client = connect(port, "127.0.0.1");
  client.write("hello");
  assert.equal(String((await once(client, "data"))[0]), "hello");
  relay.close();
  await once(client, "close");
  server.close();
});
