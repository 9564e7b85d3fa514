// Custom resources converted by a webhook: the converted objects are returned and selected.
import assert from "node:assert/strict";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { after, test } from "node:test";
import { createAuthority, signServing } from "#authn";
import { eventually } from "#kit";
import { each, serve } from "../../server.fixture.ts";

interface Converted {
  apiVersion?: string;
  metadata: { name?: string; labels?: Record<string, string> };
  spec?: unknown;
}
interface Review {
  readonly kind: string;
  readonly apiVersion: string;
  readonly request: {
    readonly uid: string;
    readonly desiredAPIVersion: string;
    readonly objects?: Converted[];
    readonly object: Converted | null;
    readonly oldObject: Converted | null;
  };
}
const year = { now: Date.now(), days: 30 };
const authority = createAuthority({ commonName: "hooks" }, year);
const serving = signServing(authority, { commonName: "hook" }, ["127.0.0.1"], year);
/** Changes that the webhook makes in addition to the version. */
let change = (_object: Converted, _to: string): void => undefined;
/** The reviews of the mutating webhook, and its patch. */
const admitted: Review["request"][] = [];
let patch: readonly object[] = [];
const admit = ({ kind, apiVersion, request }: Review): object => {
  admitted.push(request);
  const patched = { patchType: "JSONPatch", patch: Buffer.from(JSON.stringify(patch)).toString("base64") };
  return { kind, apiVersion, response: { uid: request.uid, allowed: true, ...patched } };
};
const hook = createServer({ cert: serving.certificate, key: serving.key }, (request, response) => {
  let text = "";
  request.on("data", (chunk) => (text += String(chunk)));
  request.on("end", () => {
    const sent = JSON.parse(text) as Review;
    const { kind, apiVersion, request: review } = sent;
    if (!review.objects) return response.end(JSON.stringify(admit(sent)));
    const convertedObjects = review.objects.map((object) => {
      change(object, review.desiredAPIVersion);
      return { ...object, apiVersion: review.desiredAPIVersion };
    });
    const answer = { uid: review.uid, convertedObjects, result: { status: "Success" } };
    return response.end(JSON.stringify({ kind, apiVersion, response: answer }));
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

test("an admission webhook for another version gets converted objects, and its changes are converted back", async () => {
  const spec = { type: "object", properties: { a: text, b: text, alpha: text, n: { type: "integer" } } };
  const fields = { "example.com/v1": ["alpha", "a"], "example.com/v2": ["a", "alpha"] };
  change = (object, to) => {
    const [from, into] = fields[to as keyof typeof fields] as [string, string];
    const { [from]: value, ...rest } = (object.spec ?? {}) as Record<string, unknown>;
    object.spec = value === undefined ? rest : { ...rest, [into]: value };
  };
  const definition = "/apis/apiextensions.orch.io/v1/customresourcedefinitions/things.example.com";
  await must(200, "PATCH", definition, {
    headers: { "content-type": "application/json-patch+json" },
    body: [0, 1].map((i) => ({
      op: "add",
      path: `/spec/versions/${i}/schema/openAPIV3Schema/properties/spec`,
      value: spec,
    })),
  });
  const hooks = "/apis/admissionregistration.orch.io/v1/mutatingwebhookconfigurations";
  const rule = { apiGroups: ["example.com"], apiVersions: ["v1"], operations: ["*"], resources: ["*"] };
  const webhook = { clientConfig, rules: [rule], admissionReviewVersions: ["v1"], sideEffects: "None" };
  const body = { metadata: { name: "m" }, webhooks: [{ name: "m.example.com", ...webhook }] };
  await must(201, "POST", hooks, { body });
  const sent = { apiVersion: "example.com/v2", kind: "Thing", metadata: { name: "c" }, spec: { alpha: "1" } };
  await eventually(async () => {
    await ask("POST", `${at("v2")}?dryRun=All`, { body: sent });
    return admitted.length > 0;
  });
  admitted.length = 0;
  patch = [{ op: "add", path: "/spec/b", value: "webhook" }];
  const made = await must(201, "POST", at("v2"), { body: sent });
  assert.deepEqual(made.at("spec"), { alpha: "1", b: "webhook" });
  const replacement = { ...made.json, spec: { alpha: "2" } };
  const replaced = await must(200, "PUT", `${at("v2")}/c`, { body: replacement });
  assert.deepEqual(replaced.at("spec"), { alpha: "2", b: "webhook" });
  assert.deepEqual(
    admitted.map(({ object, oldObject }) => [object, oldObject].map((one) => one && one.spec)),
    [
      [{ a: "1" }, null],
      [{ a: "2" }, { a: "1", b: "webhook" }],
    ],
  );
  assert.equal(admitted[0]!.object!.apiVersion, "example.com/v1");
  // Integers beyond 2^53 are sent and patched exactly.
  const big = JSON.stringify({
    ...sent,
    apiVersion: "example.com/v1",
    metadata: { name: "d" },
    spec: { n: 0 },
  });
  const { text: stored } = await must(201, "POST", at("v1"), {
    body: big.replace('"n":0', '"n":9007199254740993'),
  });
  assert.match(stored, /"b":"webhook","n":9007199254740993/);
});
