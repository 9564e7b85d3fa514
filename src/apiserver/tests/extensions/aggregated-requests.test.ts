// Requests for aggregated servers: what is forwarded, how long they may take, and servers that are replaced.
import assert from "node:assert/strict";
import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import { get } from "node:https";
import { text } from "node:stream/consumers";
import { test } from "node:test";
import { virtualClock } from "#base";
import { eventually } from "#kit";
import { type Json, serve } from "../../server.fixture.ts";
import { type FakeAgent, type FakeAgentOptions, fakeAgent } from "../virtual/connect/agent.fixture.ts";
import { upgraded } from "../virtual/connect/cluster.fixture.ts";

const clock = virtualClock(Date.now());
const { server, must, ask, place } = await serve({ clock, port: 0 });
const services = "/apis/apiregistration.orch.io/v1/apiservices";
const trusted = { name: "ann", groups: ["system:masters"] };
/** The resources of the servers whose description has been fetched: this is its last document. */
const described = new Set<string>();
const isOwnRequest = ({ headers }: IncomingMessage): boolean =>
  String(headers["x-remote-user"]).startsWith("system:");

/** Starts a server of one resource; `answer` responds to requests of clients. */
async function backendOf(
  resource: string,
  answer: (request: IncomingMessage, response: ServerResponse) => void,
  upgrade?: FakeAgentOptions["upgrade"],
): Promise<FakeAgent> {
  const named = { name: resource, singularName: "", namespaced: true, kind: "Thing", verbs: ["get"] };
  return await fakeAgent({
    ...(upgrade && { upgrade }),
    answer: (request, response) => {
      if (!isOwnRequest(request)) return answer(request, response);
      if (request.url === "/apis") response.once("close", () => described.add(resource));
      if (!request.url!.startsWith("/apis/")) return void response.writeHead(404).end();
      response.end(JSON.stringify({ kind: "APIResourceList", resources: [named] }));
    },
  });
}

async function register(group: string, { port }: FakeAgent): Promise<void> {
  const namespace = await place();
  const external = { type: "ExternalName", externalName: "localhost", ports: [{ port }] };
  const body = { metadata: { name: "agg" }, spec: external };
  await must(201, "POST", `/api/v1/namespaces/${namespace}/services`, { body });
  const priorities = { groupPriorityMinimum: 1000, versionPriority: 15 };
  const service = { namespace, name: "agg", port };
  const spec = { group, version: "v1", ...priorities, insecureSkipTLSVerify: true, service };
  await must(201, "POST", services, { body: { metadata: { name: `v1.${group}` }, spec } });
  const state = "status.conditions.0.status";
  await eventually(async () => (await must(200, "GET", `${services}/v1.${group}`)).at(state) === "True");
}

test("the audit ID and bodies of all methods are forwarded, however they are encoded", async () => {
  await using echo = await backendOf("things", (request, response) => {
    let body = "";
    request.on("data", (chunk) => (body += String(chunk)));
    const { "audit-id": id, "content-encoding": encoding } = request.headers;
    request.on("end", () => response.end(JSON.stringify({ id, encoding, body })));
  });
  await register("echo.example.com", echo);
  for (const method of ["GET", "POST", "DELETE"]) {
    const headers = { "audit-id": `id-${method}`, "content-encoding": "gzip" };
    const answer = await must(200, method, "/apis/echo.example.com/v1/things", {
      body: "packed",
      headers,
      trusted,
    });
    assert.deepEqual(answer.json, { id: `id-${method}`, encoding: "gzip", body: "packed" });
  }
});

test("trailers are relayed", async () => {
  await using trailing = await backendOf("things", (_request, response) => {
    response.writeHead(200, { trailer: "X-Checksum" }).write("body");
    response.addTrailers({ "X-Checksum": "1" });
    response.end();
  });
  await register("trailing.example.com", trailing);
  const user = server.clientConfig.users?.[0]?.user as { token: string };
  const request = get(`${server.url}/apis/trailing.example.com/v1/things`, {
    headers: { authorization: `Bearer ${user.token}` },
    rejectUnauthorized: false,
  });
  const [response] = (await once(request, "response")) as [IncomingMessage];
  assert.equal(await text(response), "body");
  assert.deepEqual([response.headers.trailer, response.trailers], ["X-Checksum", { "x-checksum": "1" }]);
});

const upgrades: [name: string, answer: string, message: RegExp][] = [
  ["succeeds without an upgrade", "HTTP/1.1 200 OK\r\n\r\n", /invalid upgrade response: status code 200/],
  ["is not HTTP", "hello\r\n\r\n", /the answer is not HTTP/],
];
for (const [at, [name, answer, message]] of upgrades.entries())
  test(`an upgrade whose response ${name} is a 503`, async () => {
    await using backend = await backendOf(
      "things",
      (_request, response) => void response.end(),
      (_request, socket) => socket.end(answer),
    );
    await register(`upgrade${at}.example.com`, backend);
    const response = await upgraded(server, `/apis/upgrade${at}.example.com/v1/things`, [], "");
    assert.match(response, /^HTTP\/1.1 503 Service Unavailable\r\n/);
    assert.match(response, /content-type: text\/plain/);
    assert.match(response, message);
  });

test("discovery of a server that hangs fails after five seconds, and other responses end at the deadline", async () => {
  const open = new Set<string>();
  await using hanging = await backendOf("things", ({ url = "" }, response) => {
    open.add(url);
    response.once("close", () => open.delete(url));
    if (url.endsWith("/begun")) response.writeHead(200).write("begun");
  });
  await register("hanging.example.com", hanging);
  const base = "/apis/hanging.example.com/v1";
  const ended = async (path: string): Promise<readonly [result: unknown, seconds: number]> => {
    const began = clock.monotonic();
    let result: unknown;
    void ask("GET", path, { trusted }).then(
      ({ status }) => (result = status),
      () => (result = "closed"),
    );
    await eventually(async () => open.has(path));
    await eventually(async () => result !== undefined && !open.has(path), { clock });
    return [result, Math.floor((clock.monotonic() - began) / 1000)];
  };
  const [status, seconds] = await ended(base);
  assert.equal(status, 503);
  assert.ok(seconds >= 5 && seconds < 30, `${seconds} s`);
  const [, secondsOfBody] = await ended(`${base}/things/begun`);
  assert.ok(secondsOfBody >= 60 && secondsOfBody < 120, `${secondsOfBody} s`);
});

test("an API service that points to another server is checked and described at once", async () => {
  await using first = await backendOf("devices", (_request, response) => void response.end());
  await using second = await backendOf("gadgets", (_request, response) => void response.end());
  await register("moving.example.com", first);
  const resources = async (): Promise<unknown> => {
    const accept = "application/json;g=apidiscovery.orch.io;v=v2beta1;as=APIGroupDiscoveryList";
    const groups = (await must(200, "GET", "/apis", { accept })).at("items") as Json[];
    const group = groups.find(({ metadata }) => (metadata as Json)["name"] === "moving.example.com");
    return JSON.stringify(group?.["versions"]);
  };
  await eventually(async () => described.has("devices") && String(await resources()).includes('"devices"'));
  // By then the check of the first server has ended.
  await register("gadgets.example.com", second);
  await must(200, "PATCH", `${services}/v1.moving.example.com`, {
    type: "application/merge-patch+json",
    body: { spec: { service: { port: second.port } } },
  });
  // The clock stands still: what is due later does not happen.
  await eventually(async () => String(await resources()).includes('"gadgets"'));
});
