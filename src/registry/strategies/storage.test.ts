import assert from "node:assert/strict";
import { test } from "node:test";
import type { Strategy } from "../strategy.ts";
import { csiDriver, csiNode, csiStorageCapacity } from "./csi.ts";
import { persistentVolume } from "./persistent-volume.ts";
import { storageClass } from "./storage-class.ts";
import { cellsOf, defaulted, tryCreate, tryPart, tryUpdate, causesOf, contextOf } from "./try-out.fixture.ts";
import { volumeAttachment } from "./volume-attachment.ts";
import { persistentVolumeClaim } from "./volume-claim.ts";

const metadata = { name: "x" };
const claim = { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } };
const volume = { capacity: { storage: "1Gi" }, accessModes: ["ReadWriteOnce"], hostPath: { path: "/x" } };
const { hostPath: _hostPath, ...nowhere } = volume;
const csi = { driver: "d.example.com", volumeHandle: "h" };
const provisioner = "example.com/p";
const on = (key: string): object => ({
  required: { nodeSelectorTerms: [{ matchExpressions: [{ key, operator: "In", values: ["a"] }] }] },
});
const populator = { apiGroup: "example.com", kind: "Filler", name: "f" };

const refused: [name: string, strategy: Strategy, sent: object, causes: string[]][] = [
  [
    "a claim asks for a way and a size",
    persistentVolumeClaim,
    { spec: { resources: {} } },
    ["Required spec.accessModes", "Required spec.resources[storage]"],
  ],
  [
    "a claim's modes are known",
    persistentVolumeClaim,
    { spec: { ...claim, accessModes: ["Odd"], volumeMode: "Odd" } },
    ["NotSupported spec.accessModes", "NotSupported spec.volumeMode"],
  ],
  [
    "one pod alone means no others",
    persistentVolumeClaim,
    { spec: { ...claim, accessModes: ["ReadWriteOncePod", "ReadWriteOnce"] } },
    ["Forbidden spec.accessModes"],
  ],
  ["a volume is somewhere", persistentVolume, { spec: nowhere }, ["Required spec"]],
  [
    "a volume is in one place",
    persistentVolume,
    { spec: { ...volume, nfs: { server: "s", path: "/x" } } },
    ["Forbidden spec.nfs"],
  ],
  [
    "a volume has a size and a way to mount it",
    persistentVolume,
    { spec: { capacity: {}, hostPath: { path: "/../x" }, persistentVolumeReclaimPolicy: "X" } },
    [
      "Invalid spec.hostPath.path",
      "NotSupported spec.capacity",
      "NotSupported spec.persistentVolumeReclaimPolicy",
      "Required spec.accessModes",
      "Required spec.capacity",
    ],
  ],
  [
    "a volume is not empty",
    persistentVolume,
    { spec: { ...volume, capacity: { storage: "0" } } },
    ["Invalid spec.capacity[storage]"],
  ],
  [
    "a local volume is on some node",
    persistentVolume,
    { spec: { ...nowhere, local: { path: "/d" } } },
    ["Required spec.nodeAffinity"],
  ],
  [
    "a driver's volume names both",
    persistentVolume,
    { spec: { ...nowhere, csi: { driver: "", volumeHandle: "" } } },
    ["Invalid spec.csi.driver", "Required spec.csi.driver", "Required spec.csi.volumeHandle"],
  ],
  [
    "secrets of a driver's volume are named in full",
    persistentVolume,
    {
      spec: {
        ...nowhere,
        csi: {
          ...csi,
          nodePublishSecretRef: { name: "A", namespace: "" },
          nodeExpandSecretRef: { name: "", namespace: "a.b" },
        },
      },
    },
    [
      "Invalid spec.csi.nodeExpandSecretRef.namespace",
      "Invalid spec.csi.nodePublishSecretRef.name",
      "Required spec.csi.nodeExpandSecretRef.name",
      "Required spec.csi.nodePublishSecretRef.namespace",
    ],
  ],
  [
    "secrets of other volumes, too",
    persistentVolume,
    { spec: { ...nowhere, cinder: { volumeID: "v", secretRef: {} } } },
    ["Required spec.cinder.secretRef.name", "Required spec.cinder.secretRef.namespace"],
  ],
  [
    "a volume of a file server in some namespace",
    persistentVolume,
    { spec: { ...nowhere, glusterfs: { endpoints: "e", path: "p", endpointsNamespace: "" } } },
    ["Invalid spec.glusterfs.endpointsNamespace"],
  ],
  [
    "a flexible volume beside another",
    persistentVolume,
    { spec: { ...volume, flexVolume: {} } },
    ["Required spec.flexVolume.driver"],
  ],
  [
    "a local volume says its node in vain",
    persistentVolume,
    { spec: { ...nowhere, local: { path: "/d" }, nodeAffinity: { required: { nodeSelectorTerms: [] } } } },
    ["Required spec.nodeAffinity.required.nodeSelectorTerms"],
  ],
  [
    "not every volume is mounted with options",
    persistentVolume,
    { metadata: { ...metadata, annotations: { "volume.beta.orch.io/mount-options": "ro" } }, spec: volume },
    ["Forbidden metadata.annotations.volume.beta.orch.io/mount-options"],
  ],
  [
    "file servers are",
    persistentVolume,
    {
      metadata: { ...metadata, annotations: { "volume.beta.orch.io/mount-options": "ro" } },
      spec: { ...nowhere, nfs: { server: "s", path: "/x" } },
    },
    [],
  ],
  [
    "a class's words are known",
    storageClass,
    { provisioner: "bad prov!", volumeBindingMode: "X", reclaimPolicy: "Y" },
    ["Invalid provisioner", "NotSupported reclaimPolicy", "NotSupported volumeBindingMode"],
  ],
  [
    "topologies differ",
    storageClass,
    {
      provisioner,
      allowedTopologies: [
        { matchLabelExpressions: [{ key: "a", values: ["b"] }] },
        { matchLabelExpressions: [{ key: "a", values: ["b"] }] },
      ],
    },
    ["Duplicate allowedTopologies[1].matchLabelExpressions"],
  ],
  [
    "an attachment has a source",
    volumeAttachment,
    { spec: { attacher: "d.example.com", nodeName: "n", source: {} } },
    ["Required spec.source"],
  ],
  [
    "an attachment has one source",
    volumeAttachment,
    {
      spec: {
        attacher: "d.example.com",
        nodeName: "n",
        source: { persistentVolumeName: "v", inlineVolumeSpec: {} },
      },
    },
    ["Forbidden spec.source"],
  ],
  [
    "volumes inside attachments are a driver's",
    volumeAttachment,
    { spec: { attacher: "d.example.com", nodeName: "n", source: { inlineVolumeSpec: volume } } },
    ["Forbidden spec.source.inlineVolumeSpec.capacity", "Required spec.source.inlineVolumeSpec.csi"],
  ],
  [
    "a driver's volume fits into an attachment",
    volumeAttachment,
    {
      spec: {
        attacher: "d.example.com",
        nodeName: "n",
        source: { inlineVolumeSpec: { accessModes: ["ReadWriteOnce"], csi } },
      },
    },
    [],
  ],
  [
    "a driver's words are known",
    csiDriver,
    { spec: { fsGroupPolicy: "X", volumeLifecycleModes: ["Y"] } },
    ["NotSupported spec.fsGroupPolicy", "NotSupported spec.volumeLifecycleModes"],
  ],
  [
    "tokens of a driver differ and last",
    csiDriver,
    { spec: { tokenRequests: [{ audience: "a", expirationSeconds: 5 }, { audience: "a" }] } },
    ["Duplicate spec.tokenRequests[1].audience", "Invalid spec.tokenRequests[0].expirationSeconds"],
  ],
  [
    "a node's drivers differ",
    csiNode,
    {
      spec: {
        drivers: [
          { name: "d.example.com", nodeID: "n" },
          { name: "d.example.com", nodeID: "" },
        ],
      },
    },
    ["Duplicate spec.drivers[1].name", "Required spec.drivers[1].nodeID"],
  ],
  [
    "a term of a topology that says nothing is a repetition",
    storageClass,
    { provisioner, volumeBindingMode: "Immediate", allowedTopologies: [{}] },
    ["Duplicate allowedTopologies[0].matchLabelExpressions"],
  ],
  [
    "room is not negative, and faults are said twice",
    csiStorageCapacity,
    { storageClassName: "c", capacity: "-1" },
    ["Invalid capacity", "Invalid capacity"],
  ],
];
for (const [name, strategy, sent, causes] of refused)
  test(name, () => assert.deepEqual(tryCreate(strategy, { metadata, ...sent }).causes, causes));

const changed: [name: string, strategy: Strategy, before: object, after: object, causes: string[]][] = [
  [
    "a claim does not change",
    persistentVolumeClaim,
    { spec: { ...claim, storageClassName: "a" } },
    { spec: { ...claim, storageClassName: "b" } },
    ["Forbidden spec"],
  ],
  [
    "a class may be filled in",
    persistentVolumeClaim,
    { spec: claim },
    { spec: { ...claim, storageClassName: "b" } },
    [],
  ],
  [
    "a volume may be bound",
    persistentVolumeClaim,
    { spec: claim },
    { spec: { ...claim, volumeName: "v" } },
    [],
  ],
  [
    "a claim does not shrink",
    persistentVolumeClaim,
    { spec: claim },
    { spec: { ...claim, resources: { requests: { storage: "1Mi" } } } },
    ["Forbidden spec", "Forbidden spec.resources.requests.storage"],
  ],
  [
    "a volume stays where it is",
    persistentVolume,
    { spec: volume },
    { spec: { ...volume, hostPath: { path: "/y" } } },
    ["Forbidden spec.persistentvolumesource"],
  ],
  [
    "a volume may be bound to a claim",
    persistentVolume,
    { spec: volume },
    { spec: { ...volume, claimRef: { name: "c" } } },
    [],
  ],
  [
    "a secret for growing may come later",
    persistentVolume,
    { spec: { ...nowhere, csi } },
    { spec: { ...nowhere, csi: { ...csi, controllerExpandSecretRef: { name: "s", namespace: "n" } } } },
    [],
  ],
  [
    "faults of a changed claim are said twice",
    persistentVolumeClaim,
    { spec: claim },
    { spec: { ...claim, accessModes: [] } },
    ["Forbidden spec", "Required spec.accessModes", "Required spec.accessModes"],
  ],
  [
    "faults of a changed volume, too",
    persistentVolume,
    { spec: volume },
    { spec: { ...volume, accessModes: [] } },
    ["Required spec.accessModes", "Required spec.accessModes"],
  ],
  [
    "a class does not move from one annotation to another",
    persistentVolumeClaim,
    { metadata: { ...metadata, annotations: { "volume.beta.orch.io/storage-class": "a" } }, spec: claim },
    { metadata: { ...metadata, annotations: { "volume.beta.orch.io/storage-class": "b" } }, spec: claim },
    ["Invalid metadata.annotations.volume.beta.orch.io/storage-class"],
  ],
  [
    "labels of nodes may get their newer names",
    persistentVolume,
    { spec: { ...volume, nodeAffinity: on("beta.orch.io/os") } },
    { spec: { ...volume, nodeAffinity: on("orch.io/os") } },
    [],
  ],
  [
    "but not others",
    persistentVolume,
    { spec: { ...volume, nodeAffinity: on("beta.orch.io/os") } },
    { spec: { ...volume, nodeAffinity: on("orch.io/arch") } },
    ["Invalid nodeAffinity"],
  ],
  [
    "what fills a claim stays, even where a claim alone may not say it",
    persistentVolumeClaim,
    { spec: { ...claim, dataSourceRef: populator } },
    { spec: { ...claim, dataSource: populator, dataSourceRef: populator } },
    [],
  ],
  [
    "a class does not change",
    storageClass,
    { provisioner },
    { provisioner: "example.com/q", parameters: { a: "b" }, reclaimPolicy: "Retain" },
    ["Forbidden parameters", "Forbidden provisioner", "Forbidden reclaimPolicy"],
  ],
  [
    "a class may let volumes grow",
    storageClass,
    { provisioner },
    { provisioner, allowVolumeExpansion: true },
    [],
  ],
  [
    "a node's driver stays",
    csiNode,
    { spec: { drivers: [{ name: "d.example.com", nodeID: "n" }] } },
    { spec: { drivers: [{ name: "d.example.com", nodeID: "m" }] } },
    ["Invalid CSINodeDriver"],
  ],
];
for (const [name, strategy, before, after, causes] of changed)
  test(name, () =>
    assert.deepEqual(tryUpdate(strategy, { metadata, ...before }, { metadata, ...after }).causes, causes),
  );

test("a bound claim may grow", () => {
  const bound = {
    ...defaulted(persistentVolumeClaim, { metadata, spec: claim }),
    status: { phase: "Bound" },
  };
  const grown = {
    ...defaulted(persistentVolumeClaim, {
      metadata,
      spec: { ...claim, resources: { requests: { storage: "2Gi" } } },
    }),
    status: { phase: "Bound" },
  };
  assert.deepEqual(
    causesOf(persistentVolumeClaim.validateUpdate!(grown, bound, contextOf(persistentVolumeClaim))),
    [],
  );
});

test("what a claim is filled from is said in both fields", () => {
  const { object } = tryCreate(persistentVolumeClaim, {
    metadata,
    spec: { ...claim, dataSource: { kind: "PersistentVolumeClaim", name: "other" } },
  });
  assert.deepEqual((object["spec"] as { dataSourceRef: object }).dataSourceRef, {
    apiGroup: null,
    kind: "PersistentVolumeClaim",
    name: "other",
  });
});

const filled: [name: string, sent: object, source: object | undefined, reference: object | undefined][] = [
  [
    "only claims and snapshots may be said in the older field",
    { dataSource: populator },
    undefined,
    undefined,
  ],
  ["others in the newer one", { dataSourceRef: populator }, populator, populator],
  [
    "data of other namespaces is not to be had",
    { dataSourceRef: { ...populator, namespace: "n" } },
    undefined,
    undefined,
  ],
];
for (const [name, sent, source, reference] of filled) {
  test(name, () => {
    const { dataSource, dataSourceRef } = tryCreate(persistentVolumeClaim, {
      metadata,
      spec: { ...claim, ...sent },
    }).object["spec"] as Record<string, unknown>;
    assert.deepEqual([dataSource, dataSourceRef], [source, reference]);
  });
}

test("nothing is kept about growth that failed", () => {
  const status = {
    phase: "Bound",
    allocatedResources: { storage: "1Gi" },
    resizeStatus: "NodeExpansionPending",
  };
  assert.deepEqual(
    tryPart(persistentVolumeClaim, "status", { metadata, spec: claim }, { status }).object["status"],
    { phase: "Bound" },
  );
});

const warned: [name: string, strategy: Strategy, sent: object, expected: string][] = [
  ["a claim of parts of bytes", persistentVolumeClaim, { spec: { ...claim, resources: { requests: { storage: "1500m" } } } }, "spec.resources.requests[storage]"],
  ["a volume on nodes with old labels", persistentVolume, { spec: { ...volume, nodeAffinity: on("beta.orch.io/os") } }, "spec.nodeAffinity.required.nodeSelectorTerms[0].matchExpressions[0].key"],
  ["a class for nodes with old labels", storageClass, { provisioner, allowedTopologies: [{ matchLabelExpressions: [{ key: "beta.orch.io/os", values: ["a"] }] }] }, "allowedTopologies[0].matchLabelExpressions[0].key"],
  ["room on nodes with old labels", csiStorageCapacity, { storageClassName: "c", nodeTopology: { matchLabels: { "beta.orch.io/os": "a" } } }, "nodeTopology.matchLabels.beta.orch.io/os"],
]; // prettier-ignore
for (const [name, strategy, sent, expected] of warned) {
  // prettier-ignore
  test(`people hear of ${name}`, () => assert.deepEqual(tryCreate(strategy, { metadata, ...sent }).warnings.map((text) => text.split(": ")[0]), [expected]));
}

test("the status of an attachment leaves its metadata alone", () => {
  const before = {
    metadata,
    spec: { attacher: "d.example.com", nodeName: "n", source: { persistentVolumeName: "v" } },
  };
  const { object } = tryPart(volumeAttachment, "status", before, {
    metadata: { ...metadata, labels: { a: "b" } },
    status: { attached: true },
  });
  assert.equal((object["metadata"] as { labels?: object }).labels, undefined);
  assert.deepEqual(object["status"], { attached: true });
});

test("tables show storage", () => {
  assert.deepEqual(
    cellsOf(persistentVolumeClaim, {
      metadata,
      spec: { ...claim, volumeName: "v" },
      status: {
        phase: "Bound",
        capacity: { storage: "1Gi" },
        accessModes: ["ReadWriteMany", "ReadWriteOnce"],
      },
    }),
    ["x", "Bound", "v", "1Gi", "RWO,RWX", "", "<unknown>", "Filesystem"],
  );
  assert.deepEqual(
    cellsOf(persistentVolume, { metadata, spec: { ...volume, claimRef: { namespace: "n", name: "c" } } }),
    ["x", "1Gi", "RWO", "Retain", "Pending", "n/c", "", "", "<unknown>", "Filesystem"],
  );
  const marked = { name: "x", annotations: { "storageclass.orch.io/is-default-class": "true" } };
  assert.deepEqual(cellsOf(storageClass, { metadata: marked, provisioner }), [
    "x (default)",
    provisioner,
    "Delete",
    "Immediate",
    false,
    "<unknown>",
  ]);
});

test("empty topology terms are told as often as somebody can read", () => {
  const { causes } = tryCreate(storageClass, {
    metadata,
    provisioner,
    volumeBindingMode: "Immediate",
    allowedTopologies: Array.from({ length: 2000 }, () => ({})),
  });
  assert.equal(causes.length, 1000);
});
