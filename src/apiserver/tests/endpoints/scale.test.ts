import assert from "node:assert/strict";
import { test } from "node:test";
import { serve } from "../../server.fixture.ts";

const { must, place } = await serve();
const merge = "application/merge-patch+json";

const refused: [name: string, patch: object, causes: readonly string[]][] = [
  ["the smallest integer", { spec: { replicas: -(2 ** 31) } }, ["Invalid spec.replicas"]],
  ["an invalid generateName", { metadata: { generateName: " " } }, ["Invalid metadata.generateName"]],
  ["an unqualified finalizer", { metadata: { finalizers: ["Always"] } }, ["Invalid metadata.finalizers[0]"]],
  ["an annotation", { metadata: { annotations: { "/x": "" } } }, ["Invalid metadata.annotations"]],
];
/** Creates a deployment and returns the path of its scale. */
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

test("a scale may omit its namespace", async () => {
  const path = await deployed();
  const body = { metadata: { namespace: null }, spec: { replicas: 3 } };
  assert.equal(replicasIn(await must(200, "PATCH", path, { type: merge, body })), 3);
  const sent = { metadata: { name: "d" }, spec: { replicas: 4 } };
  assert.equal(replicasIn(await must(200, "PUT", path, { body: sent })), 4);
});

const scale = { apiVersion: "autoscaling/v1", kind: "Scale" };
const unfit: [name: string, code: number, more: object, message: RegExp][] = [
  ["another object's uid", 409, { metadata: { name: "d", uid: "u" } }, /^Operation cannot be fulfilled on deployments\/scale.apps "d": Precondition failed: UID in precondition: u, UID in object meta: [-0-9a-f]+$/],
  ["an unknown field", 400, { spec: { x: 1 } }, /: \.spec\.x: field not declared in schema$/],
  ["a string for a number", 400, { spec: { replicas: "x" } }, /^failed to create typed patch object \(\/; autoscaling\/v1, Kind=Scale\): \.spec\.replicas: expected numeric \(int or float\), got string$/],
]; // prettier-ignore
for (const [name, code, more, message] of unfit)
  test(`an invalid applied scale is a client error: ${name}`, async () => {
    const path = `${await deployed()}?fieldManager=m`;
    const type = "application/apply-patch+yaml";
    const refused = await must(code, "PATCH", path, { type, body: { ...scale, ...more } });
    assert.match(refused.at("message") as string, message);
  });

for (const [name, body, causes] of refused)
  test(`the metadata and spec of a scale are validated: ${name}`, async () => {
    assert.deepEqual((await must(422, "PATCH", await deployed(), { type: merge, body })).causes, causes);
  });
