import assert from "node:assert/strict";
import { test } from "node:test";
import { virtualClock } from "#base";
import { kinds } from "#client";
import { isDeleted, orUndefined, until, withController } from "../cluster.fixture.ts";
import { attachDetachController } from "./attach-detach.ts";
import { attachVolumeInUse } from "./attachment.fixture.ts";

test("a deleted node has six minutes to unmount its volumes, whatever the time of day", async () => {
  const clock = virtualClock(Date.now());
  await withController(
    attachDetachController,
    async ({ client }) => {
      const nodes = client.of(kinds.nodes);
      const attachments = client.of(kinds.volumeAttachments);
      await nodes.create({ metadata: { name: "n1" } });
      const name = await attachVolumeInUse(client, "n1");
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
