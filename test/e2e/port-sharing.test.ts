// Addresses and ports that servers share: with their predecessor, and with each other.
import assert from "node:assert/strict";
import { once } from "node:events";
import { connect } from "node:tls";
import { test } from "node:test";
import { startServer } from "#apiserver";

/** Opens a connection and sends a request, so that it is the server that closes the connection. */
async function visit(port: number): Promise<string> {
  const socket = connect({ host: "127.0.0.1", port, rejectUnauthorized: false, ALPNProtocols: ["http/1.1"] });
  socket.on("error", () => undefined);
  socket.write("GET /livez HTTP/1.1\r\nHost: x\r\n\r\n");
  const [chunk] = (await once(socket, "data")) as [Buffer];
  return chunk.toString().split("\r\n", 1)[0]!;
}

test("several servers listen on one port when sharing is permitted, and not otherwise", async () => {
  const shared = ["--permit-port-sharing"];
  await using first = await startServer({ store: "memory", port: 0, flags: shared });
  const port = Number(new URL(first.url).port);
  const second = await startServer({ store: "memory", port, flags: shared });
  assert.equal(second.url, first.url);
  await assert.rejects(
    startServer({ store: "memory", port }),
    new RegExp(`^Error: --secure-port=${port}: another program listens on this port of `),
  );
  assert.match(await visit(port), /^HTTP\/1\.1 \d{3}/);
  await second.stop();
  for (let times = 0; times < 5; times++) assert.match(await visit(port), /^HTTP\/1\.1 \d{3}/);
});

test("a restarted server does not wait for connections that its predecessor closed", async () => {
  let port = 0;
  for (let times = 0; times < 3; times++) {
    await using server = await startServer({ store: "memory", port, flags: ["--permit-address-sharing"] });
    port = Number(new URL(server.url).port);
    assert.match(await visit(port), /^HTTP\/1\.1 \d{3}/);
  }
});

test("an address that this machine does not have is reported with its flag", async () => {
  await assert.rejects(
    startServer({ store: "memory", port: 0, flags: ["--bind-address=192.0.2.77"] }),
    /^Error: --bind-address=192\.0\.2\.77: this machine has no such address$/,
  );
});
