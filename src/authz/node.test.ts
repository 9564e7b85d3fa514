import assert from "node:assert/strict";
import { test } from "node:test";
import type { PersistentVolume, Pod, VolumeAttachment } from "#api";
import { dialects } from "#dialect";
import type { ResourceTarget } from "./authorizer.ts";
import { nodeRules } from "./bootstrap-policy.ts";
import { selectorsOf } from "./selectors.ts";
import { type NodeAuthorizerOptions, nodeAuthorizer } from "./node.ts";

const dialect = dialects.orch;
const pod = (metadata: object, spec: object): Pod =>
  ({ metadata: { namespace: "n", ...metadata }, spec }) as unknown as Pod;
const env = (valueFrom: object): object => ({ name: "c", env: [{ name: "X", valueFrom }] });
const pods: Pod[] = [
  pod(
    { name: "p" },
    {
      serviceAccountName: "account",
      imagePullSecrets: [{ name: "pull" }],
      containers: [
        env({ secretKeyRef: { name: "env" } }),
        { name: "d", envFrom: [{ configMapRef: { name: "whole" } }] },
      ],
      ephemeralContainers: [env({ secretKeyRef: { name: "looking" } })],
      volumes: [
        { name: "s", secret: { secretName: "volume" } },
        { name: "q", projected: { sources: [{ configMap: { name: "projected" } }] } },
        { name: "c", persistentVolumeClaim: { claimName: "claim" } },
        { name: "e", ephemeral: {} },
      ],
    },
  ),
  pod(
    { name: "m", annotations: { [dialect.names.annotations.configMirror]: "x" } },
    { volumes: [{ name: "s", secret: { secretName: "mirrored" } }] },
  ),
];
const volume = {
  metadata: { name: "v" },
  spec: {
    claimRef: { namespace: "n", name: "claim" },
    csi: {
      nodePublishSecretRef: { namespace: "far", name: "mount" },
      controllerPublishSecretRef: { namespace: "far", name: "control" },
    },
  },
} as unknown as PersistentVolume;
const options: NodeAuthorizerOptions = {
  dialect,
  rules: nodeRules(dialect),
  podsOn: async (node) => (node === "node1" ? pods : []),
  volume: async (name) => (name === "v" ? volume : undefined),
  volumes: async () => [volume],
  attachment: async (name) =>
    ({ a: { spec: { nodeName: "node1" } }, b: { spec: { nodeName: "node2" } } })[name] as
      | VolumeAttachment
      | undefined,
};
const authorizer = nodeAuthorizer(options);
const node1 = { name: "system:node:node1", groups: ["system:nodes"] };
const at = (text: string): ResourceTarget => {
  const [path = "", name = ""] = text.split(" ");
  const [group = "", resource = "", subresource = ""] = path.split("/");
  const [namespace = "", own = ""] = name.includes("/") ? name.split("/") : ["", name];
  return { group, version: "v1", resource, subresource, namespace, name: own };
};

const cases: [verb: string, target: string, allowed: boolean][] = [
  ["get", "/secrets n/env", true],
  ["get", "/secrets n/pull", true],
  ["watch", "/secrets n/volume", true],
  ["get", "/secrets n/looking", true],
  ["get", "/secrets n/mirrored", false],
  ["get", "/secrets other/env", false],
  ["get", "/secrets far/mount", true],
  ["get", "/secrets far/control", false],
  ["list", "/secrets n/", false],
  ["update", "/secrets n/env", false],
  ["get", "/configmaps n/whole", true],
  ["get", "/configmaps n/projected", true],
  ["get", "/configmaps n/none", false],
  ["get", "/persistentvolumeclaims n/claim", true],
  ["get", "/persistentvolumeclaims n/p-e", true],
  ["get", "/persistentvolumeclaims n/other", false],
  ["list", "/persistentvolumeclaims n/claim", false],
  ["patch", "/persistentvolumeclaims/status n/claim", true],
  ["get", "/persistentvolumeclaims/status n/claim", false],
  ["get", "/persistentvolumes v", true],
  ["get", "/persistentvolumes w", false],
  ["get", "storage.orch.io/volumeattachments a", true],
  ["get", "storage.orch.io/volumeattachments b", false],
  ["create", "/serviceaccounts/token n/account", true],
  ["create", "/serviceaccounts/token n/other", false],
  ["get", "/serviceaccounts n/account", false],
  ["create", "coordination.orch.io/leases orch-node-lease/", true],
  ["update", "coordination.orch.io/leases orch-node-lease/node1", true],
  ["update", "coordination.orch.io/leases orch-node-lease/node2", false],
  ["list", "coordination.orch.io/leases orch-node-lease/", false],
  ["get", "coordination.orch.io/leases n/node1", false],
  ["create", "storage.orch.io/csinodes ", true],
  ["get", "storage.orch.io/csinodes node2", false],
  ["create", "/nodes ", true],
  ["list", "/pods ", true],
  ["delete", "/nodes node1", false],
];
for (const [verb, target, allowed] of cases) {
  test(`a node may ${allowed ? "" : "not "}${verb} ${target}`, async () => {
    assert.equal(
      (await authorizer.decide({ user: node1, verb, resource: at(target) })).verdict,
      allowed ? "allow" : "no opinion",
    );
  });
}

const others: [name: string, user: { name: string; groups: string[] }][] = [
  ["a user outside of the group", { name: "system:node:node1", groups: [] }],
  ["a member that is not a node", { name: "bob", groups: ["system:nodes"] }],
  ["a node without a name", { name: "system:node:", groups: ["system:nodes"] }],
  ["a node without pods", { name: "system:node:node2", groups: ["system:nodes"] }],
];
for (const [name, user] of others) {
  test(`${name} cannot read a secret`, async () =>
    assert.equal(
      (await authorizer.decide({ user, verb: "get", resource: at("/secrets n/env") })).verdict,
      "no opinion",
    ));
}

test("a node's permissions cannot be listed", () => {
  assert.equal(authorizer.rulesFor(node1, "n").incomplete, true);
  assert.equal(authorizer.rulesFor({ name: "bob", groups: [] }, "n").incomplete, false);
});

const ownOnly = nodeAuthorizer({ ...options, ownOnly: true });
const own: [verb: string, target: string, fields: string, allowed: boolean][] = [
  ["get", "/nodes node1", "", true],
  ["watch", "/nodes node1", "metadata.name=node1", true],
  ["get", "/nodes node2", "", false],
  ["list", "/nodes ", "", false],
  ["create", "/nodes ", "", true],
  ["patch", "/nodes/status node1", "", true],
  ["get", "/nodes/status node1", "", false],
  ["delete", "/nodes node1", "", false],
  ["list", "/pods ", "", false],
  ["list", "/pods ", "spec.nodeName=node1", true],
  ["watch", "/pods ", "status.phase!=Failed,spec.nodeName==node1", true],
  ["list", "/pods ", "spec.nodeName=node2", false],
  ["list", "/pods ", "spec.nodeName!=node1", false],
  ["get", "/pods n/p", "", true],
  ["watch", "/pods n/p", "metadata.name=p", true],
  ["get", "/pods n/other", "", false],
  ["create", "/pods n/", "", true],
  ["delete", "/pods n/p", "", true],
  ["deletecollection", "/pods n/", "spec.nodeName=node1", false],
  ["update", "/pods n/p", "", false],
  ["patch", "/pods/status n/p", "", true],
  ["get", "/pods/log n/p", "", false],
  ["create", "/pods/eviction n/p", "", true],
];
for (const [verb, target, fields, allowed] of own)
  test(`with selectors, a node may ${allowed ? "" : "not "}${verb} ${target} ${fields}`, async () => {
    const action = { user: node1, verb, resource: at(target), selectors: selectorsOf(fields, "") };
    assert.equal((await ownOnly.decide(action)).verdict, allowed ? "allow" : "no opinion");
  });
