// Patches that set another version of the object's kind.
import assert from "node:assert/strict";
import { test } from "node:test";
import { serve } from "../../server.fixture.ts";

const { must, place } = await serve();
const merge = "application/merge-patch+json";

const autoscaler = {
  metadata: { name: "h" },
  spec: {
    maxReplicas: 3,
    scaleTargetRef: { kind: "Deployment", name: "d" },
    metrics: [
      {
        type: "Resource",
        resource: { name: "cpu", target: { type: "Utilization", averageUtilization: 50 } },
      },
    ],
  },
};
const versions: [apiVersion: string, status: number, at: "v1" | "v2", target: number][] = [
  ["autoscaling/v1", 200, "v2", 80],
  ["autoscaling/v2", 200, "v2", 50],
  ["autoscaling/v2", 200, "v1", 80],
  ["autoscaling/v2beta2", 200, "v2", 50],
  ["autoscaling/v3", 422, "v2", 50],
  ["apps/v1", 422, "v2", 50],
];
for (const [apiVersion, status, version, target] of versions)
  test(`a patch to version ${apiVersion} through ${version} is answered with ${status}`, async () => {
    const inNamespace = `namespaces/${await place()}/horizontalpodautoscalers`;
    await must(201, "POST", `/apis/autoscaling/v2/${inNamespace}`, { body: autoscaler });
    const path = `/apis/autoscaling/${version}/${inNamespace}/h`;
    const patched = await must(status, "PATCH", path, { type: merge, body: { apiVersion } });
    if (status === 200) assert.equal(patched.at("apiVersion"), `autoscaling/${version}`);
    const stored = await must(200, "GET", `/apis/autoscaling/v2/${inNamespace}/h`);
    assert.equal(stored.at("spec.metrics.0.resource.target.averageUtilization"), target);
  });

test("a patch may name a version that kube-apiserver knows and no longer serves", async () => {
  const path = `/apis/rbac.authorization.orch.io/v1/namespaces/${await place()}/roles`;
  await must(201, "POST", path, { body: { metadata: { name: "r" } } });
  const body = { apiVersion: "rbac.authorization.orch.io/v1beta1", metadata: { labels: { a: "b" } } };
  const patched = await must(200, "PATCH", `${path}/r`, { type: merge, body });
  assert.equal(patched.at("apiVersion"), "rbac.authorization.orch.io/v1");
  assert.equal(patched.at("metadata.labels.a"), "b");
  const later = { apiVersion: "rbac.authorization.orch.io/v2" };
  await must(422, "PATCH", `${path}/r`, { type: merge, body: later });
});
