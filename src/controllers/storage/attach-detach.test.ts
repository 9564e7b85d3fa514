import assert from "node:assert/strict";
import { test } from "node:test";
import { virtualClock } from "#base";
import { kinds } from "#client";
import { dialects } from "#dialect";
import { isDeleted, orUndefined, until, withController } from "../cluster.fixture.ts";
import { attachDetachController, attachmentName } from "./attach-detach.ts";

test("a deleted node has six minutes to unmount its volumes, whatever the time of day", async () => {
  const clock = virtualClock(Date.now());
  const { volumes: volumeNames } = dialects.orch.names;
  await withController(
    attachDetachController,
    async ({ client }) => {
      const nodes = client.of(kinds.nodes);
      const attachments = client.of(kinds.volumeAttachments);
      await nodes.create({ metadata: { name: "n1" } });
      const csi = { driver: "d.example.com", volumeHandle: "h" };
      const volumesInUse = [`${volumeNames.csiPrefix}${csi.driver}^h`];
      await nodes.patch("n1", "merge", { status: { volumesInUse } }, { subresource: "status" });
      await client.of(kinds.persistentVolumes).create({
        metadata: { name: "v" },
        spec: { accessModes: ["ReadWriteOnce"], capacity: { storage: "1Gi" }, csi },
      });
      const name = attachmentName("h", csi.driver, "n1");
      await attachments.create({
        metadata: { name },
        spec: { attacher: csi.driver, nodeName: "n1", source: { persistentVolumeName: "v" } },
      });
      await nodes.delete("n1");
      await clock.advance(60_000);
      clock.set(clock.now() + 3_600_000);
      for (let minute = 1; minute < 5; minute++) {
        await clock.advance(60_000);
        assert.ok(await orUndefined(attachments.get(name)));
      }
      await until(async () => {
        await clock.advance(60_000);
        return await isDeleted(attachments.get(name));
      });
    },
    clock,
  );
});
