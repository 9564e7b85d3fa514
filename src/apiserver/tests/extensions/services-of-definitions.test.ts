import { test } from "node:test";
import { virtualClock } from "#base";
import { eventually } from "#kit";
import { serve } from "../../server.fixture.ts";

// The clock stands still, so no periodic check ever runs.
const { must, ask } = await serve({ clock: virtualClock(Date.now()) });
const definitions = "/apis/apiextensions.orch.io/v1/customresourcedefinitions";
const service = "/apis/apiregistration.orch.io/v1/apiservices/v1.g.example.com";

const untilStatus = (path: string, status: number): Promise<unknown> =>
  eventually(async () => (await ask("GET", path)).status === status);

test("the API service of a definition is created and deleted with it, not at the next periodic check", async () => {
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
