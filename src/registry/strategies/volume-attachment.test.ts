import assert from "node:assert/strict";
import { test } from "node:test";
import { tryCreate } from "./try-out.fixture.ts";
import { volumeAttachment } from "./volume-attachment.ts";

const inside = "spec.source.inlineVolumeSpec";
const accessModes = ["ReadWriteOnce"];
const csi = { driver: "d.example.com", volumeHandle: "h" };

const cases: [name: string, inlineVolumeSpec: object, causes: string[]][] = [
  [
    "a volume inside an attachment names no claim, node or class, not even an empty one",
    { claimRef: {}, nodeAffinity: {}, storageClassName: "s", volumeMode: "Block", accessModes, csi },
    ["claimRef", "nodeAffinity", "storageClassName", "volumeMode"].map(
      (field) => `Forbidden ${inside}.${field}`,
    ),
  ],
  [
    "a driver and a way of access are needed",
    {},
    [`Required ${inside}`, `Required ${inside}.accessModes`, `Required ${inside}.csi`],
  ],
];
for (const [name, inlineVolumeSpec, causes] of cases)
  test(name, () => {
    const spec = { attacher: "d.example.com", nodeName: "n", source: { inlineVolumeSpec } };
    assert.deepEqual(tryCreate(volumeAttachment, { metadata: { name: "x" }, spec }).causes, causes);
  });
