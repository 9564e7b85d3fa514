import assert from "node:assert/strict";
import { test } from "node:test";
import { each, serve } from "../../../server.fixture.ts";

const { must, ask, place } = await serve();
const table = "application/json;as=Table;g=meta.orch.io;v=v1";
const metadata = "application/json;as=PartialObjectMetadata;g=meta.orch.io;v=v1";
const template = { metadata: { labels: { a: "b" } }, spec: { containers: [{ name: "c", image: "i" }] } };

test("a table of flow schemas is in matching order", async () => {
  const path = "/apis/flowcontrol.apiserver.orch.io/v1beta3/flowschemas";
  const ranks = each((await must(200, "GET", path, { accept: table })).at("rows"), "cells.2") as number[];
  assert.ok(ranks.length > 10);
  assert.deepEqual(
    ranks,
    ranks.toSorted((one, other) => one - other),
  );
  const names = each((await must(200, "GET", path)).at("items"), "metadata.name") as string[];
  assert.deepEqual(names, names.toSorted());
});

test("annotations maintained by the server are not in metadata-only representations", async () => {
  const path = `/apis/apps/v1/namespaces/${await place()}/daemonsets`;
  const body = {
    metadata: { name: "a", annotations: { x: "y" } },
    spec: { selector: { matchLabels: { a: "b" } }, template },
  };
  const own = "deprecated.daemonset.template.generation";
  assert.deepEqual((await must(201, "POST", path, { body })).at("metadata.annotations"), {
    [own]: "1",
    x: "y",
  });
  assert.deepEqual((await must(200, "GET", `${path}/a`, { accept: metadata })).at("metadata.annotations"), {
    x: "y",
  });
});

test("a request for a list as the metadata of an object is rejected with the actual kind", async () => {
  const path = `/api/v1/namespaces/${await place()}/configmaps`;
  const list = await must(406, "GET", path, { accept: metadata });
  assert.equal(
    list.at("message"),
    "you requested PartialObjectMetadata, but the requested object is a list (*core.ConfigMapList)",
  );
  await must(201, "POST", path, { body: { metadata: { name: "a" } } });
  const one = await must(406, "GET", `${path}/a`, { accept: metadata.replace("Metadata;", "MetadataList;") });
  assert.equal(
    one.at("message"),
    "you requested PartialObjectMetadataList, but the requested object is not a list (*core.ConfigMap)",
  );
});

test("an unsuitable representation is rejected last, after all other checks", async () => {
  const path = `/api/v1/namespaces/${await place()}/configmaps`;
  const lists = metadata.replace("Metadata;", "MetadataList;");
  const cases: [status: number, method: string, path: string, accept: string, body?: object][] = [
    [400, "GET", `${path}?limit=x`, metadata],
    [404, "GET", `${path}/none`, lists],
    [404, "PUT", `${path}/none`, lists, { metadata: { name: "none" } }],
    [404, "DELETE", `${path}/none`, lists],
    [422, "POST", path, lists, { metadata: { name: "A" } }],
    // A write whose response cannot be encoded is not executed.
    [406, "POST", path, lists, { metadata: { name: "a" } }],
    [404, "GET", `${path}/a`, metadata],
    [201, "POST", path, metadata, { metadata: { name: "a" } }],
    [409, "POST", path, lists, { metadata: { name: "a" } }],
    [406, "PUT", `${path}/a`, lists, { metadata: { name: "a" }, data: { changed: "yes" } }],
    [406, "DELETE", path, metadata],
    // The response to a deletion is a Status in any case.
    [200, "DELETE", `${path}/a`, lists],
    [404, "GET", `${path}/a`, metadata],
    [404, "GET", `${path}/none?includeObject=x`, table],
    [400, "GET", `${path}?includeObject=x`, table],
  ];
  for (const [status, method, target, accept, body] of cases)
    await must(status, method, target, { accept, ...(body && { body }) });
});

test("a scale whose response cannot be encoded changes no replicas", async () => {
  const path = `/apis/apps/v1/namespaces/${await place()}/deployments`;
  const body = { metadata: { name: "a" }, spec: { selector: { matchLabels: { a: "b" } }, template } };
  await must(201, "POST", path, { body });
  const type = "application/merge-patch+json";
  for (const accept of [metadata.replace("Metadata;", "MetadataList;"), table])
    await must(accept === table ? 400 : 406, "PATCH", `${path}/a/scale?includeObject=x`, {
      body: { spec: { replicas: 5 } },
      accept,
      type,
    });
  assert.equal((await must(200, "GET", `${path}/a`)).at("spec.replicas"), 1);
});

test("reviews have a metadata-only representation, but no table", async () => {
  const path = "/apis/authorization.orch.io/v1/selfsubjectaccessreviews";
  const body = { spec: { nonResourceAttributes: { verb: "get", path: "/" } } };
  const answer = await must(201, "POST", path, { body, accept: metadata });
  assert.equal(answer.at("kind"), "PartialObjectMetadata");
  await must(406, "POST", path, { body, accept: table });
  const list = await must(406, "POST", path, {
    body,
    accept: metadata.replace("Metadata;", "MetadataList;"),
  });
  assert.match(list.at("message") as string, /not a list \(\*authorization\.SelfSubjectAccessReview\)/);
});

test("a client that accepts only plain text gets no log", async () => {
  const path = `/api/v1/namespaces/${await place()}/pods/none/log`;
  await must(406, "GET", path, { accept: "text/plain" });
  await must(404, "GET", path, { accept: "text/plain,*/*" });
});

test("component statuses have a metadata-only representation", async () => {
  const path = "/api/v1/componentstatuses";
  const list = await must(200, "GET", path, { accept: metadata.replace("Metadata;", "MetadataList;") });
  assert.equal(list.at("items.0.kind"), "PartialObjectMetadata");
  await must(406, "GET", path, { accept: metadata });
});

test("the metadata of an autoscaler has no annotations generated for its old version", async () => {
  const path = `/apis/autoscaling/v2/namespaces/${await place()}/horizontalpodautoscalers`;
  const behavior = { scaleDown: { selectPolicy: "Disabled" } };
  const spec = { scaleTargetRef: { kind: "Deployment", name: "d" }, maxReplicas: 2, behavior };
  await must(201, "POST", path, { body: { metadata: { name: "a" }, spec } });
  const old = await must(200, "GET", `${path.replace("v2", "v1")}/a`, { accept: metadata });
  assert.equal(old.at("metadata.annotations"), undefined);
});

const untabled: [path: string, resource: string][] = [
  ["/api/v1/namespaces/default/pods/none/ephemeralcontainers", "pods"],
  ["/apis/networking.orch.io/v1/namespaces/default/networkpolicies/none/status", "networkpolicies"],
  ["/apis/certificates.orch.io/v1/certificatesigningrequests/none/approval", "certificatesigningrequests"],
  ["/apis/apiextensions.orch.io/v1/customresourcedefinitions/none/status", "customresourcedefinitions"],
  ["/apis/apiregistration.orch.io/v1/apiservices/none/status", "apiservices"],
];
for (const [path, resource] of untabled) {
  test(`${path} has no table representation`, async () => {
    assert.equal((await ask("GET", path, { accept: table })).status, 406);
    assert.equal((await ask("GET", path, { accept: `${table},application/json` })).status, 404);
    assert.equal((await ask("GET", path.replace(/none.*/, "none"), { accept: table })).status, 404, resource);
  });
}

test("finalizing a namespace has no table representation", async () => {
  const path = `/api/v1/namespaces/${await place()}/finalize`;
  assert.equal((await ask("PUT", path, { accept: table, body: {} })).status, 406);
});

test("the table of no definitions has null as its rows", async () => {
  const path = "/apis/apiextensions.orch.io/v1/customresourcedefinitions?labelSelector=a=none";
  assert.equal((await must(200, "GET", path, { accept: table })).at("rows"), null);
});

test("the manager that adds ephemeral containers does not own them", async () => {
  const namespace = await place();
  await must(201, "POST", `/api/v1/namespaces/${namespace}/serviceaccounts`, {
    body: { metadata: { name: "default" } },
  });
  const path = `/api/v1/namespaces/${namespace}/pods`;
  const before = await must(201, "POST", path, { body: { metadata: { name: "a" }, spec: template.spec } });
  const body = { spec: { ephemeralContainers: [{ name: "d", image: "i" }] } };
  const after = await must(200, "PATCH", `${path}/a/ephemeralcontainers?fieldManager=m`, {
    body,
    type: "application/strategic-merge-patch+json",
  });
  assert.equal(after.at("spec.ephemeralContainers.0.name"), "d");
  assert.deepEqual(after.at("metadata.managedFields"), before.at("metadata.managedFields"));
});
