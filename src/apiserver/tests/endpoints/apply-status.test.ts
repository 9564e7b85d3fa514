import assert from "node:assert/strict";
import { test } from "node:test";
import { serve } from "../../server.fixture.ts";

const { ask, must } = await serve();
const apply = "application/apply-patch+yaml";

test("the name is ignored when a status is applied whose kind ignores metadata there", async () => {
  const path = "/apis/storage.orch.io/v1/volumeattachments";
  const spec = { attacher: "a", nodeName: "n", source: { persistentVolumeName: "v" } };
  await must(201, "POST", path, { body: { metadata: { name: "one" }, spec } });
  const applied = (name: string) => ({
    apiVersion: "storage.orch.io/v1",
    kind: "VolumeAttachment",
    metadata: { name },
    status: { attached: true },
  });
  const sent = (part: string, name: string) =>
    ask("PATCH", `${path}/one${part}?fieldManager=m`, { type: apply, body: applied(name) });
  const done = await sent("/status", "two");
  assert.deepEqual([done.status, done.at("metadata.name"), done.at("status.attached")], [200, "one", true]);
  assert.equal((await sent("", "two")).status, 400);
});

test("a status that is reset is not decoded, even if it is invalid", async () => {
  const path = "/api/v1/namespaces/default/services";
  await must(201, "POST", path, { body: { metadata: { name: "one" }, spec: { ports: [{ port: 80 }] } } });
  const status = { conditions: [{ type: "a", lastTransitionTime: "yesterday" }] };
  const body = { apiVersion: "v1", kind: "Service", status };
  const sent = (part: string) => ask("PATCH", `${path}/one${part}?fieldManager=m`, { type: apply, body });
  assert.equal((await sent("")).status, 200);
  assert.equal((await sent("/status")).status, 400);
});
