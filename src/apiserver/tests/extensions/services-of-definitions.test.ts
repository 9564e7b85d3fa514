import assert from "node:assert/strict";
import { test } from "node:test";
import { virtualClock } from "#base";
import { serve } from "../../server.fixture.ts";

// The clock stands still: whatever waits for its next look never looks.
const { must, ask } = await serve({ clock: virtualClock(Date.now()) });
const definitions = "/apis/apiextensions.orch.io/v1/customresourcedefinitions";
const service = "/apis/apiregistration.orch.io/v1/apiservices/v1.g.example.com";

async function untilStatus(path: string, status: number): Promise<void> {
  for (let i = 0; i < 2000; i++) {
    if ((await ask("GET", path)).status === status) return;
    await new Promise((resolve) => setImmediate(resolve));
  }
  assert.fail(`${path} was never answered with ${status}`);
}

test("the API service of a definition comes and goes with it, not at the next look", async () => {
  const schema = { openAPIV3Schema: { type: "object" } };
  await must(201, "POST", definitions, {
    body: {
      metadata: { name: "widgets.g.example.com" },
      spec: {
        group: "g.example.com",
        scope: "Namespaced",
        names: { plural: "widgets", kind: "Widget" },
        versions: [{ name: "v1", served: true, storage: true, schema }],
      },
    },
  });
  await untilStatus(service, 200);
  await must(200, "DELETE", `${definitions}/widgets.g.example.com`);
  await untilStatus(`${definitions}/widgets.g.example.com`, 404);
  await untilStatus(service, 404);
});
