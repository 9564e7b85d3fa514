import assert from "node:assert/strict";
import { mkdtempSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { type AddressInfo, type Server, type Socket, createServer as createPlain } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { once } from "node:events";
import { type TestContext, test } from "node:test";
import { type TLSSocket, createServer } from "node:tls";
import { createAuthority, signClient, signServing } from "#authn";
import { ApiError } from "#base";
import { dialects } from "#dialect";
import { type AgentOptions, agentsOf, dial } from "./agents.ts";

const addresses = [
  { type: "Hostname", address: "n1.example" },
  { type: "InternalIP", address: "10.0.0.1" },
  { type: "ExternalIP", address: "192.0.2.1" },
];
const options = (more: Partial<AgentOptions> = {}): AgentOptions => ({
  defaultPort: 10_250,
  dialect: dialects.orch,
  nodes: {
    get: async (name: string) =>
      name === "n1"
        ? { status: { addresses, daemonEndpoints: { nodeagentEndpoint: { Port: 1234 } } } }
        : undefined,
  } as unknown as AgentOptions["nodes"],
  authorities: "",
  certificate: "",
  key: "",
  addressTypes: ["Hostname", "InternalDNS", "InternalIP", "ExternalDNS", "ExternalIP"],
  timeoutMilliseconds: 5000,
  ...more,
});

const orders: [name: string, types: string[], host: string | undefined][] = [
  [
    "the first preferred type that the node has is used",
    ["InternalDNS", "ExternalIP", "InternalIP"],
    "192.0.2.1",
  ],
  ["the order of types is that of the option, not that of the node", ["InternalIP", "Hostname"], "10.0.0.1"],
  ["a node without a preferred address cannot be reached", ["ExternalDNS"], undefined],
];
for (const [name, addressTypes, host] of orders) {
  test(name, async () => {
    const found = agentsOf(options({ addressTypes })).locate("n1", "nodes");
    if (host === undefined)
      await assert.rejects(found, {
        code: 500,
        message: /no preferred addresses found; known addresses: \[\{\w+ [^ ]+\}/,
      });
    else assert.deepEqual(await found, { host, port: 1234 });
  });
}

test("--nodeagent-port applies to agents whose nodes do not report a port", async () => {
  const nodes = {
    get: async () => ({ status: { addresses, daemonEndpoints: {} } }),
  } as unknown as AgentOptions["nodes"];
  const { port } = await agentsOf(options({ nodes, defaultPort: 4321 })).locate("n1", "nodes");
  assert.equal(port, 4321);
});

/** Closes a server and its connections at the end of the test. */
function endWith(t: TestContext, server: Server): void {
  const open = new Set<Socket>();
  server.on("connection", (socket: Socket) => {
    open.add(socket);
    socket.on("error", () => undefined);
  });
  t.after(() => {
    server.close();
    for (const socket of open) socket.destroy();
  });
}

async function agentWithTls(t: TestContext, ca: ReturnType<typeof createAuthority>) {
  const life = { now: Date.now(), days: 1 };
  const serving = signServing(ca, { commonName: "n1" }, ["127.0.0.1"], life);
  const server = createServer({
    cert: serving.certificate,
    key: serving.key,
    ca: ca.certificate,
    requestCert: true,
    rejectUnauthorized: false,
  });
  const callers: string[] = [];
  server.on("secureConnection", (socket: TLSSocket) => {
    callers.push(socket.authorized ? String(socket.getPeerCertificate().subject.CN) : "nobody");
    socket.on("error", () => undefined);
    socket.resume();
  });
  server.on("tlsClientError", () => undefined);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  endWith(t, server);
  return { server, callers, at: { host: "127.0.0.1", port: (server.address() as AddressInfo).port } };
}

test("the server verifies the agent's certificate and presents its own; changed files are reloaded", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "orch-agents-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const life = { now: Date.now(), days: 1 };
  const [ca, other] = [
    createAuthority({ commonName: "ca" }, life),
    createAuthority({ commonName: "other" }, life),
  ];
  const file = (name: string, text: string): string => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  };
  const { server, callers, at } = await agentWithTls(t, ca);
  const reach = async (more: Partial<AgentOptions>): Promise<void> => {
    const secured = once(server, "secureConnection");
    const socket = await dial(at, agentsOf(options(more)).tls(), 60_000, new AbortController().signal);
    await secured;
    socket.destroy();
  };
  const client = signClient(ca, { commonName: "apiserver" }, life);
  const own = { certificate: file("client.crt", client.certificate), key: file("client.key", client.key) };
  await reach({ ...own, authorities: file("ca.crt", ca.certificate) });
  assert.deepEqual(callers, ["apiserver"]);
  await assert.rejects(
    reach({ ...own, authorities: file("other.crt", other.certificate) }),
    (error: unknown) => error instanceof ApiError && error.code === 503,
  );
  const agents = agentsOf(options({ authorities: file("ca.crt", other.certificate) }));
  assert.equal(agents.tls().ca, other.certificate);
  file("ca.crt", ca.certificate);
  utimesSync(join(folder, "ca.crt"), 1, 1);
  assert.equal(agents.tls().ca, ca.certificate);
});

test("a connection to an agent that does not respond times out", async (t) => {
  const silent = createPlain();
  endWith(t, silent);
  silent.listen(0, "127.0.0.1");
  await once(silent, "listening");
  const at = { host: "127.0.0.1", port: (silent.address() as AddressInfo).port };
  await assert.rejects(
    dial(at, { rejectUnauthorized: false }, 50, new AbortController().signal),
    /no connection within 50 ms/,
  );
  assert.equal(agentsOf(options()).timeoutMilliseconds, 5000);
});
