import assert from "node:assert/strict";
import { test } from "node:test";
import { kinds } from "#client";
import { addNode, withScheduler } from "../cluster.fixture.ts";
import type { SeenNode, SeenPod } from "../node-info.ts";
import { failureText, findNode } from "../placement.ts";
import { defaultPlugins } from "../profile.ts";
import { snapshotOf } from "../snapshot.fixture.ts";

const nodes = ["x", "y"].map((name) => ({
  metadata: { name, labels: { disk: name, zone: "1" } },
  spec: {},
  status: { allocatable: { cpu: "4", memory: "8Gi", pods: "10" } },
})) as unknown as SeenNode[];
const pod = {
  metadata: { name: "p", namespace: "default", uid: "u" },
  spec: { containers: [], volumes: [{ name: "v", persistentVolumeClaim: { claimName: "c" } }] },
  status: {},
} as unknown as SeenPod;
const on = (matchLabels: object) => ({ nodeTopology: { matchLabels } });
const large = { capacity: "2Gi" };
const small = { capacity: "1Gi" };
const none = "0/2 nodes are available: 2 node(s) did not have enough free storage.";

const cases: [name: string, capacities: object[], expected: string, driver?: object][] = [
  ["no capacity is published", [], none],
  ["the driver does not publish its capacity", [], "x", { storageCapacity: false }],
  [
    "one node has enough",
    [
      { ...on({ disk: "x" }), ...small },
      { ...on({ disk: "y" }), ...large },
    ],
    "y",
  ],
  ["all nodes share it", [{ nodeTopology: {}, ...large }], "x"],
  ["all labels must match", [{ ...on({ zone: "1", disk: "y" }), ...large }], "y"],
  ["no node has access", [large], none],
  ["volumes are limited to less", [{ nodeTopology: {}, ...large, maximumVolumeSize: "1Gi" }], none],
  ["it is unknown", [{ nodeTopology: {} }], none],
];
for (const [name, capacities, expected, driver = { storageCapacity: true }] of cases)
  test(`a pod with an unbound claim is placed by storage capacity: ${name}`, () => {
    const volumes = {
      claim: () => ({
        metadata: { name: "c" },
        spec: { storageClassName: "s", resources: { requests: { storage: "1536Mi" } } },
        status: {},
      }),
      storageClass: () => ({
        metadata: { name: "s" },
        provisioner: "d.example.com",
        volumeBindingMode: "WaitForFirstConsumer",
      }),
      csiDriver: () => ({ spec: driver }),
      capacities: () => capacities,
    };
    const snapshot = snapshotOf(
      nodes.map((each) => [each, []]),
      { volumes: volumes as never },
    );
    const options = { plugins: defaultPlugins, nominated: new Map(), random: () => 0 };
    const found = findNode(pod, snapshot, options);
    assert.equal(found.node?.name ?? failureText(found.failures!), expected);
  });

test("a pod is scheduled once enough storage capacity is published", () =>
  withScheduler(async ({ client, until }) => {
    const namespace = "default";
    const provisioner = "d.example.com";
    await addNode(client, "n1");
    await client
      .of(kinds.csiDrivers)
      .create({ metadata: { name: provisioner }, spec: { storageCapacity: true } });
    await client.of(kinds.storageClasses).create({
      metadata: { name: "s" },
      provisioner,
      volumeBindingMode: "WaitForFirstConsumer",
    });
    const requests = { storage: "1Gi" };
    await client.of(kinds.persistentVolumeClaims).create({
      metadata: { name: "c", namespace },
      spec: { accessModes: ["ReadWriteOnce"], storageClassName: "s", resources: { requests } },
    });
    const pods = client.of(kinds.pods);
    await pods.create({
      metadata: { name: "p", namespace },
      spec: {
        containers: [{ name: "c", image: "i", resources: {} }],
        volumes: [{ name: "v", persistentVolumeClaim: { claimName: "c" } }],
      },
    });
    await until(async () =>
      (await pods.get("p", { namespace })).status.conditions?.find(({ message }) =>
        message?.includes("did not have enough free storage"),
      ),
    );
    await client.of(kinds.csiStorageCapacities).create({
      metadata: { name: "k", namespace },
      storageClassName: "s",
      nodeTopology: {},
      capacity: "1Gi",
    });
    const claims = client.of(kinds.persistentVolumeClaims);
    const annotation = client.dialect.names.annotations.selectedNode;
    const node = await until(
      async () => (await claims.get("c", { namespace })).metadata.annotations?.[annotation],
    );
    assert.equal(node, "n1");
  }));
