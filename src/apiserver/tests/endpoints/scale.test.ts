import assert from "node:assert/strict";
import { test } from "node:test";
import { serve } from "../../server.fixture.ts";

const { must, place } = await serve();
const merge = "application/merge-patch+json";

const refused: [name: string, patch: object, causes: readonly string[]][] = [
  ["the least number there is", { spec: { replicas: -(2 ** 31) } }, ["Invalid spec.replicas"]],
  ["a name to be completed", { metadata: { generateName: " " } }, ["Invalid metadata.generateName"]],
  [
    "a finalizer that nobody stands for",
    { metadata: { finalizers: ["Always"] } },
    ["Invalid metadata.finalizers[0]"],
  ],
  ["an annotation", { metadata: { annotations: { "/x": "" } } }, ["Invalid metadata.annotations"]],
];
/** The path of the scale of a new deployment. */
async function deployed(): Promise<string> {
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
  return `${path}/d/scale`;
}

const replicasIn = ({ json }: { readonly json: unknown }): number =>
  (json as { spec: { replicas: number } }).spec.replicas;

test("a scale need not name its namespace", async () => {
  const path = await deployed();
  const body = { metadata: { namespace: null }, spec: { replicas: 3 } };
  assert.equal(replicasIn(await must(200, "PATCH", path, { type: merge, body })), 3);
  const sent = { metadata: { name: "d" }, spec: { replicas: 4 } };
  assert.equal(replicasIn(await must(200, "PUT", path, { body: sent })), 4);
});

for (const [name, body, causes] of refused)
  test(`what a scale says of itself is checked: ${name}`, async () => {
    assert.deepEqual((await must(422, "PATCH", await deployed(), { type: merge, body })).causes, causes);
  });
