import assert from "node:assert/strict";
import { test } from "node:test";
import { type RunningServer, startServer } from "#apiserver";
import { eventually } from "#kit";
import { discover } from "./discovery.ts";

const group = "example.com";

async function define({ client }: RunningServer, plural: string, versions: readonly string[]): Promise<void> {
  const kind = plural.slice(0, 1).toUpperCase() + plural.slice(1, -1);
  const apiVersion = `apiextensions.${client.dialect.wire.groupSuffix}/v1`;
  const schema = { openAPIV3Schema: { type: "object" } };
  await client.request("POST", `/apis/${apiVersion}/customresourcedefinitions`, {
    apiVersion,
    kind: "CustomResourceDefinition",
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope: "Namespaced",
      names: { plural, singular: plural.slice(0, -1), kind, listKind: `${kind}List` },
      versions: versions.map((name, at) => ({ name, served: true, storage: at === 0, schema })),
    },
  });
}

test("resources that the preferred version of their group lacks are found, and each only once", async () => {
  await using server = await startServer({ store: "memory" });
  await define(server, "things", ["v1", "v1alpha1"]);
  await define(server, "parts", ["v1alpha1"]);
  const found = await eventually(async () => {
    const { resources } = await discover(server.client);
    const mine = resources.filter(({ groupVersion }) => groupVersion.startsWith(`${group}/`));
    return mine.length >= 2 && mine.map(({ groupVersion, plural }) => `${groupVersion} ${plural}`).toSorted();
  });
  assert.deepEqual(found, [`${group}/v1 things`, `${group}/v1alpha1 parts`]);
});
