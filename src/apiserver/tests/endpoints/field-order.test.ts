// Objects stored in another version than the requested one have the field order of the requested version.
import assert from "node:assert/strict";
import { test } from "node:test";
import { serve } from "../../server.fixture.ts";

const { must } = await serve();
const core = "/api/v1/namespaces/default";

test("an event of the core group has the fields of that group in their order", async () => {
  const regarding = { kind: "Pod", namespace: "default", name: "p" };
  const body = {
    metadata: { name: "e" },
    type: "Normal",
    reason: "r",
    message: "m",
    involvedObject: regarding,
  };
  await must(201, "POST", `${core}/events`, { body: { ...body, count: 2, source: { component: "c" } } });
  const { json } = await must(200, "GET", `${core}/events/e`);
  assert.deepEqual(
    Object.keys(json),
    "kind apiVersion metadata involvedObject reason message source firstTimestamp lastTimestamp count type eventTime reportingComponent reportingInstance".split(
      " ",
    ),
  );
});

test("an autoscaler of the first version has the fields of that version in their order", async () => {
  const target = { kind: "Deployment", name: "d" };
  const spec = { maxReplicas: 3, scaleTargetRef: target, metrics: [] };
  const path = "/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers";
  const metric = {
    type: "Resource",
    resource: { name: "memory", target: { type: "Utilization", averageUtilization: 5 } },
  };
  await must(201, "POST", path, { body: { metadata: { name: "h" }, spec: { ...spec, metrics: [metric] } } });
  const shown = await must(200, "GET", path.replace("v2", "v1") + "/h");
  assert.deepEqual(Object.keys(shown.at("status") as object), ["currentReplicas", "desiredReplicas"]);
  assert.deepEqual(Object.keys(shown.at("metadata") as object).slice(-2), ["annotations", "managedFields"]);
});
