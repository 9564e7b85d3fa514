import assert from "node:assert/strict";
import { test } from "node:test";
import { virtualClock } from "#base";
import { type ApiClient, kinds } from "#client";
import { isDeleted, orUndefined, until, withController, withTimedController } from "../cluster.fixture.ts";
import { attachDetachController } from "./attach-detach.ts";
import { attachVolumeInUse, attachmentOn, createUser, prepareVolume } from "./attachment.fixture.ts";

const noteOf = async (client: ApiClient): Promise<string | undefined> =>
  (await client.of(kinds.events).list({ namespace: "default" })).items.find(
    ({ reason }) => reason === "FailedAttachVolume",
  )?.note;

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

test("a pod gets an event with the error of the attacher of its volume", () =>
  withController(attachDetachController, async ({ client }) => {
    await prepareVolume(client);
    await createUser(client, "a", "n1");
    const attachments = client.of(kinds.volumeAttachments);
    const name = attachmentOn("n1");
    await until(() => orUndefined(attachments.get(name)));
    const attachError = { message: "no such disk", time: "2026-01-01T00:00:00Z" };
    await attachments.patch(name, "merge", { status: { attachError } }, { subresource: "status" });
    const note = await until(() => noteOf(client));
    assert.equal(note, 'AttachVolume.Attach failed for volume "v" : no such disk');
  }));

test("a pod gets an event if no attacher processes its volume, until the driver needs none", () =>
  withTimedController(attachDetachController, async ({ client, until: untilTimed }) => {
    await prepareVolume(client);
    await createUser(client, "a", "n1");
    const note = await untilTimed(() => noteOf(client));
    assert.equal(
      note,
      'AttachVolume.Attach failed for volume "v" : timed out waiting for external-attacher of d.example.com CSI driver to attach volume h',
    );
    const attachments = client.of(kinds.volumeAttachments);
    await attachments.get(attachmentOn("n1"));
    await client
      .of(kinds.csiDrivers)
      .create({ metadata: { name: "d.example.com" }, spec: { attachRequired: false } });
    await until(() => isDeleted(attachments.get(attachmentOn("n1"))));
  }));
