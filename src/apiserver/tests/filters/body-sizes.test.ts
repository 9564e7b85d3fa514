import assert from "node:assert/strict";
import { test } from "node:test";
import { serve } from "../../server.fixture.ts";

const { ask, must } = await serve();

test("body sizes of writes are counted by resource and verb, except for unknown paths", async () => {
  const body = { metadata: { name: "a" } };
  await must(201, "POST", "/api/v1/namespaces/default/configmaps", { body });
  await must(201, "POST", "/apis/coordination.orch.io/v1/namespaces/default/leases", { body });
  await must(200, "DELETE", "/api/v1/namespaces/default/configmaps", { body: {} });
  await ask("POST", "/api/v1/namespaces/default/nonsense", { body });
  const { text } = await must(200, "GET", "/metrics");
  const counted = text.matchAll(/^apiserver_request_body_sizes_count(\{.*\}) 1$/gm);
  assert.deepEqual(Array.from(counted, ([, labels]) => labels!).toSorted(), [
    '{resource="configmaps",verb="create"}',
    '{resource="configmaps",verb="delete_collection"}',
    '{resource="leases.coordination.orch.io",verb="create"}',
  ]);
});
