// Requests are handled only as the verb that was authorized.
import assert from "node:assert/strict";
import { test } from "node:test";
import { at, serve } from "../../server.fixture.ts";

const served = await serve({ flags: ["--disable-admission-plugins=ServiceAccount"] });
const watcher = { trusted: { name: "walter", groups: ["system:authenticated"] } };

await served.must(201, "POST", "/apis/rbac.authorization.orch.io/v1/clusterroles", {
  body: {
    metadata: { name: "watcher" },
    rules: [{ apiGroups: ["*"], resources: ["*"], verbs: ["list", "watch"] }],
  },
});
await served.must(201, "POST", "/apis/rbac.authorization.orch.io/v1/clusterrolebindings", {
  body: {
    metadata: { name: "watcher" },
    roleRef: { apiGroup: "rbac.authorization.orch.io", kind: "ClusterRole", name: "watcher" },
    subjects: [{ apiGroup: "rbac.authorization.orch.io", kind: "User", name: "walter" }],
  },
});
const namespace = await served.place();
await served.must(201, "POST", `/api/v1/namespaces/${namespace}/serviceaccounts`, {
  body: { metadata: { name: "boss" } },
});
await served.must(201, "POST", `/api/v1/namespaces/${namespace}/pods`, {
  body: { metadata: { name: "web" }, spec: { containers: [{ name: "web", image: "web" }] } },
});

const escalations: [what: string, method: string, path: string, body?: object][] = [
  ["minting a token", "POST", `namespaces/${namespace}/serviceaccounts/boss/token`, { spec: {} }],
  ["binding a pod", "POST", `namespaces/${namespace}/pods/web/binding`, { target: { name: "n" } }],
  ["evicting a pod", "POST", `namespaces/${namespace}/pods/web/eviction`, { metadata: { name: "web" } }],
  ["a command in a pod", "GET", `namespaces/${namespace}/pods/web/exec?command=id`],
  ["a command in a pod by POST", "POST", `namespaces/${namespace}/pods/web/exec?command=id`],
  ["a pod's log", "GET", `namespaces/${namespace}/pods/web/log`],
  ["a node's proxy", "GET", "nodes/n/proxy/"],
  ["a service's proxy", "POST", `namespaces/${namespace}/services/web/proxy/`],
  ["replacing a pod", "PUT", `namespaces/${namespace}/pods/web`, { metadata: { name: "web" } }],
  ["patching a pod", "PATCH", `namespaces/${namespace}/pods/web`, { metadata: { labels: { a: "b" } } }],
  ["deleting a pod", "DELETE", `namespaces/${namespace}/pods/web`],
  ["deleting all pods", "DELETE", `namespaces/${namespace}/pods`],
  ["creating a pod", "POST", `namespaces/${namespace}/pods`, { metadata: { name: "more" } }],
  ["a pod's status", "PUT", `namespaces/${namespace}/pods/web/status`, { metadata: { name: "web" } }],
  ["component statuses", "GET", "componentstatuses"],
];
for (const [what, method, path, body] of escalations)
  test(`a user who may only watch does not get further through a watch path: ${what}`, async () => {
    const type = method === "PATCH" ? "application/merge-patch+json" : "application/json";
    const asking = { ...watcher, type, ...(body && { body }) };
    const { status } = await served.ask(method, `/api/v1/watch/${path}`, asking);
    assert.ok(status === 404 || status === 405, `${status}`);
    const pod = await served.must(200, "GET", `/api/v1/namespaces/${namespace}/pods/web`);
    assert.deepEqual(
      [at(pod.json, "spec.nodeName"), at(pod.json, "metadata.labels")],
      [undefined, undefined],
    );
  });

test("reviews are not made through a watch path", async () => {
  const review = { body: { spec: { nonResourceAttributes: { path: "/", verb: "get" } } }, ...watcher };
  const path = "/apis/authorization.orch.io/v1/watch/selfsubjectaccessreviews";
  assert.equal((await served.ask("POST", path, review)).status, 404);
});

test("a namespace within another is not found, and its path denotes the namespace itself", async () => {
  const inside = `/api/v1/namespaces/${namespace}/namespaces`;
  for (const [method, path] of [
    ["GET", inside],
    ["POST", inside],
    ["GET", `${inside}/default`],
  ] as const)
    assert.equal((await served.ask(method, path)).status, 404, `${method} ${path}`);
  await served.must(200, "GET", `/api/v1/namespaces/${namespace}`);
  await served.must(200, "GET", `/api/v1/namespaces/${namespace}/status`);
});

const missing: [method: string, path: string, status: number][] = [
  ["GET", "/api/v1/namespaces//configmaps", 200],
  ["GET", "/api/v1/namespaces//configmaps/x", 400],
  ["DELETE", "/api/v1/namespaces//configmaps/x", 400],
  ["DELETE", "/api/v1/namespaces//configmaps", 400],
  ["POST", "/api/v1/namespaces//configmaps", 422],
  ["PUT", "/api/v1/namespaces//configmaps", 405],
  ["PUT", "/api/v1/namespaces//configmaps/x", 400],
  ["PATCH", "/api/v1/namespaces//configmaps/x", 400],
  ["GET", "/api/v1/namespaces//nodes", 404],
  ["POST", "/api/v1/namespaces//bindings", 404],
  ["GET", "/api/v1/namespaces//", 200],
  ["GET", "/api/v1/namespaces/default/pods//log", 400],
  ["PUT", "/api/v1/namespaces/default/pods//log", 405],
  ["GET", "/api/v1/namespaces/default/pods//proxy/a", 400],
  ["POST", "/api/v1/namespaces/default/pods//binding", 400],
  ["GET", "/api/v1/namespaces/default/pods//binding", 405],
  ["PATCH", "/api/v1/namespaces/default/pods//status", 400],
  ["HEAD", "/api/v1/namespaces/default/pods//status", 405],
  ["PUT", "/api/v1/namespaces/default/replicationcontrollers//scale", 400],
  ["POST", "/api/v1/namespaces/default/replicationcontrollers//scale", 405],
  ["GET", "/api/v1/namespaces/default/configmaps//a", 404],
  ["GET", "/api/v1/namespaces/default/pods//status/a", 404],
  ["GET", "/api/v1/namespaces//status", 400],
  ["GET", "/api/v1/watch/namespaces/default/replicationcontrollers/a/scale", 404],
  ["PUT", "/apis/apps/v1/watch/namespaces/default/deployments/a/status", 404],
  ["PUT", "/api/v1/watch//pods", 404],
  ["GET", "/api/v1//", 200],
  ["GET", "/apis/apps//", 200],
  ["GET", "/apis//", 404],
  ["GET", "/apis//v1", 404],
  ["GET", "/version//", 200],
  ["GET", "/openid/v1/jwks/", 200],
  ["GET", "/api/v1/namespaces/%2e%2e/configmaps", 400],
  ["GET", "/api/v1/namespaces/default/configmaps/%zz", 400],
  ["GET", "/api/v1/namespaces/default/configmaps/%", 400],
  ["GET", "/api/v1/namespaces/default/configmaps/%ff", 404],
];
for (const [method, path, status] of missing)
  test(`${method} ${path} is answered with ${status}`, async () => {
    const body = { metadata: { name: "x" } };
    const type = method === "PATCH" ? { type: "application/merge-patch+json" } : {};
    const answer = await served.must(status, method, path, method === "GET" ? {} : { body, ...type });
    if (status === 422) assert.equal(answer.at("details.causes.0.field"), "metadata.namespace");
  });
test("a request without a namespace needs the right to list all of them", async () => {
  await served.must(403, "GET", "/api/v1/namespaces//configmaps", {
    trusted: { name: "nora", groups: ["system:authenticated"] },
  });
});

test("only the list of groups without a slash behind it has the aggregated form", async () => {
  const accept = "application/json;g=apidiscovery.orch.io;v=v2beta1;as=APIGroupDiscoveryList";
  assert.equal((await served.must(200, "GET", "/apis", { accept })).at("kind"), "APIGroupDiscoveryList");
  await served.must(406, "GET", "/apis/", { accept });
  const both = `${accept},application/json`;
  assert.equal((await served.must(200, "GET", "/apis/", { accept: both })).at("kind"), "APIGroupList");
});
test("a content encoding is ignored", async () => {
  const headers = { "content-encoding": "gzip" };
  const path = `/api/v1/namespaces/${namespace}/configmaps`;
  await served.must(201, "POST", path, { headers, body: { metadata: { name: "encoded" } } });
});
