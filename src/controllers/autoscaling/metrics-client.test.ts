import assert from "node:assert/strict";
import { test } from "node:test";
import { virtualClock } from "#base";
import type { ApiClient } from "#client";
import { dialects } from "#dialect";
import { metricsClient } from "./metrics-client.ts";

const served: Readonly<Record<string, string>> = {
  Ingress: "networking.orch.io/v1 ingresses",
  Service: "v1 services",
};

const group = "/apis/custom.metrics.orch.io";
const servedIn = (...versions: readonly string[]) => ({
  versions: versions.map((version) => ({ version })),
  preferredVersion: { version: versions[0] },
});

/** Returns a metrics client over one response, and the paths it requested apart from that of the group. */
function clientOver(response: object, customGroup: object = servedIn("v1beta1")) {
  const paths: string[] = [];
  const clock = virtualClock(0);
  const client = {
    dialect: dialects.orch,
    request: (_method: string, path: string) => {
      if (path === group) return Promise.resolve(customGroup);
      paths.push(path);
      return Promise.resolve(response);
    },
  } as unknown as ApiClient;
  const metrics = metricsClient(
    client,
    (_apiVersion, kind) => {
      const [groupVersion, plural] = (served[kind] ?? "").split(" ");
      return plural
        ? Promise.resolve({ groupVersion: groupVersion!, kind, plural, namespaced: true, verbs: [] })
        : Promise.reject(new Error(`no matches for kind "${kind}" in group ""`));
    },
    clock,
  );
  return { metrics, paths };
}

const root = `${group}/v1beta1/namespaces/shop/`;
const metric = { name: "hits", selector: { matchLabels: { verb: "GET" } } };
const one = { items: [{ describedObject: { name: "a" }, value: "3" }] };

const objects: [apiVersion: string, kind: string, path: string][] = [
  ["networking.orch.io/v1", "Ingress", "ingresses.networking.orch.io/web/hits"],
  ["v1", "Service", "services/web/hits"],
  ["v1", "Namespace", "metrics/hits"],
];
for (const [apiVersion, kind, path] of objects)
  test(`the metric of a ${kind} is requested with its selector`, async () => {
    const { metrics, paths } = clientOver(one);
    assert.equal(await metrics.object("shop", { apiVersion, kind, name: "web" }, metric), 3000);
    assert.deepEqual(paths, [`${root}${path}?metricLabelSelector=verb%3DGET`]);
  });

test("a metric of pods is requested with the selectors of the pods and of the metric", async () => {
  const { metrics, paths } = clientOver(one);
  await metrics.pods("shop", "app=web", metric);
  assert.deepEqual(paths, [`${root}pods/*/hits?labelSelector=app%3Dweb&metricLabelSelector=verb%3DGET`]);
});

const versions: [served: readonly string[], requested: string][] = [
  [["v1beta2", "v1beta1"], "v1beta2"],
  [["v1beta1", "v1beta2"], "v1beta1"],
  [["v1", "v1beta2", "v1beta1"], "v1beta2"],
];
for (const [served, requested] of versions)
  test(`custom metrics served as ${served.join(", ")} are requested as ${requested}`, async () => {
    const { metrics, paths } = clientOver(one, servedIn(...served));
    await metrics.pods("shop", "", { name: "hits" });
    assert.deepEqual(paths, [`${group}/${requested}/namespaces/shop/pods/*/hits`]);
  });

test("custom metrics in unknown versions only are not requested", () =>
  assert.rejects(clientOver(one, servedIn("v1")).metrics.pods("shop", "", { name: "hits" }), {
    message: "unable to fetch metrics from custom metrics API: no known available metric versions found",
  }));

test("an object of a kind that is not served has no metric", () =>
  assert.rejects(clientOver(one).metrics.object("shop", { kind: "Rocket", name: "web" }, metric), {
    message:
      'unable to fetch metrics from custom metrics API: unable to map kind Rocket to resource: no matches for kind "Rocket" in group ""',
  }));

test("a container without metrics is named", () =>
  assert.rejects(
    clientOver({
      items: [{ metadata: { name: "a" }, containers: [{ name: "b", usage: { cpu: "1" } }] }],
    }).metrics.resource("shop", "app=web", "cpu", "c"),
    { message: "failed to get container metrics: container c not present in metrics for pod shop/a" },
  ));

test("pods without the resource are left out", async () => {
  const item = (name: string, usage: object) => ({ metadata: { name }, containers: [{ name: "c", usage }] });
  const { metrics } = clientOver({ items: [item("a", { cpu: "1" }), item("b", { memory: "1" })] });
  assert.deepEqual([...(await metrics.resource("shop", "app=web", "cpu")).keys()], ["a"]);
});
