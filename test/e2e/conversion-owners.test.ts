// Field ownership across a conversion webhook: the owner of a field in one version loses it to a change in
// another one.
import assert from "node:assert/strict";
import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { after, test } from "node:test";
import { startServer } from "orch/apiserver";
import { selfSigned } from "#authn";

type Json = Record<string, unknown>;
interface Thing extends Json {
  apiVersion: string;
  spec: { size?: string; amount?: string };
}

/** Converts an object: `size` in v1 is `amount` in v2. */
function converted({ spec, ...rest }: Thing, apiVersion: string): Thing {
  const value = spec.size ?? spec.amount;
  if (value === undefined) return { ...rest, apiVersion, spec: {} };
  return { ...rest, apiVersion, spec: apiVersion.endsWith("v2") ? { amount: value } : { size: value } };
}

const pair = selfSigned({ commonName: "webhook" }, ["127.0.0.1"], { now: Date.now(), days: 1 });
const webhook = createServer(
  { cert: pair.certificate, key: pair.key },
  (request, response) => void answer(request, response),
);

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const review = JSON.parse(Buffer.concat(chunks).toString()) as {
    apiVersion: string;
    kind: string;
    request: { uid: string; desiredAPIVersion: string; objects: Thing[] };
  };
  const { uid, desiredAPIVersion, objects } = review.request;
  const convertedObjects = objects.map((object) => converted(object, desiredAPIVersion));
  const { apiVersion, kind } = review;
  response.setHeader("content-type", "application/json");
  response.end(
    JSON.stringify({ apiVersion, kind, response: { uid, result: { status: "Success" }, convertedObjects } }),
  );
}

webhook.listen(0, "127.0.0.1");
await once(webhook, "listening");
const server = await startServer({ store: "memory" });
after(async () => {
  await server.stop();
  webhook.closeAllConnections();
  webhook.close();
});

async function ask(
  method: string,
  path: string,
  body?: Json,
  type = "application/json",
): Promise<[number, Json]> {
  const { status, chunks } = await server.inject({
    method,
    path,
    ...(body && { body: Buffer.from(JSON.stringify(body)), headers: { "content-type": type } }),
  });
  const parts: Uint8Array[] = [];
  for await (const chunk of chunks) parts.push(chunk);
  return [status, JSON.parse(Buffer.concat(parts).toString()) as Json];
}

async function define(): Promise<void> {
  const text = { type: "string" };
  const version = (name: string, field: string): Json => ({
    name,
    served: true,
    storage: name === "v1",
    schema: {
      openAPIV3Schema: {
        type: "object",
        properties: { spec: { type: "object", properties: { [field]: text, note: text } } },
      },
    },
  });
  const { port } = webhook.address() as AddressInfo;
  const clientConfig = {
    url: `https://127.0.0.1:${port}/`,
    caBundle: Buffer.from(pair.certificate).toString("base64"),
  };
  const [status] = await ask("POST", "/apis/apiextensions.orch.io/v1/customresourcedefinitions", {
    metadata: { name: "things.example.com" },
    spec: {
      group: "example.com",
      scope: "Namespaced",
      names: { plural: "things", kind: "Thing" },
      versions: [version("v1", "size"), version("v2", "amount")],
      conversion: { strategy: "Webhook", webhook: { clientConfig, conversionReviewVersions: ["v1"] } },
    },
  });
  assert.equal(status, 201);
  while ((await ask("GET", "/apis/example.com/v2"))[0] !== 200) await new Promise(setImmediate);
}

const ownersIn = (object: Json): Json =>
  Object.fromEntries(
    ((object["metadata"] as { managedFields?: Json[] }).managedFields ?? []).map((entry) => [
      String(entry["manager"]),
      { version: entry["apiVersion"], fields: (entry["fieldsV1"] as Json)["f:spec"] },
    ]),
  );

test("a change in one version takes the field from its owner in another one", async () => {
  await define();
  const path = (version: string): string => `/apis/example.com/${version}/namespaces/default/things/a`;
  const applied = {
    apiVersion: "example.com/v1",
    kind: "Thing",
    metadata: { name: "a" },
    spec: { size: "1" },
  };
  const apply = "application/apply-patch+yaml";
  const [made, object] = await ask("PATCH", `${path("v1")}?fieldManager=first`, applied, apply);
  assert.equal(made, 201, JSON.stringify(object));
  assert.deepEqual(ownersIn(object), { first: { version: "example.com/v1", fields: { "f:size": {} } } });
  const [changed, next] = await ask(
    "PATCH",
    `${path("v2")}?fieldManager=second`,
    { spec: { amount: "2" } },
    "application/merge-patch+json",
  );
  assert.equal(changed, 200, JSON.stringify(next));
  assert.deepEqual(ownersIn(next), { second: { version: "example.com/v2", fields: { "f:amount": {} } } });
  const [conflict] = await ask("PATCH", `${path("v1")}?fieldManager=first`, applied, apply);
  assert.equal(conflict, 409);
  const [forced, last] = await ask("PATCH", `${path("v1")}?fieldManager=first&force=true`, applied, apply);
  assert.equal(forced, 200);
  assert.deepEqual(ownersIn(last), { first: { version: "example.com/v1", fields: { "f:size": {} } } });
});
