// Setting a missing list or map to an empty one is a change for some kinds, as in kube-apiserver.
import assert from "node:assert/strict";
import { test } from "node:test";
import { serve } from "../../server.fixture.ts";

const { ask, must } = await serve();
const merge = "application/merge-patch+json";
const hook = {
  name: "a.example.com",
  admissionReviewVersions: ["v1"],
  sideEffects: "None",
  clientConfig: { url: "https://127.0.0.1:1/" },
};

const core = "/api/v1/namespaces/default";
const policies = "/apis/networking.orch.io/v1/namespaces/default/networkpolicies";
const classes = "/apis/storage.orch.io/v1/storageclasses";
const hooks = "/apis/admissionregistration.orch.io/v1/validatingwebhookconfigurations";

const refused: [path: string, body: object, patch: object, field: string][] = [
  [`${core}/configmaps`, { immutable: true, data: { a: "b" } }, { binaryData: {} }, "binaryData"],
  [`${core}/secrets`, { immutable: true }, { data: {} }, "data"],
  [classes, { provisioner: "a.example.com/b" }, { parameters: {} }, "parameters"],
];
for (const [path, body, patch, field] of refused)
  test(`${JSON.stringify(patch)} changes an immutable field`, async () => {
    await must(201, "POST", path, { body: { metadata: { name: "fixed" }, ...body } });
    const answer = await ask("PATCH", `${path}/fixed`, { type: merge, body: patch });
    assert.deepEqual([answer.status, answer.causes], [422, [`Forbidden ${field}`]]);
  });

test("the data of a config map is never absent, so empty data is not a change", async () => {
  const path = `${core}/configmaps`;
  await must(201, "POST", path, { body: { metadata: { name: "empty" }, immutable: true } });
  await must(200, "PATCH", `${path}/empty`, { type: merge, body: { data: {} } });
});

const counted: [path: string, body: object, changed: object][] = [
  [policies, { spec: { podSelector: {} } }, { spec: { podSelector: { matchLabels: {} } } }],
  [policies, { spec: { podSelector: {} } }, { spec: { podSelector: { matchExpressions: [] } } }],
  [hooks, { webhooks: [hook] }, { webhooks: [{ ...hook, rules: [] }] }],
  [hooks, { webhooks: [hook] }, { webhooks: [{ ...hook, namespaceSelector: { matchLabels: {} } }] }],
];
for (const [index, [path, body, changed]] of counted.entries())
  test(`${JSON.stringify(changed)} increments the generation each time, and is not stored`, async () => {
    const name = `counted-${index}`;
    const made = await must(201, "POST", path, { body: { metadata: { name }, ...body } });
    let resourceVersion = made.at("metadata.resourceVersion");
    const put = async (content: object) => {
      const metadata = { name, resourceVersion };
      const answer = await must(200, "PUT", `${path}/${name}`, { body: { metadata, ...content } });
      resourceVersion = answer.at("metadata.resourceVersion");
      return answer;
    };
    for (const generation of [2, 3]) {
      const answer = await put(changed);
      assert.equal(answer.at("metadata.generation"), generation);
      for (const key of ["spec", "webhooks"]) assert.deepEqual(answer.json[key], made.json[key]);
    }
    assert.equal((await put(body)).at("metadata.generation"), 3);
  });
