// Custom resources converted by a webhook: the converted objects are returned and selected.
import assert from "node:assert/strict";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { after, test } from "node:test";
import { createAuthority, signServing } from "#authn";
import { eventually } from "#kit";
import { each, serve } from "../../server.fixture.ts";

interface Converted {
  metadata: { labels?: Record<string, string> };
  spec?: unknown;
}
const year = { now: Date.now(), days: 30 };
const authority = createAuthority({ commonName: "hooks" }, year);
const serving = signServing(authority, { commonName: "hook" }, ["127.0.0.1"], year);
/** Changes that the webhook makes in addition to the version. */
let change = (_object: Converted): void => undefined;
const hook = createServer({ cert: serving.certificate, key: serving.key }, (request, response) => {
  let text = "";
  request.on("data", (chunk) => (text += String(chunk)));
  request.on("end", () => {
    const {
      kind,
      apiVersion,
      request: review,
    } = JSON.parse(text) as {
      kind: string;
      apiVersion: string;
      request: { uid: string; desiredAPIVersion: string; objects: Converted[] };
    };
    const convertedObjects = review.objects.map((object) => {
      change(object);
      return { ...object, apiVersion: review.desiredAPIVersion };
    });
    const answer = { uid: review.uid, convertedObjects, result: { status: "Success" } };
    response.end(JSON.stringify({ kind, apiVersion, response: answer }));
  });
});
await new Promise<void>((resolve) => hook.listen(0, "127.0.0.1", resolve));
after(() => {
  hook.closeAllConnections();
  hook.close();
});

const { must, ask } = await serve();
const text = { type: "string" };
const spec = { type: "object", properties: { a: text, b: { ...text, default: "b" } } };
const openAPIV3Schema = { type: "object", properties: { spec } };
const clientConfig = {
  url: `https://127.0.0.1:${(hook.address() as AddressInfo).port}/`,
  caBundle: Buffer.from(authority.certificate).toString("base64"),
};
await must(201, "POST", "/apis/apiextensions.orch.io/v1/customresourcedefinitions", {
  body: {
    metadata: { name: "things.example.com" },
    spec: {
      group: "example.com",
      scope: "Namespaced",
      names: { plural: "things", kind: "Thing" },
      conversion: { strategy: "Webhook", webhook: { conversionReviewVersions: ["v1"], clientConfig } },
      versions: ["v1", "v2"].map((name) => ({
        name,
        served: true,
        storage: name === "v1",
        schema: { openAPIV3Schema },
      })),
    },
  },
});
const at = (version: string): string => `/apis/example.com/${version}/namespaces/default/things`;
await eventually(async () => (await ask("GET", at("v2"))).status === 200);
for (const name of ["a", "b"]) {
  const metadata = { name, labels: { own: name } };
  const body = { apiVersion: "example.com/v1", kind: "Thing", metadata, spec: { a: name } };
  await must(201, "POST", at("v1"), { body });
}

test("lists and deletecollection select by the labels of the converted objects", async () => {
  change = ({ metadata }) => void (metadata.labels = { now: metadata.labels!["own"]! });
  const names = async (version: string, selector: string, method = "GET"): Promise<unknown> => {
    const path = `${at(version)}?dryRun=All&labelSelector=${selector}`;
    const { json } = await must(200, method, path);
    return each(json["items"], "metadata.name");
  };
  for (const method of ["GET", "DELETE"]) {
    assert.deepEqual(await names("v2", "now=b", method), ["b"]);
    assert.deepEqual(await names("v2", "own=b", method), []);
    assert.deepEqual(await names("v1", "own=b", method), ["b"]);
  }
});

test("a converted object has no nulls, and no defaults other than the stored ones", async () => {
  change = (object) => void (object.spec = { a: null });
  assert.deepEqual((await must(200, "GET", `${at("v2")}/a`)).at("spec"), {});
  change = (object) => void (object.spec = null);
  assert.equal((await must(200, "GET", `${at("v2")}/a`)).at("spec"), undefined);
});
