// Server-side apply in one API version and then in another: fields that a manager gives up are removed from
// the version in which the manager owned them.
import assert from "node:assert/strict";
import { test } from "node:test";
import { virtualClock } from "#base";
import { serve } from "../server.fixture.ts";

const { must, place } = await serve();
const type = "application/apply-patch+yaml";

test("an autoscaler applied in both versions by one manager", async () => {
  const namespace = await place();
  const path = (version: string): string =>
    `/apis/autoscaling/${version}/namespaces/${namespace}/horizontalpodautoscalers/a?fieldManager=m`;
  const body = (version: string, spec: object) => ({
    apiVersion: `autoscaling/${version}`,
    kind: "HorizontalPodAutoscaler",
    metadata: { name: "a" },
    spec: { maxReplicas: 1, scaleTargetRef: { kind: "Deployment", name: "d" }, ...spec },
  });
  const cpu = (averageUtilization: number) => [
    { type: "Resource", resource: { name: "cpu", target: { type: "Utilization", averageUtilization } } },
  ];
  await must(201, "PATCH", path("v2"), { type, body: body("v2", { minReplicas: 1, metrics: cpu(50) }) });
  const older = await must(200, "PATCH", path("v1"), {
    type,
    body: body("v1", { targetCPUUtilizationPercentage: 60 }),
  });
  assert.equal(older.at("spec.targetCPUUtilizationPercentage"), 60);
  assert.deepEqual(
    (older.at("metadata.managedFields") as { apiVersion: string }[]).map(({ apiVersion }) => apiVersion),
    ["autoscaling/v1"],
  );
  const bare = await must(200, "PATCH", path("v1"), { type, body: body("v1", {}) });
  assert.equal(bare.at("spec.targetCPUUtilizationPercentage"), 80, "given up, so the default is back");
  const newer = await must(200, "PATCH", path("v2"), {
    type,
    body: body("v2", { maxReplicas: 3, metrics: cpu(70) }),
  });
  assert.deepEqual([newer.at("spec.maxReplicas"), newer.at("spec.metrics")], [3, cpu(70)]);
  assert.equal(
    newer.at("metadata.annotations"),
    undefined,
    "annotations that carry fields of v2 appear only in v1",
  );
});

test("a field given up in the older version stays if the newer one cannot distinguish it from a default", async () => {
  const namespace = await place();
  const path = (version: string, manager: string): string =>
    `/apis/autoscaling/${version}/namespaces/${namespace}/horizontalpodautoscalers/a?fieldManager=${manager}&force=true`;
  const apply = (manager: string, version: string, spec: object) => {
    const body = {
      apiVersion: `autoscaling/${version}`,
      kind: "HorizontalPodAutoscaler",
      metadata: { name: "a" },
      spec: { maxReplicas: 1, scaleTargetRef: { kind: "Deployment", name: "d" }, ...spec },
    };
    return must(manager === "first" ? 201 : 200, "PATCH", path(version, manager), { type, body });
  };
  await apply("first", "v2", {});
  await apply("other", "v1", { targetCPUUtilizationPercentage: 60 });
  assert.equal((await apply("other", "v1", {})).at("spec.targetCPUUtilizationPercentage"), 60);
});

test("a priority level applied in both versions by two managers", async () => {
  const path = (version: string, manager: string): string =>
    `/apis/flowcontrol.apiserver.orch.io/${version}/prioritylevelconfigurations/mixed?fieldManager=${manager}&force=true`;
  const body = (version: string, limited: object) => ({
    apiVersion: `flowcontrol.apiserver.orch.io/${version}`,
    kind: "PriorityLevelConfiguration",
    metadata: { name: "mixed" },
    spec: { type: "Limited", limited: { limitResponse: { type: "Reject" }, ...limited } },
  });
  await must(201, "PATCH", path("v1beta2", "one"), {
    type,
    body: body("v1beta2", { assuredConcurrencyShares: 7 }),
  });
  await must(200, "PATCH", path("v1beta3", "two"), {
    type,
    body: body("v1beta3", { nominalConcurrencyShares: 7, lendablePercent: 5 }),
  });
  const left = await must(200, "PATCH", path("v1beta3", "two"), { type, body: body("v1beta3", {}) });
  assert.deepEqual(
    [left.at("spec.limited.nominalConcurrencyShares"), left.at("spec.limited.lendablePercent")],
    [7, 0],
    "the first manager still owns the shares, no manager owns lendablePercent",
  );
});

test("shares given up in another version stay, because an absent value cannot be distinguished from a default", async () => {
  const apply = (status: number, version: string, manager: string, shares: object) =>
    must(
      status,
      "PATCH",
      `/apis/flowcontrol.apiserver.orch.io/${version}/prioritylevelconfigurations/given?fieldManager=${manager}`,
      {
        type,
        body: {
          apiVersion: `flowcontrol.apiserver.orch.io/${version}`,
          kind: "PriorityLevelConfiguration",
          metadata: { name: "given" },
          spec: { type: "Limited", limited: { limitResponse: { type: "Reject" }, ...shares } },
        },
      },
    );
  await apply(201, "v1beta2", "one", { assuredConcurrencyShares: 5 });
  const left = await apply(200, "v1beta3", "one", {});
  assert.equal(left.at("spec.limited.nominalConcurrencyShares"), 5);
  await apply(200, "v1beta2", "two", { assuredConcurrencyShares: 5 });
  const refused = await apply(409, "v1beta3", "one", { nominalConcurrencyShares: null });
  assert.match(
    String(refused.at("message")),
    /conflict with "two".*: \.spec\.limited\.assuredConcurrencyShares/,
  );
});

test("a no-op apply keeps fields that its version cannot represent", async () => {
  const namespace = await place();
  const path = (version: string): string =>
    `/apis/autoscaling/${version}/namespaces/${namespace}/horizontalpodautoscalers`;
  const spec = { maxReplicas: 1, scaleTargetRef: { kind: "Deployment", name: "d" } };
  await must(201, "POST", path("v1"), { body: { metadata: { name: "a" }, spec } });
  const status = { currentReplicas: 2, desiredReplicas: 2, currentCPUUtilizationPercentage: 5 };
  const body = {
    apiVersion: "autoscaling/v1",
    kind: "HorizontalPodAutoscaler",
    metadata: { name: "a" },
    status,
  };
  for (let round = 0; round < 2; round++)
    await must(200, "PATCH", `${path("v1")}/a/status?fieldManager=m`, { type, body });
  assert.deepEqual(
    (await must(200, "GET", `${path("v2")}/a`)).at("status.currentMetrics.0.resource.current"),
    { averageUtilization: 5 },
  );
});

test("a no-op apply is not written, in any version and at any later time", async () => {
  const clock = virtualClock();
  const later = await serve({ clock });
  const namespace = await later.place();
  for (const version of ["v1", "v2"]) {
    const path = `/apis/autoscaling/${version}/namespaces/${namespace}/horizontalpodautoscalers/${version}?fieldManager=m`;
    const metadata = { name: version, labels: { a: "b" } };
    const body = {
      apiVersion: `autoscaling/${version}`,
      kind: "HorizontalPodAutoscaler",
      metadata,
      spec: { maxReplicas: 1, scaleTargetRef: { kind: "Deployment", name: "d" } },
    };
    const first = (await later.must(201, "PATCH", path, { type, body })).json;
    await clock.advance(5_000);
    assert.deepEqual((await later.must(200, "PATCH", path, { type, body })).json, first, version);
  }
});
