import assert from "node:assert/strict";
import { test } from "node:test";
import { tryCreate } from "./strategy.fixture.ts";
import { volumeAttachment } from "./volume-attachment.ts";

const inside = "spec.source.inlineVolumeSpec";
const accessModes = ["ReadWriteOnce"];
const csi = { driver: "d.example.com", volumeHandle: "h" };

const cases: [name: string, inlineVolumeSpec: object, causes: string[]][] = [
  [
    "an inline volume must not have claim, node affinity or class, not even empty ones",
    { claimRef: {}, nodeAffinity: {}, storageClassName: "s", volumeMode: "Block", accessModes, csi },
    ["claimRef", "nodeAffinity", "storageClassName", "volumeMode"].map(
      (field) => `Forbidden ${inside}.${field}`,
    ),
  ],
  [
    "an inline volume requires driver and access modes",
    {},
    [`Required ${inside}`, `Required ${inside}.accessModes`, `Required ${inside}.csi`],
  ],
];
for (const [name, inlineVolumeSpec, causes] of cases)
  test(name, () => {
    const spec = { attacher: "d.example.com", nodeName: "n", source: { inlineVolumeSpec } };
    assert.deepEqual(tryCreate(volumeAttachment, { metadata: { name: "x" }, spec }).causes, causes);
  });
