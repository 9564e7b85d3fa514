import assert from "node:assert/strict";
import type { IncomingMessage, ServerResponse } from "node:http";
import { after, test } from "node:test";
import { eventually } from "#kit";
import { serve } from "../../server.fixture.ts";
import { fakeAgent } from "../virtual/connect/agent.fixture.ts";

const { must, place } = await serve();
const services = "/apis/apiregistration.orch.io/v1/apiservices";

/** Groups whose discovery is not answered, and their requests in progress. */
const hanging = new Set<string>();
const open: { readonly group: string; readonly response: ServerResponse }[] = [];
let mostOpen = 0;
/** The most requests in progress when the discovery of a group was requested. */
const openAtRequest = new Map<string, number>();

const answer = (request: IncomingMessage, response: ServerResponse): void => {
  const group = /^\/apis\/([^/]+)\/v1$/.exec(request.url ?? "")?.[1];
  if (group === undefined) return void response.writeHead(404).end();
  openAtRequest.set(group, Math.max(open.length, openAtRequest.get(group) ?? 0));
  if (!hanging.has(group)) return void response.end("{}");
  const entry = { group, response };
  open.push(entry);
  mostOpen = Math.max(mostOpen, open.length);
  response.once("close", () => open.splice(open.indexOf(entry), 1));
};

const backend = await fakeAgent({ answer });
after(() => backend[Symbol.asyncDispose]());
const namespace = await place();
await must(201, "POST", `/api/v1/namespaces/${namespace}/services`, {
  body: {
    metadata: { name: "agg" },
    spec: { type: "ExternalName", externalName: "localhost", ports: [{ port: backend.port }] },
  },
});

async function add(group: string): Promise<void> {
  const spec = {
    group,
    version: "v1",
    groupPriorityMinimum: 1000,
    versionPriority: 15,
    insecureSkipTLSVerify: true,
    service: { namespace, name: "agg", port: backend.port },
  };
  await must(201, "POST", services, { body: { metadata: { name: `v1.${group}` }, spec } });
}

const isAvailable = async (group: string): Promise<boolean> =>
  (await must(200, "GET", `${services}/v1.${group}`)).at("status.conditions.0.status") === "True";

test("servers that hang delay the check of no other, and five servers are checked at the same time", async () => {
  const added: string[] = [];
  const addHanging = async (name: string): Promise<void> => {
    const group = `${name}.example.com`;
    hanging.add(group);
    added.push(group);
    await add(group);
  };
  for (const name of ["a", "b", "c", "d"]) await addHanging(name);
  await eventually(async () => open.length === 4);
  assert.deepEqual(open.map(({ group }) => group).sort(), added);
  await add("healthy.example.com");
  await eventually(() => isAvailable("healthy.example.com"));
  await eventually(async () => (openAtRequest.get("healthy.example.com") ?? 0) > 0);
  for (const name of ["e", "f", "g"]) await addHanging(name);
  await eventually(async () => open.length === 5 && new Set(open.map(({ group }) => group)).size === 5);
  await eventually(async () => added.every((group) => openAtRequest.has(group)));
  assert.equal(mostOpen, 5);
  hanging.clear();
  for (const { response } of open) response.end("{}");
  for (const group of added) await eventually(() => isAvailable(group));
});
