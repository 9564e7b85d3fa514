import assert from "node:assert/strict";
import { test } from "node:test";
import { serve } from "../../server.fixture.ts";

const { must, place } = await serve();
const merge = "application/merge-patch+json";
const apply = "application/apply-patch+yaml";

test("another namespace is reported before another name, a missing name, and another version", async () => {
  const namespace = await place();
  const path = `/api/v1/namespaces/${namespace}/configmaps`;
  await must(201, "POST", path, { body: { metadata: { name: "a" } } });
  const elsewhere = { namespace: "elsewhere" };
  const sent: [method: string, type: string, metadata: object][] = [
    ["PUT", "application/json", elsewhere],
    ["PUT", "application/json", { ...elsewhere, name: "b" }],
    ["PATCH", merge, { ...elsewhere, resourceVersion: "1" }],
    ["PATCH", merge, { ...elsewhere, name: "b" }],
    ["PATCH", apply, { ...elsewhere, name: "b" }],
  ];
  for (const [method, type, metadata] of sent) {
    const body = { kind: "ConfigMap", apiVersion: "v1", metadata };
    const answer = await must(400, method, `${path}/a?fieldManager=m`, { type, body });
    assert.match(String(answer.at("message")), /does not match the namespace/);
  }
});

test("a field ownership conflict is reported before an invalid time value", async () => {
  const namespace = await place();
  const path = `/apis/events.orch.io/v1/namespaces/${namespace}/events`;
  const event = {
    metadata: { name: "e" },
    eventTime: "2024-01-01T00:00:00.000000Z",
    action: "Begin",
    reason: "Begun",
    type: "Normal",
    reportingController: "example.com/c",
    reportingInstance: "c-1",
    regarding: { kind: "Pod", namespace, name: "p" },
  };
  await must(201, "POST", path, { body: event });
  const body = {
    kind: "Event",
    apiVersion: "events.orch.io/v1",
    metadata: { name: "e" },
    eventTime: "noon",
  };
  await must(409, "PATCH", `${path}/e?fieldManager=m`, { type: apply, body });
  const forced = await must(400, "PATCH", `${path}/e?fieldManager=m&force=true`, { type: apply, body });
  assert.match(String(forced.at("message")), /parsing time "noon"/);
});
