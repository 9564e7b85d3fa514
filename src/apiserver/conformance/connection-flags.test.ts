// Flags of outgoing connections: to node agents and to aggregated API servers.
import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer } from "node:https";
import { type AddressInfo, type Server, type Socket, createServer as createPlain } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, after, test } from "node:test";
import type { TLSSocket } from "node:tls";
import { createAuthority, signClient, signServing, writePair } from "#authn";
import { dialects } from "#dialect";
import { type Answer, type Served, serve } from "../server.fixture.ts";

const folder = mkdtempSync(join(tmpdir(), "orch-connections-"));
after(() => rmSync(folder, { recursive: true }));
const life = { now: Date.now(), days: 1 };
const authority = createAuthority({ commonName: "agents" }, life);
const serving = signServing(authority, { commonName: "n1" }, ["127.0.0.1"], life);
const file = (name: string): string => join(folder, name);
writeFileSync(file("ca.crt"), authority.certificate);
writeFileSync(file("other.crt"), createAuthority({ commonName: "others" }, life).certificate);
writePair(signClient(authority, { commonName: "the-server" }, life), file("client.crt"), file("client.key"));

/** Starts to listen; the server and its connections are closed at the end of the test. */
async function listening(t: TestContext, server: Server, where: number | string = 0): Promise<number> {
  const open = new Set<Socket>();
  server.on("connection", (socket: Socket) => {
    open.add(socket);
    socket.on("error", () => undefined);
  });
  t.after(() => {
    server.close();
    for (const socket of open) socket.destroy();
  });
  if (typeof where === "string") server.listen(where);
  else server.listen(where, "127.0.0.1");
  await once(server, "listening");
  return typeof where === "string" ? 0 : (server.address() as AddressInfo).port;
}

/** A node agent or API server that replies with the name in the caller's certificate. */
const identityServer = (answer?: (request: IncomingMessage, response: ServerResponse) => boolean): Server =>
  createServer(
    {
      cert: serving.certificate,
      key: serving.key,
      ca: authority.certificate,
      requestCert: true,
      rejectUnauthorized: false,
    },
    (request, response) => {
      if (answer?.(request, response)) return;
      const { subject } = (request.socket as TLSSocket).getPeerCertificate();
      response.end(`caller ${String(subject?.CN)}`);
    },
  );

/** Requests the log of a pod on a node whose agent listens at the port. */
async function logOf(port: number, flags: readonly string[], addresses?: object[]): Promise<Answer> {
  const { must, ask } = await serve({ flags: ["--disable-admission-plugins=ServiceAccount", ...flags] });
  await must(201, "POST", "/api/v1/nodes", {
    body: {
      metadata: { name: "n1" },
      status: {
        addresses: addresses ?? [{ type: "InternalIP", address: "127.0.0.1" }],
        daemonEndpoints: { nodeagentEndpoint: { Port: port } },
      },
    },
  });
  const spec = { nodeName: "n1", containers: [{ name: "c", image: "i" }] };
  await must(201, "POST", "/api/v1/namespaces/default/pods", { body: { metadata: { name: "p" }, spec } });
  return await ask("GET", "/api/v1/namespaces/default/pods/p/log");
}

const trust: [name: string, flags: string[], status: number, text: RegExp][] = [
  [
    "the authority of --nodeagent-certificate-authority is trusted",
    [`--nodeagent-certificate-authority=${file("ca.crt")}`],
    200,
    /^caller undefined$/,
  ],
  [
    "a CA other than that of --nodeagent-certificate-authority is not trusted",
    [`--nodeagent-certificate-authority=${file("other.crt")}`],
    500,
    /certificate/,
  ],
  [
    "--nodeagent-client-certificate and --nodeagent-client-key are presented",
    [`--nodeagent-client-certificate=${file("client.crt")}`, `--nodeagent-client-key=${file("client.key")}`],
    200,
    /^caller the-server$/,
  ],
];
for (const [name, flags, status, text] of trust)
  test(`connections to node agents: ${name}`, async (t) => {
    const answer = await logOf(await listening(t, identityServer()), flags);
    assert.equal(answer.status, status, answer.text);
    assert.match(answer.text, text);
  });

test("an agent is reached at the first address of --nodeagent-preferred-address-types", async (t) => {
  const port = await listening(t, identityServer());
  const addresses = [
    { type: "InternalIP", address: "127.0.0.9" },
    { type: "ExternalIP", address: "127.0.0.1" },
  ];
  const flags = ["--nodeagent-preferred-address-types=ExternalIP,InternalIP"];
  assert.equal((await logOf(port, flags, addresses)).status, 200);
  assert.equal((await logOf(port, [], addresses)).status, 500);
});

test("a connection to a silent agent is aborted after --nodeagent-timeout", async (t) => {
  const port = await listening(t, createPlain());
  const answer = await logOf(port, ["--nodeagent-timeout=20ms"]);
  assert.equal(answer.status, 500);
  assert.match(answer.text, /no connection within 20 ms/);
});

let proxies = 0;

/** Starts an egress proxy that rejects all connections; returns its flag and the first request line. */
async function refusingProxy(t: TestContext): Promise<{ flag: string; requestLine: Promise<string> }> {
  const [socket, config] = [file(`proxy${++proxies}.sock`), file(`egress${proxies}.json`)];
  const { promise: requestLine, resolve } = Promise.withResolvers<string>();
  const proxy = createPlain((connection) =>
    connection.once("data", (bytes) => {
      resolve(bytes.toString().split("\r\n")[0]!);
      connection.end("HTTP/1.1 403 Forbidden\r\n\r\n");
    }),
  );
  await listening(t, proxy, socket);
  const connection = { proxyProtocol: "HTTPConnect", transport: { uds: { udsName: socket } } };
  writeFileSync(
    config,
    JSON.stringify({
      apiVersion: `apiserver.${dialects.orch.wire.groupSuffix}/v1beta1`,
      kind: "EgressSelectorConfiguration",
      egressSelections: [{ name: "cluster", connection }],
    }),
  );
  return { flag: `--egress-selector-config-file=${config}`, requestLine };
}

test("nodes are reached through the proxy of --egress-selector-config-file", async (t) => {
  const { flag, requestLine } = await refusingProxy(t);
  const answer = await logOf(4321, [flag]);
  assert.equal(await requestLine, "CONNECT 127.0.0.1:4321 HTTP/1.1");
  assert.equal(answer.status, 500);
});

for (const [flags, host] of [
  [[], "10.0.0.77:443"],
  [["--enable-aggregator-routing"], "10.1.0.7:8443"],
] as const)
  test(`an aggregated server is reached at ${host} for ${flags[0] ?? "no flag"}`, async (t) => {
    const { flag, requestLine } = await refusingProxy(t);
    const { must } = await serve({ flags: [flag, ...flags] });
    await register(must, { clusterIP: "10.0.0.77", ports: [{ name: "api", port: 443 }] });
    assert.equal(await requestLine, `CONNECT ${host} HTTP/1.1`);
  });

const services = "/apis/apiregistration.orch.io/v1/apiservices";

/** Registers an API service that is backed by the service. */
async function register(must: Served["must"], service: object, port = 443): Promise<void> {
  const core = "/api/v1/namespaces/default";
  await must(201, "POST", `${core}/services`, { body: { metadata: { name: "agg" }, spec: service } });
  const subsets = [{ addresses: [{ ip: "10.1.0.7" }], ports: [{ name: "api", port: 8443 }] }];
  await must(201, "POST", `${core}/endpoints`, { body: { metadata: { name: "agg" }, subsets } });
  const spec = {
    group: "agg.example.com",
    version: "v1",
    groupPriorityMinimum: 1000,
    versionPriority: 15,
    insecureSkipTLSVerify: true,
    service: { namespace: "default", name: "agg", port },
  };
  await must(201, "POST", services, { body: { metadata: { name: "v1.agg.example.com" }, spec } });
}

/** Starts a server with an aggregated API server, and waits until that is available. */
async function aggregated(t: TestContext, flags: readonly string[]): Promise<Served> {
  const port = await listening(t, identityServer(discovery));
  const served = await serve({ flags });
  const { must } = served;
  await register(must, { type: "ExternalName", externalName: "localhost", ports: [{ port }] }, port);
  const available = async (): Promise<boolean> =>
    (await must(200, "GET", `${services}/v1.agg.example.com`)).at("status.conditions.0.status") === "True";
  while (!(await available())) await new Promise((resolve) => setTimeout(resolve, 5));
  return served;
}
const discovery = (request: IncomingMessage, response: ServerResponse): boolean => {
  if (request.url === "/apis/agg.example.com/v1")
    response.end(JSON.stringify({ kind: "APIResourceList", resources: [] }));
  else if (request.url!.endsWith("/away")) response.writeHead(302, { location: "https://x.example/" }).end();
  else return false;
  return true;
};

test("the certificate of --proxy-client-cert-file and --proxy-client-key-file is presented to aggregated servers", async (t) => {
  const { must } = await aggregated(t, [
    `--proxy-client-cert-file=${file("client.crt")}`,
    `--proxy-client-key-file=${file("client.key")}`,
  ]);
  const answer = await must(200, "GET", "/apis/agg.example.com/v1/things");
  assert.equal(answer.text, "caller the-server");
});

for (const [flags, status] of [
  [[], 502],
  [["--aggregator-reject-forwarding-redirect=false"], 302],
] as const)
  test(`a redirect of an aggregated server is answered with ${status} for ${flags[0] ?? "no flag"}`, async (t) => {
    const { must } = await aggregated(t, flags);
    const answer = await must(status, "GET", "/apis/agg.example.com/v1/away");
    assert.equal(answer.headers["location"], status === 302 ? "https://x.example/" : undefined);
  });
