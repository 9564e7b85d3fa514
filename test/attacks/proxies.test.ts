// Proxy requests to the server's own addresses: a loopback listener counts the connections.
import assert from "node:assert/strict";
import { type AddressInfo, createServer } from "node:net";
import { after } from "node:test";
import { attacks, target } from "./target.fixture.ts";

const at = await target();
let connections = 0;
const listener = createServer((socket) => {
  connections++;
  socket.end("HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\nhidden");
});
await new Promise<void>((resolve) => listener.listen(0, "127.0.0.1", resolve));
after(() => listener.close());
const { port } = listener.address() as AddressInfo;

const addresses = [
  "127.0.0.1",
  "127.0.0.2",
  "127.1",
  "127.255.255.254",
  "0.0.0.0",
  "0",
  "2130706433",
  "0x7f000001",
  "0177.0.0.1",
  "127.0.0.1.",
  "localhost",
  "LOCALHOST",
  "localhost.",
  "::1",
  "[::1]",
  "0:0:0:0:0:0:0:1",
  "::ffff:127.0.0.1",
  "::ffff:7f00:1",
  "0:0:0:0:0:ffff:127.0.0.1",
  "::127.0.0.1",
  "::",
  "::ffff:0:0",
  "169.254.169.254",
  "::ffff:169.254.169.254",
  "fe80::1",
  "fe80::1%lo",
  "fd00:ec2::254",
];
const core = "/api/v1/namespaces/default";
let number = 0;

attacks(
  addresses.map((address) => [`a pod at ${address} cannot be reached`, address] as const),
  async (address) => {
    const name = `pod-${++number}`;
    await at.must(201, "POST", `${core}/pods`, {
      body: { metadata: { name }, spec: { nodeName: "n1", containers: [{ name: "c", image: "i" }] } },
    });
    const before = connections;
    const placed = await at.ask("PATCH", `${core}/pods/${name}/status`, {
      body: { status: { phase: "Running", podIP: address, podIPs: [{ ip: address }] } },
      type: "application/merge-patch+json",
    });
    const answer = await at.ask("GET", `${core}/pods/${name}:${port}/proxy/`);
    assert.ok(placed.status >= 400 || answer.status >= 400, `${placed.status}, then ${answer.status}`);
    assert.ok(!answer.text.includes("hidden"));
    assert.equal(connections, before);
  },
);

attacks(
  addresses.map(
    (address) => [`a node at ${address} cannot be reached through a port of its proxy`, address] as const,
  ),
  async (address) => {
    const name = `node-${++number}`;
    await at.must(201, "POST", "/api/v1/nodes", { body: { metadata: { name } } });
    const before = connections;
    await at.ask("PATCH", `/api/v1/nodes/${name}/status`, {
      body: {
        status: {
          addresses: [
            { type: "InternalIP", address },
            { type: "Hostname", address },
          ],
        },
      },
      type: "application/merge-patch+json",
    });
    const answer = await at.ask("GET", `/api/v1/nodes/http:${name}:${port}/proxy/`);
    assert.ok(
      answer.status >= 400 && !answer.text.includes("hidden"),
      `${answer.status}: ${answer.text.slice(0, 100)}`,
    );
    assert.equal(connections, before);
  },
);
