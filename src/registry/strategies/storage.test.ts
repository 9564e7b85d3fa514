import assert from "node:assert/strict";
import { test } from "node:test";
import type { Strategy } from "../strategy.ts";
import { csiDriver, csiNode, csiStorageCapacity } from "./csi.ts";
import { persistentVolume } from "./persistent-volume.ts";
import { storageClass } from "./storage-class.ts";
import {
  cellsOf,
  defaulted,
  tryCreate,
  tryPart,
  tryUpdate,
  causesOf,
  contextOf,
} from "./strategy.fixture.ts";
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
    "a claim requires access modes and a size",
    persistentVolumeClaim,
    { spec: { resources: {} } },
    ["Required spec.accessModes", "Required spec.resources[storage]"],
  ],
  [
    "an unknown mode of a claim is refused",
    persistentVolumeClaim,
    { spec: { ...claim, accessModes: ["Odd"], volumeMode: "Odd" } },
    ["NotSupported spec.accessModes", "NotSupported spec.volumeMode"],
  ],
  [
    "ReadWriteOncePod excludes other access modes",
    persistentVolumeClaim,
    { spec: { ...claim, accessModes: ["ReadWriteOncePod", "ReadWriteOnce"] } },
    ["Forbidden spec.accessModes"],
  ],
  ["a volume requires a source", persistentVolume, { spec: nowhere }, ["Required spec"]],
  [
    "a volume has a single source",
    persistentVolume,
    { spec: { ...volume, nfs: { server: "s", path: "/x" } } },
    ["Forbidden spec.nfs"],
  ],
  [
    "a volume requires capacity, access modes and a valid path",
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
    "the capacity of a volume must be positive",
    persistentVolume,
    { spec: { ...volume, capacity: { storage: "0" } } },
    ["Invalid spec.capacity[storage]"],
  ],
  [
    "a local volume requires a node affinity",
    persistentVolume,
    { spec: { ...nowhere, local: { path: "/d" } } },
    ["Required spec.nodeAffinity"],
  ],
  [
    "a CSI volume requires driver and volume handle",
    persistentVolume,
    { spec: { ...nowhere, csi: { driver: "", volumeHandle: "" } } },
    ["Invalid spec.csi.driver", "Required spec.csi.driver", "Required spec.csi.volumeHandle"],
  ],
  [
    "secret references of a CSI volume require name and namespace",
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
    "secret references of other volumes require a name",
    persistentVolume,
    { spec: { ...nowhere, cinder: { volumeID: "v", secretRef: {} } } },
    ["Required spec.cinder.secretRef.name", "Required spec.cinder.secretRef.namespace"],
  ],
  [
    "the namespace of a glusterfs volume must be valid",
    persistentVolume,
    { spec: { ...nowhere, glusterfs: { endpoints: "e", path: "p", endpointsNamespace: "" } } },
    ["Invalid spec.glusterfs.endpointsNamespace"],
  ],
  [
    "an additional flexVolume is validated, too",
    persistentVolume,
    { spec: { ...volume, flexVolume: {} } },
    ["Required spec.flexVolume.driver"],
  ],
  [
    "a local volume with an empty node affinity is refused",
    persistentVolume,
    { spec: { ...nowhere, local: { path: "/d" }, nodeAffinity: { required: { nodeSelectorTerms: [] } } } },
    ["Required spec.nodeAffinity.required.nodeSelectorTerms"],
  ],
  [
    "mount options are refused for volumes that cannot be mounted with them",
    persistentVolume,
    { metadata: { ...metadata, annotations: { "volume.beta.orch.io/mount-options": "ro" } }, spec: volume },
    ["Forbidden metadata.annotations.volume.beta.orch.io/mount-options"],
  ],
  [
    "mount options are allowed for NFS volumes",
    persistentVolume,
    {
      metadata: { ...metadata, annotations: { "volume.beta.orch.io/mount-options": "ro" } },
      spec: { ...nowhere, nfs: { server: "s", path: "/x" } },
    },
    [],
  ],
  [
    "a malformed provisioner and unknown policies are refused",
    storageClass,
    { provisioner: "bad prov!", volumeBindingMode: "X", reclaimPolicy: "Y" },
    ["Invalid provisioner", "NotSupported reclaimPolicy", "NotSupported volumeBindingMode"],
  ],
  [
    "allowed topologies are unique",
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
    "an attachment requires a source",
    volumeAttachment,
    { spec: { attacher: "d.example.com", nodeName: "n", source: {} } },
    ["Required spec.source"],
  ],
  [
    "an attachment has a single source",
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
    "inline volumes of attachments must be CSI volumes",
    volumeAttachment,
    { spec: { attacher: "d.example.com", nodeName: "n", source: { inlineVolumeSpec: volume } } },
    ["Forbidden spec.source.inlineVolumeSpec.capacity", "Required spec.source.inlineVolumeSpec.csi"],
  ],
  [
    "a CSI volume may be inline in an attachment",
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
    "unknown modes of a CSI driver are refused",
    csiDriver,
    { spec: { fsGroupPolicy: "X", volumeLifecycleModes: ["Y"] } },
    ["NotSupported spec.fsGroupPolicy", "NotSupported spec.volumeLifecycleModes"],
  ],
  [
    "token requests of a CSI driver are unique and have a minimum duration",
    csiDriver,
    { spec: { tokenRequests: [{ audience: "a", expirationSeconds: 5 }, { audience: "a" }] } },
    ["Duplicate spec.tokenRequests[1].audience", "Invalid spec.tokenRequests[0].expirationSeconds"],
  ],
  [
    "drivers of a CSI node are unique",
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
    "an empty topology term counts as duplicate",
    storageClass,
    { provisioner, volumeBindingMode: "Immediate", allowedTopologies: [{}] },
    ["Duplicate allowedTopologies[0].matchLabelExpressions"],
  ],
  [
    "storage capacity must not be negative, and errors are reported twice",
    csiStorageCapacity,
    { storageClassName: "c", capacity: "-1" },
    ["Invalid capacity", "Invalid capacity"],
  ],
];
for (const [name, strategy, sent, causes] of refused)
  test(name, () => assert.deepEqual(tryCreate(strategy, { metadata, ...sent }).causes, causes));

const changed: [name: string, strategy: Strategy, before: object, after: object, causes: string[]][] = [
  [
    "the spec of a claim is immutable",
    persistentVolumeClaim,
    { spec: { ...claim, storageClassName: "a" } },
    { spec: { ...claim, storageClassName: "b" } },
    ["Forbidden spec"],
  ],
  [
    "a missing storage class may be set",
    persistentVolumeClaim,
    { spec: claim },
    { spec: { ...claim, storageClassName: "b" } },
    [],
  ],
  [
    "a claim may be bound to a volume",
    persistentVolumeClaim,
    { spec: claim },
    { spec: { ...claim, volumeName: "v" } },
    [],
  ],
  [
    "a claim may not shrink",
    persistentVolumeClaim,
    { spec: claim },
    { spec: { ...claim, resources: { requests: { storage: "1Mi" } } } },
    ["Forbidden spec", "Forbidden spec.resources.requests.storage"],
  ],
  [
    "the source of a volume is immutable",
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
    "the secret for expansion may be added later",
    persistentVolume,
    { spec: { ...nowhere, csi } },
    { spec: { ...nowhere, csi: { ...csi, controllerExpandSecretRef: { name: "s", namespace: "n" } } } },
    [],
  ],
  [
    "errors of a changed claim are reported twice",
    persistentVolumeClaim,
    { spec: claim },
    { spec: { ...claim, accessModes: [] } },
    ["Forbidden spec", "Required spec.accessModes", "Required spec.accessModes"],
  ],
  [
    "errors of a changed volume are reported twice",
    persistentVolume,
    { spec: volume },
    { spec: { ...volume, accessModes: [] } },
    ["Required spec.accessModes", "Required spec.accessModes"],
  ],
  [
    "the annotation of the storage class is immutable",
    persistentVolumeClaim,
    { metadata: { ...metadata, annotations: { "volume.beta.orch.io/storage-class": "a" } }, spec: claim },
    { metadata: { ...metadata, annotations: { "volume.beta.orch.io/storage-class": "b" } }, spec: claim },
    ["Invalid metadata.annotations.volume.beta.orch.io/storage-class"],
  ],
  [
    "deprecated node labels may be replaced by their successors",
    persistentVolume,
    { spec: { ...volume, nodeAffinity: on("beta.orch.io/os") } },
    { spec: { ...volume, nodeAffinity: on("orch.io/os") } },
    [],
  ],
  [
    "node labels may not be replaced by others",
    persistentVolume,
    { spec: { ...volume, nodeAffinity: on("beta.orch.io/os") } },
    { spec: { ...volume, nodeAffinity: on("orch.io/arch") } },
    ["Invalid nodeAffinity"],
  ],
  [
    "an existing data source is immutable, even of a kind that is not allowed",
    persistentVolumeClaim,
    { spec: { ...claim, dataSourceRef: populator } },
    { spec: { ...claim, dataSource: populator, dataSourceRef: populator } },
    [],
  ],
  [
    "parameters of a storage class are immutable",
    storageClass,
    { provisioner },
    { provisioner: "example.com/q", parameters: { a: "b" }, reclaimPolicy: "Retain" },
    ["Forbidden parameters", "Forbidden provisioner", "Forbidden reclaimPolicy"],
  ],
  [
    "allowVolumeExpansion of a storage class is mutable",
    storageClass,
    { provisioner },
    { provisioner, allowVolumeExpansion: true },
    [],
  ],
  [
    "drivers of a CSI node are immutable",
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

test("a bound claim may be expanded", () => {
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

test("dataSource and dataSourceRef are kept equal", () => {
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
  ["dataSource allows only claims and snapshots", { dataSource: populator }, undefined, undefined],
  ["dataSourceRef allows other kinds", { dataSourceRef: populator }, populator, populator],
  [
    "data sources in other namespaces are dropped",
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

test("the recovery state of a failed expansion is dropped", () => {
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
  ["a claim with fractional bytes", persistentVolumeClaim, { spec: { ...claim, resources: { requests: { storage: "1500m" } } } }, "spec.resources.requests[storage]"],
  ["a volume with deprecated node labels", persistentVolume, { spec: { ...volume, nodeAffinity: on("beta.orch.io/os") } }, "spec.nodeAffinity.required.nodeSelectorTerms[0].matchExpressions[0].key"],
  ["a storage class with deprecated node labels", storageClass, { provisioner, allowedTopologies: [{ matchLabelExpressions: [{ key: "beta.orch.io/os", values: ["a"] }] }] }, "allowedTopologies[0].matchLabelExpressions[0].key"],
  ["a storage capacity with deprecated node labels", csiStorageCapacity, { storageClassName: "c", nodeTopology: { matchLabels: { "beta.orch.io/os": "a" } } }, "nodeTopology.matchLabels.beta.orch.io/os"],
]; // prettier-ignore
for (const [name, strategy, sent, expected] of warned) {
  // prettier-ignore
  test(`warnings about ${name}`, () => assert.deepEqual(tryCreate(strategy, { metadata, ...sent }).warnings.map((text) => text.split(": ")[0]), [expected]));
}

test("the status of an attachment does not change its metadata", () => {
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

test("table rows of storage kinds", () => {
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

test("errors about empty topology terms are limited", () => {
  const { causes } = tryCreate(storageClass, {
    metadata,
    provisioner,
    volumeBindingMode: "Immediate",
    allowedTopologies: Array.from({ length: 2000 }, () => ({})),
  });
  assert.equal(causes.length, 1000);
});
