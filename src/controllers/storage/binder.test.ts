import assert from "node:assert/strict";
import { test } from "node:test";
import { internal } from "#base";
import { type ApiClient, kinds } from "#client";
import type { ControllerContext } from "#controllerkit";
import { until, withController } from "../cluster.fixture.ts";
import { volumeBinderController } from "./binder.ts";

const namespace = "default";
const volume = (name: string, storage: string) => ({
  metadata: { name },
  spec: {
    capacity: { storage },
    accessModes: ["ReadWriteOnce"],
    storageClassName: "sc",
    hostPath: { path: `/srv/${name}` },
    persistentVolumeReclaimPolicy: "Retain",
  },
});

test("a claim binds the smallest volume that fits, and a released volume is not bound again", () =>
  withController(volumeBinderController, async ({ client }) => {
    const [volumes, claims] = [client.of(kinds.persistentVolumes), client.of(kinds.persistentVolumeClaims)];
    for (const [name, size] of [
      ["big", "10Gi"],
      ["fit", "2Gi"],
      ["small", "1Gi"],
    ] as const)
      await volumes.create(volume(name, size));
    const phase = async (name: string, wanted: string) =>
      until(async () => (await volumes.get(name)).status.phase === wanted);
    await phase("fit", "Available");
    const spec = {
      accessModes: ["ReadWriteOnce"],
      storageClassName: "sc",
      resources: { requests: { storage: "2Gi" } },
    };
    await claims.create({ metadata: { name: "c", namespace }, spec });
    const bound = await until(async () => {
      const claim = await claims.get("c", { namespace });
      return claim.status.phase === "Bound" && claim;
    });
    assert.deepEqual(
      [bound.spec.volumeName, bound.metadata.annotations?.["pv.orch.io/bind-completed"]],
      ["fit", "yes"],
    );
    await claims.patch("c", "merge", { metadata: { finalizers: null } }, { namespace });
    await claims.delete("c", { namespace });
    await phase("fit", "Released");
  }));

const csi = { driver: "ext.example", volumeHandle: "h" };
const noDeleter = (why: string) => `error getting deleter volume plugin for volume "v": ${why}`;
const reclaimed: [name: string, source: object, policy: string, provisioner: string, expected: string][] = [
  ["is deleted by its provisioner", { csi }, "Delete", "ext.example", "Released"],
  ["has no deleter", { csi }, "Delete", "", `Failed ${noDeleter("no deletable volume plugin matched")}`],
  [
    "has an unknown type",
    { fc: { wwids: ["w"] } },
    "Delete",
    "",
    `Failed ${noDeleter("no volume plugin matched")}`,
  ],
  [
    "was made by a plug-in that is gone",
    { csi },
    "Delete",
    "orch.io/gone",
    "Failed no volume plugin matched name: orch.io/gone",
  ],
  [
    "is to be recycled",
    { hostPath: { path: "/srv/v" } },
    "Recycle",
    "",
    "Failed No recycler plugin found for the volume!",
  ],
];
for (const [name, source, policy, provisioner, expected] of reclaimed)
  test(`a released volume that ${name} becomes ${expected.split(" ")[0]}`, () =>
    withController(volumeBinderController, async ({ client }) => {
      const volumes = client.of(kinds.persistentVolumes);
      const { hostPath: _, ...spec } = volume("v", "1Gi").spec;
      const claimRef = { namespace, name: "gone", uid: "11111111-2222-3333-4444-555555555555" };
      const annotations = { ...(provisioner && { "pv.orch.io/provisioned-by": provisioner }) };
      await volumes.create({
        metadata: { name: "v", annotations },
        spec: { ...spec, ...source, claimRef, persistentVolumeReclaimPolicy: policy },
      });
      const { status } = await until(async () => {
        const found = await volumes.get("v");
        return expected.startsWith(`${found.status.phase} `) || found.status.phase === expected
          ? found
          : undefined;
      });
      assert.equal([status.phase, ...(status.message ? [status.message] : [])].join(" "), expected);
    }));

/** Returns a context in which no claim has been observed yet; `ask` is called before each is read. */
function withoutObservedClaims(context: ControllerContext, ask: () => Promise<void>): ControllerContext {
  const isClaims = (kind: unknown): boolean => kind === kinds.persistentVolumeClaims;
  const { client, view } = context;
  const of: ApiClient["of"] = (kind) => {
    const resource = client.of(kind);
    const get: typeof resource.get = async (...at) => {
      await ask();
      return await resource.get(...at);
    };
    return isClaims(kind) ? { ...resource, get } : resource;
  };
  const follow: typeof view.follow = (kind, onEvent, scope) =>
    isClaims(kind) ? view.follow(kind, undefined, { namespace: "other" }) : view.follow(kind, onEvent, scope);
  return { ...context, client: { ...client, of }, view: { ...view, follow } };
}

const kept: [name: string, ask: () => Promise<void>][] = [
  ["is not bound yet", () => Promise.resolve()],
  ["cannot be read", () => Promise.reject(internal("the store does not respond"))],
];
for (const [name, ask] of kept)
  test(`a volume is not released while its claim, which has not been observed, ${name}`, () => {
    let reads = 0;
    const counted = (): Promise<void> => {
      reads++;
      return ask();
    };
    return withController(
      (context) => volumeBinderController(withoutObservedClaims(context, counted)),
      async ({ client }) => {
        const [volumes, claims] = [
          client.of(kinds.persistentVolumes),
          client.of(kinds.persistentVolumeClaims),
        ];
        const { uid } = (
          await claims.create({
            metadata: { name: "c", namespace },
            spec: {
              accessModes: ["ReadWriteOnce"],
              storageClassName: "sc",
              resources: { requests: { storage: "1Gi" } },
            },
          })
        ).metadata;
        const made = volume("v", "1Gi");
        const claimRef = { namespace, name: "c", uid: uid! };
        await volumes.create({ ...made, spec: { ...made.spec, claimRef } });
        // Each change causes another sync, after the previous one.
        for (let change = 1; change <= 3; change++) {
          await until(() => Promise.resolve(reads >= change));
          const labels = { change: String(change) };
          const { status } = await volumes.patch("v", "merge", { metadata: { labels } });
          assert.notEqual(status.phase, "Released");
        }
      },
    );
  });
