import assert from "node:assert/strict";
import { test } from "node:test";
import type { SeenNode, SeenPod } from "../node-info.ts";
import { failureText, findNode } from "../placement.ts";
import { defaultPlugins } from "../profile.ts";
import { snapshotOf } from "../snapshot.fixture.ts";

const node = {
  metadata: { name: "x" },
  spec: {},
  status: { allocatable: { pods: "10" } },
} as unknown as SeenNode;
const podWith = (uid: string, volume: object): SeenPod =>
  ({
    metadata: { name: uid, namespace: uid, uid },
    spec: { containers: [], volumes: [{ name: "v", ...volume }] },
    status: {},
  }) as unknown as SeenPod;
const rbd = (monitors: string[], image: string, readOnly = false) => ({
  rbd: { monitors, pool: "p", image, readOnly },
});
const iscsi = (iqn: string, readOnly = false) => ({ iscsi: { iqn, readOnly } });
const gce = (pdName: string, readOnly = false) => ({ gcePersistentDisk: { pdName, readOnly } });
const aws = { awsElasticBlockStore: { volumeID: "a", readOnly: true } };

const cases: [name: string, wanted: object, taken: object, fits: boolean][] = [
  ["an iSCSI disk that another pod writes", iscsi("a", true), iscsi("a"), false],
  ["an iSCSI disk that all pods only read", iscsi("a", true), iscsi("a", true), true],
  ["another iSCSI disk", iscsi("a"), iscsi("b"), true],
  ["a GCE disk that another pod reads", gce("a"), gce("a", true), false],
  ["an EBS disk that all pods only read", aws, aws, false],
  ["a Ceph image with a monitor in common", rbd(["m", "n"], "a"), rbd(["n", "o"], "a"), false],
  ["another Ceph image", rbd(["m"], "a"), rbd(["m"], "b"), true],
  ["a disk of another kind with the same name", gce("a"), iscsi("a"), true],
];
for (const [name, wanted, taken, fits] of cases)
  test(`${name} ${fits ? "does not conflict" : "conflicts"} on its node`, () => {
    const options = { plugins: defaultPlugins, nominated: new Map(), random: () => 0 };
    const snapshot = snapshotOf([[node, [podWith("q", taken)]]]);
    const found = findNode(podWith("p", wanted), snapshot, options);
    assert.equal(
      found.node?.name ?? failureText(found.failures!),
      fits ? "x" : "0/1 nodes are available: 1 node(s) had no available disk.",
    );
  });
