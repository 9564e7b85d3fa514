import assert from "node:assert/strict";
import { test } from "node:test";
import { serve } from "../../server.fixture.ts";

const { must, place } = await serve();
const merge = "application/merge-patch+json";

const refused: [name: string, patch: object, causes: readonly string[]][] = [
  ["the least number there is", { spec: { replicas: -(2 ** 31) } }, ["Invalid spec.replicas"]],
  ["a name to be completed", { metadata: { generateName: " " } }, ["Invalid metadata.generateName"]],
  ["an annotation", { metadata: { annotations: { "/x": "" } } }, ["Invalid metadata.annotations"]],
];
for (const [name, body, causes] of refused)
  test(`what a scale says of itself is checked: ${name}`, async () => {
    const path = `/apis/apps/v1/namespaces/${await place()}/deployments`;
    const labels = { app: "web" };
    await must(201, "POST", path, {
      body: {
        metadata: { name: "d" },
        spec: {
          selector: { matchLabels: labels },
          template: { metadata: { labels }, spec: { containers: [{ name: "c", image: "i" }] } },
        },
      },
    });
    assert.deepEqual((await must(422, "PATCH", `${path}/d/scale`, { type: merge, body })).causes, causes);
  });
