import assert from "node:assert/strict";
import { test } from "node:test";
import { startServer } from "#apiserver";
import { type PatchType, kinds } from "#client";

const path = "/metadata/managedFields/0/fieldsV1";
const patches: [how: PatchType, patch: unknown][] = [
  ["json", [{ op: "remove", path: `${path}/f:data/f:key-1` }]],
  ["json", [{ op: "add", path: `${path}/f:data/f:more`, value: {} }]],
  ["json", [{ op: "replace", path, value: { "f:data": { "f:key-1": {} } } }]],
  ["merge", { metadata: { managedFields: [{}] } }],
  ["strategic", { metadata: { managedFields: [{}] } }],
  ["strategic", { data: { "key-1": null } }],
];
for (const [how, patch] of patches)
  test(`a ${how} patch ${JSON.stringify(patch)} applies where field sets are shared, to one object only`, async () => {
    await using server = await startServer({ store: "memory", flags: [] });
    const maps = server.client.of(kinds.configMaps);
    const at = { namespace: "default" };
    const data = Object.fromEntries(Array.from({ length: 40 }, (_, each) => [`key-${each}`, "value"]));
    const managedOf = async (name: string) => (await maps.get(name, at)).metadata.managedFields;
    // Sets are shared once they have been read twice.
    for (const name of ["a", "b"]) {
      await maps.create({ metadata: { name, ...at }, data });
      for (const value of ["1", "2", "3"])
        await maps.patch(name, "merge", { metadata: { annotations: { value } } }, at);
    }
    const [before, other] = [await managedOf("a"), await managedOf("b")];
    await maps.patch("a", how, patch, at);
    assert.notDeepEqual(await managedOf("a"), before);
    assert.deepEqual(await managedOf("b"), other);
  });
