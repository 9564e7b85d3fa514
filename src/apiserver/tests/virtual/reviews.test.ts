import assert from "node:assert/strict";
import { test } from "node:test";
import { each, serve } from "../../server.fixture.ts";

const group = "/apis/authentication.orch.io";
const trusted = { name: "zed", uid: "u-1", groups: ["g", "system:authenticated"] };

test("self subject reviews are served in the enabled versions", async () => {
  const { must } = await serve({
    flags: ["--runtime-config=authentication.orch.io/v1alpha1=true,api/beta=true"],
  });
  assert.deepEqual(each((await must(200, "GET", group)).at("versions"), "version"), [
    "v1",
    "v1beta1",
    "v1alpha1",
  ]);
  for (const version of ["v1beta1", "v1alpha1"]) {
    assert.deepEqual(each((await must(200, "GET", `${group}/${version}`)).at("resources"), "name"), [
      "selfsubjectreviews",
    ]);
    const answer = await must(201, "POST", `${group}/${version}/selfsubjectreviews`, {
      body: { metadata: { name: "mine", labels: { a: "b" } } },
      trusted,
    });
    assert.equal(answer.at("apiVersion"), `authentication.orch.io/${version}`);
    assert.deepEqual(Object.keys(answer.at("metadata") as object), ["creationTimestamp"]);
    assert.deepEqual(answer.at("status.userInfo"), {
      username: "zed",
      uid: "u-1",
      groups: ["g", "system:authenticated"],
    });
    assert.ok((await must(200, "GET", `/openapi/v3/apis/authentication.orch.io/${version}`)).at(`paths`));
  }
});

const access = "/apis/authorization.orch.io/v1/subjectaccessreviews";
const spec = { user: "u", resourceAttributes: { verb: "get", resource: "pods" } };
const sentMetadata: [name: string, metadata: object, status: number][] = [
  ["a namespace is ignored", { namespace: "x" }, 201],
  [
    "fields set by the server are ignored",
    { uid: "u", creationTimestamp: "2024-01-01T00:00:00Z", deletionGracePeriodSeconds: 1 },
    201,
  ],
  ["a name is rejected", { name: "x" }, 422],
  ["labels are rejected", { labels: { a: "b" } }, 422],
];
for (const [name, metadata, status] of sentMetadata) {
  test(`in an access review, ${name}`, async () => {
    const { must } = await serve();
    const answer = await must(status, "POST", access, { body: { metadata, spec } });
    if (status === 201)
      assert.deepEqual(Object.keys(answer.at("metadata") as object), ["creationTimestamp", "managedFields"]);
  });
}

test("self subject reviews are not served by default", async () => {
  const { must } = await serve();
  await must(404, "POST", `${group}/v1beta1/selfsubjectreviews`, { body: {} });
});

test("webhooks receive the name of a review, in each version", async () => {
  const { must, ask } = await serve({
    flags: [
      "--runtime-config=authentication.orch.io/v1alpha1=true,authentication.orch.io/v1beta1=true",
      "--feature-gates=AdmissionWebhookMatchConditions=true",
    ],
  });
  const rule = { apiGroups: ["*"], apiVersions: ["v1alpha1"], resources: ["selfsubjectreviews"] };
  const webhook = {
    name: "nobody.example.com",
    clientConfig: { url: "https://127.0.0.1:1/" },
    rules: [{ ...rule, operations: ["CREATE"] }],
    matchConditions: [{ name: "mine", expression: "request.name == 'mine'" }],
    admissionReviewVersions: ["v1"],
    sideEffects: "None",
  };
  const hooks = "/apis/admissionregistration.orch.io/v1/validatingwebhookconfigurations";
  await must(201, "POST", hooks, { body: { metadata: { name: "h" }, webhooks: [webhook] } });
  for (const version of ["v1alpha1", "v1beta1"]) {
    const path = `${group}/${version}/selfsubjectreviews`;
    const status = async (name: string): Promise<number> =>
      (await ask("POST", path, { body: { metadata: { name } }, trusted })).status;
    for (let round = 0; (await status("mine")) !== 500; round++) assert.ok(round < 2000, version);
    assert.equal(await status("other"), 201);
  }
});
