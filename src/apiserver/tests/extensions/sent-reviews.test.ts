// Content of admission reviews, compared with kube-apiserver.
import assert from "node:assert/strict";
import { test } from "node:test";
import { eventually } from "#kit";
import { recordReviews } from "./recording-webhooks.fixture.ts";

const core = "/api/v1/namespaces/default";
const template = { metadata: { labels: { a: "b" } }, spec: { containers: [{ name: "c", image: "i" }] } };
const merge = "application/merge-patch+json";

test("mutating webhooks see the sent scale, with its managed fields, validating ones the stored scale", async (t) => {
  const { must, during } = await recordReviews(t, ({ object, operation }) =>
    operation === "UPDATE" && object!["kind"] === "Scale"
      ? { patch: [{ op: "replace", path: "/spec/replicas", value: 7 }] }
      : {},
  );
  const path = "/apis/apps/v1/namespaces/default/deployments";
  const spec = { replicas: 2, selector: { matchLabels: { a: "b" } }, template };
  await must(201, "POST", `${path}?fieldManager=first`, { body: { metadata: { name: "d" }, spec } });
  const sent = {
    metadata: { name: "d", namespace: "default", labels: { mine: "1" } },
    spec: { replicas: 5 },
    status: { replicas: 9 },
  };
  let answer = await during(async () => {
    const made = await must(200, "PUT", `${path}/d/scale?fieldManager=second`, { body: sent });
    assert.equal(made.at("spec.replicas"), 7);
  });
  const [mutating, validating] = answer;
  const { managedFields, ...metadata } = mutating!.object!.metadata;
  assert.deepEqual(metadata, { ...sent.metadata, creationTimestamp: null });
  assert.deepEqual([mutating!.object!["spec"], mutating!.object!["status"]], [sent.spec, sent.status]);
  const owners = (list: unknown): unknown =>
    (list as { manager: string; subresource?: string; fieldsV1: object }[]).map((owner) => [
      owner.manager,
      owner.subresource,
      owner.fieldsV1,
    ]);
  const replicas = { "f:spec": { "f:replicas": {} } };
  assert.deepEqual(owners(managedFields), [
    [
      "second",
      "scale",
      {
        "f:metadata": { "f:labels": { ".": {}, "f:mine": {} } },
        ...replicas,
        "f:status": { "f:replicas": {} },
      },
    ],
  ]);
  assert.deepEqual(owners(mutating!.oldObject!.metadata["managedFields"]), [["first", undefined, replicas]]);
  assert.equal(validating!.hook, "validating");
  assert.deepEqual(validating!.object!["spec"], { replicas: 7 });
  assert.deepEqual(validating!.object!["status"], { replicas: 0, selector: "a=b" });
  assert.equal(validating!.object!.metadata["managedFields"], undefined);
  answer = await during(() =>
    must(409, "PUT", `${path}/d/scale`, {
      body: { ...sent, metadata: { ...sent.metadata, resourceVersion: "1" } },
    }),
  );
  assert.deepEqual(
    answer.map(({ hook }) => hook),
    ["mutating"],
  );
});

test("the reviews of a pod deletion have the effective grace period, for both writes", async (t) => {
  const { must, during } = await recordReviews(t);
  await must(201, "POST", `${core}/serviceaccounts`, { body: { metadata: { name: "default" } } });
  const pod = { metadata: { name: "p" }, spec: { ...template.spec, nodeName: "n" } };
  await must(201, "POST", `${core}/pods`, { body: pod });
  const graces = (reviews: readonly { readonly options: Record<string, unknown> | null }[]): unknown =>
    reviews.map(({ options }) => options!["gracePeriodSeconds"]);
  const dry = { dryRun: ["All"] };
  assert.deepEqual(
    graces(await during(() => must(200, "DELETE", `${core}/pods/p`, { body: dry }))),
    [30, 30],
  );
  const negative = { ...dry, gracePeriodSeconds: -5 };
  assert.deepEqual(
    graces(await during(() => must(200, "DELETE", `${core}/pods/p`, { body: negative }))),
    [1, 1],
  );
  const collected = await during(() => must(200, "DELETE", `${core}/pods`, { body: negative }));
  assert.deepEqual(graces(collected), [-5, -5]);
  await must(200, "DELETE", `${core}/pods/p`);
  assert.deepEqual(await during(() => must(200, "DELETE", `${core}/pods/p`)), []);
  const now = await during(() => must(200, "DELETE", `${core}/pods/p?gracePeriodSeconds=0`));
  assert.deepEqual(
    now.map(({ hook }) => hook),
    ["mutating", "validating", "mutating", "validating"],
  );
});

test("mutating webhooks are called before the resource version of a replacement is checked", async (t) => {
  const { must, during } = await recordReviews(t);
  const leases = "/apis/coordination.orch.io/v1/namespaces/default/leases";
  await must(201, "POST", leases, { body: { metadata: { name: "l" } } });
  for (const [status, resourceVersion] of [
    [422, undefined],
    [409, "1"],
  ] as const) {
    const body = { metadata: { name: "l", resourceVersion } };
    const reviews = await during(() => must(status, "PUT", `${leases}/l`, { body }));
    assert.deepEqual(
      reviews.map(({ hook }) => hook),
      ["mutating"],
    );
  }
});

test("the review of a new object lacks fields that are added when it is read", async (t) => {
  const { must, ask, during } = await recordReviews(t);
  const spec = { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } };
  const claims = await during(async () => {
    const body = { metadata: { name: "c" }, spec };
    const made = await must(201, "POST", `${core}/persistentvolumeclaims`, { body });
    assert.equal(made.at("status.phase"), "Pending");
  });
  assert.deepEqual(claims.at(-1)!.object!["status"], {});
  const schema = { openAPIV3Schema: { type: "object" } };
  const definition = {
    metadata: { name: "widgets.example.com" },
    spec: {
      group: "example.com",
      scope: "Namespaced",
      names: { plural: "widgets", kind: "Widget" },
      versions: [{ name: "v1", served: true, storage: true, schema }],
    },
  };
  const definitions = "/apis/apiextensions.orch.io/v1/customresourcedefinitions";
  const defined = await during(() => must(201, "POST", definitions, { body: definition }));
  const { conditions } = defined[1]!.object!["status"] as { conditions: unknown };
  assert.equal(conditions, null);
  const path = "/apis/example.com/v1/namespaces/default/widgets";
  await eventually(async () => (await ask("GET", path)).status === 200);
  const body = { apiVersion: "example.com/v1", kind: "Widget", metadata: { name: "w" } };
  const [mutating, validating] = await during(() => must(201, "POST", path, { body }));
  assert.equal("creationTimestamp" in mutating!.object!.metadata, false);
  assert.equal(typeof validating!.object!.metadata["creationTimestamp"], "string");
});

test("the options of a proxied connection have the requested path", async (t) => {
  const { ask, during } = await recordReviews(t);
  const paths: [behind: string, path: string | undefined][] = [
    ["", undefined],
    ["?path=a", undefined],
    ["/", "/"],
    ["/a/b", "/a/b"],
    ["/a/", "/a/"],
  ];
  for (const [behind, path] of paths) {
    const [review] = await during(() => ask("GET", `${core}/services/none/proxy${behind}`));
    assert.equal(review!.object!["path"], path);
  }
});

test("a status update of an API service keeps its metadata", async (t) => {
  const { must } = await recordReviews(t);
  const services = "/apis/apiregistration.orch.io/v1/apiservices";
  const spec = { group: "a.io", version: "v1", groupPriorityMinimum: 1, versionPriority: 1 };
  const metadata = { name: "v1.a.io", labels: { a: "b" } };
  const service = { name: "s", namespace: "default" };
  await must(201, "POST", services, { body: { metadata, spec: { ...spec, service } } });
  const body = { metadata: { labels: { a: "c" }, annotations: { x: "y" } } };
  const made = await must(200, "PATCH", `${services}/v1.a.io/status`, { body, type: merge });
  assert.deepEqual(made.at("metadata.labels"), { a: "b" });
  assert.equal(made.at("metadata.annotations"), undefined);
});

test("a binding is reviewed before its name is compared with that in the path", async (t) => {
  const { must, during } = await recordReviews(t);
  await must(201, "POST", `${core}/serviceaccounts`, { body: { metadata: { name: "default" } } });
  await must(201, "POST", `${core}/pods`, { body: { metadata: { name: "p" }, spec: template.spec } });
  const path = `${core}/pods/p/binding`;
  const target = { kind: "Node", name: "n" };
  const refused = await during(() => must(400, "POST", path, { body: { target } }));
  const bound = await during(() => must(201, "POST", path, { body: { metadata: { name: "p" }, target } }));
  const hooks = [refused, bound].map((reviews) => reviews.map(({ hook }) => hook));
  assert.deepEqual(hooks, [["mutating"], ["mutating", "validating"]]);
});
