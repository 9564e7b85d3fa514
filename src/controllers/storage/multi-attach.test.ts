import assert from "node:assert/strict";
import { test } from "node:test";
import { kinds } from "#client";
import type { SeenVolume } from "#controllerkit";
import { until, withController } from "../cluster.fixture.ts";
import type { SeenPod } from "../pods.ts";
import { attachDetachController, attachmentName } from "./attach-detach.ts";
import { createUser, prepareVolume } from "./attachment.fixture.ts";
import { isExclusive, multiAttachText } from "./multi-attach.ts";

const namespace = "default";
const volumeWith = (accessModes: string[]): SeenVolume =>
  ({ metadata: { name: "v" }, spec: { accessModes } }) as unknown as SeenVolume;
const podIn = (where: string, name: string): SeenPod =>
  ({ metadata: { name, namespace: where } }) as unknown as SeenPod;

const modes: [name: string, accessModes: string[], exclusive: boolean][] = [
  ["a ReadWriteOnce volume", ["ReadWriteOnce"], true],
  ["a ReadWriteOncePod volume", ["ReadWriteOncePod"], true],
  ["a volume that is also ReadOnlyMany", ["ReadWriteOnce", "ReadOnlyMany"], false],
  ["a ReadWriteMany volume", ["ReadWriteMany"], false],
  ["a volume without access modes", [], false],
];
for (const [name, accessModes, exclusive] of modes)
  test(`${name} is ${exclusive ? "" : "not "}exclusive to one node`, () =>
    assert.equal(isExclusive(volumeWith(accessModes)), exclusive));

const texts: [name: string, users: SeenPod[], expected: string][] = [
  ["no pods", [], "is already exclusively attached to one node and can't be attached to another"],
  ["pods of the same namespace", [podIn("x", "b"), podIn("x", "c")], "is already used by pod(s) b, c"],
  ["pods of other namespaces", [podIn("y", "b")], "is already used by 1 pod(s) in different namespaces"],
  [
    "both",
    [podIn("x", "b"), podIn("y", "c")],
    "is already used by pod(s) b and 1 pod(s) in different namespaces",
  ],
];
for (const [name, users, expected] of texts)
  test(`a waiting pod's event names the users of the volume: ${name}`, () =>
    assert.equal(
      multiAttachText(volumeWith([]), podIn("x", "a"), users),
      `Multi-Attach error for volume "v" Volume ${expected}`,
    ));

test("a volume is attached to the second node once the first has detached it", () =>
  withController(attachDetachController, async ({ client }) => {
    await prepareVolume(client);
    const attachments = client.of(kinds.volumeAttachments);
    const nodesOf = async (): Promise<string[]> =>
      (await attachments.list({})).items.map(({ spec }) => spec.nodeName);
    const isOn = (node: string) =>
      until(async () => {
        const found = await nodesOf();
        return found.includes(node) && found;
      });
    await createUser(client, "a", "n1");
    await isOn("n1");
    const name = attachmentName("h", "d.example.com", "n1");
    await attachments.patch(name, "merge", { status: { attached: true } }, { subresource: "status" });
    await until(async () => (await client.of(kinds.nodes).get("n1")).status.volumesAttached?.length === 1);
    await createUser(client, "b", "n2");
    const event = await until(async () =>
      (await client.of(kinds.events).list({ namespace })).items.find(
        (e) => e.reason === "FailedAttachVolume",
      ),
    );
    assert.equal(event.note, 'Multi-Attach error for volume "v" Volume is already used by pod(s) a');
    assert.deepEqual(await nodesOf(), ["n1"]);
    await client.of(kinds.pods).delete("a", { namespace, graceSeconds: 0 });
    assert.deepEqual(await isOn("n2"), ["n2"]);
  }));
