import assert from "node:assert/strict";
import { test } from "node:test";
import { virtualClock } from "#base";
import { at, serve } from "../../server.fixture.ts";

const names = [
  "HPAScaleToZero",
  "MaxUnavailableStatefulSet",
  "RecoverVolumeExpansionFailure",
  "WatchFromStorageWithoutResourceVersion",
];
const clock = virtualClock();
const off = await serve({
  clock,
  flags: [
    "--feature-gates=APISelfSubjectReview=false,LegacyServiceAccountTokenTracking=false,OpenAPIEnums=false,RetroactiveDefaultStorageClass=false",
    "--runtime-config=authentication.orch.io/v1beta1=true",
  ],
});
const on = await serve({
  clock,
  flags: [
    `--feature-gates=${names.map((name) => `${name}=true`).join(",")}`,
    "--runtime-config=authentication.orch.io/v1beta1=true",
  ],
});
const core = "/api/v1/namespaces/default";

test("autoscalers may scale to zero with HPAScaleToZero", async () => {
  const path = "/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers";
  const external = { metric: { name: "q" }, target: { type: "Value", value: "1" } };
  const scaler = (minReplicas: number) => ({
    metadata: { name: "a" },
    spec: {
      minReplicas,
      maxReplicas: 2,
      scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "d" },
      metrics: [{ type: "External", external }],
    },
  });
  const refused = await off.must(422, "POST", path, { body: scaler(0) });
  assert.match(
    String(refused.at("message")),
    /minReplicas: Invalid value: 0: must be greater than or equal to 1$/,
  );
  for (const server of [on, off]) await server.must(201, "POST", path, { body: scaler(1) });
  await off.must(422, "PUT", `${path}/a`, { body: scaler(0) });
  await on.must(200, "PUT", `${path}/a`, { body: scaler(0) });
  await on.must(422, "PUT", `${path}/a`, { body: scaler(-1) });
});

test("stateful sets accept maxUnavailable with MaxUnavailableStatefulSet", async () => {
  const path = "/apis/apps/v1/namespaces/default/statefulsets";
  const set = (name: string, updateStrategy?: object) => ({
    metadata: { name },
    spec: {
      serviceName: "a",
      selector: { matchLabels: { a: "b" } },
      template: { metadata: { labels: { a: "b" } }, spec: { containers: [{ name: "c", image: "i" }] } },
      updateStrategy,
    },
  });
  const made = async (server: typeof on, name: string, strategy?: object) =>
    (await server.must(201, "POST", path, { body: set(name, strategy) })).at(
      "spec.updateStrategy.rollingUpdate",
    );
  const half = { type: "RollingUpdate", rollingUpdate: { maxUnavailable: "50%" } };
  assert.deepEqual(await made(on, "usual"), { partition: 0, maxUnavailable: 1 });
  assert.deepEqual(await made(on, "half", half), { partition: 0, maxUnavailable: "50%" });
  assert.deepEqual(await made(off, "usual"), { partition: 0 });
  assert.deepEqual(await made(off, "half", half), { partition: 0 });
  const none = { ...half, rollingUpdate: { maxUnavailable: 0 } };
  await on.must(422, "POST", path, { body: set("none", none) });
});

const claims = `${core}/persistentvolumeclaims`;
const claim = (name: string, storage: string, more: object = {}) => ({
  metadata: { name },
  spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage } }, ...more },
});

test("a claim may reduce its request with RecoverVolumeExpansionFailure, but not below its capacity", async () => {
  const classes = "/apis/storage.orch.io/v1/storageclasses";
  const spec = { storageClassName: "s" };
  for (const server of [on, off]) {
    await server.must(201, "POST", classes, {
      body: { metadata: { name: "s" }, provisioner: "p", allowVolumeExpansion: true },
    });
    await server.must(201, "POST", claims, { body: claim("grows", "2Gi", spec) });
    const status = {
      phase: "Bound",
      capacity: { storage: "2Gi" },
      allocatedResources: { storage: "4Gi" },
      resizeStatus: "NodeExpansionFailed",
    };
    const type = "application/merge-patch+json";
    const updated = await server.must(200, "PATCH", `${claims}/grows/status`, { type, body: { status } });
    assert.equal(updated.at("status.resizeStatus"), server === on ? "NodeExpansionFailed" : undefined);
    assert.deepEqual(updated.at("status.allocatedResources"), server === on ? { storage: "4Gi" } : undefined);
    const odd = { allocatedResources: { cpu: "1", storage: "-1" }, resizeStatus: "Odd" };
    const answer = await server.ask("PATCH", `${claims}/grows/status`, { type, body: { status: odd } });
    assert.deepEqual(
      answer.causes.toSorted(),
      server === on
        ? [
            "Invalid status.allocatedResources[storage]",
            "NotSupported status.allocatedResources",
            "NotSupported status.resizeStatus",
          ]
        : [],
    );
    await server.must(200, "PUT", `${claims}/grows`, { body: claim("grows", "4Gi", spec) });
  }
  const text = async (status: number, server: typeof on, storage: string) =>
    String(
      (await server.must(status, "PUT", `${claims}/grows`, { body: claim("grows", storage, spec) })).at(
        "message",
      ),
    );
  assert.match(await text(422, off, "3Gi"), /Forbidden: field can not be less than previous value$/);
  await text(200, on, "3Gi");
  assert.match(await text(422, on, "2Gi"), /Forbidden: field can not be less than status\.capacity$/);
});

test("the class of a claim cannot be set later without RetroactiveDefaultStorageClass", async () => {
  for (const server of [on, off]) {
    await server.must(201, "POST", claims, { body: claim("plain", "1Gi") });
    const body = claim("plain", "1Gi", { storageClassName: "s" });
    await server.must(server === on ? 200 : 422, "PUT", `${claims}/plain`, { body });
  }
});

test("self subject reviews are not served without APISelfSubjectReview", async () => {
  const path = "/apis/authentication.orch.io/v1beta1";
  await on.must(201, "POST", `${path}/selfsubjectreviews`, { body: {} });
  await off.must(404, "POST", `${path}/selfsubjectreviews`, { body: {} });
  await off.must(404, "GET", path);
});

test("enum values are published unless OpenAPIEnums is off", async () => {
  const found = async (server: typeof on): Promise<unknown> => {
    const document = await server.must(200, "GET", "/openapi/v3/api/v1");
    const schemas = document.at("components.schemas") as Record<string, unknown>;
    return at(schemas["io.orch.api.core.v1.Container"], "properties.imagePullPolicy.enum");
  };
  assert.deepEqual(await found(on), ["Always", "IfNotPresent", "Never"]);
  assert.equal(await found(off), undefined);
  const second = (server: typeof on) => server.must(200, "GET", "/openapi/v2");
  assert.match((await second(on)).text, /"enum":\[/);
  assert.doesNotMatch((await second(off)).text, /"enum":\[/);
});

test("the start of token tracking is published with LegacyServiceAccountTokenTracking", async () => {
  const path = "/api/v1/namespaces/orch-system/configmaps";
  const trackingPath = `${path}/orch-apiserver-legacy-service-account-token-tracking`;
  assert.match(String((await on.must(200, "GET", trackingPath)).at("data.since")), /^\d{4}-\d{2}-\d{2}$/);
  await off.must(404, "GET", trackingPath);
});

test("a watch without a resource version gets no bookmarks with WatchFromStorageWithoutResourceVersion", async () => {
  for (const server of [on, off]) {
    const path = `/api/v1/namespaces/${await server.place()}/configmaps`;
    await server.must(201, "POST", path, { body: { metadata: { name: "a" } } });
    const types = async (more: string): Promise<unknown[]> => {
      const query = `watch=1&allowWatchBookmarks=1&timeoutSeconds=150&fieldSelector=metadata.name=a${more}`;
      const frames = server.watch(`${path}?${query}`);
      const first = await frames.next();
      await server.must(201, "POST", path, { body: { metadata: { generateName: "b" } } });
      await clock.advance(160_000);
      return [...first, ...(await frames.rest())].map(({ type }) => type);
    };
    assert.deepEqual(await types(""), server === on ? ["ADDED"] : ["ADDED", "BOOKMARK"]);
    assert.deepEqual(await types("&resourceVersion=0"), ["ADDED", "BOOKMARK"]);
  }
});
