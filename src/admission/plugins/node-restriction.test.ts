import assert from "node:assert/strict";
import { test } from "node:test";
import type { Node, Pod } from "#api";
import { dialects } from "#dialect";
import type { ApiError } from "#base";
import type { AdmissionAttributes } from "../attributes.ts";
import { attributesOf, resultOrCode } from "../attributes.fixture.ts";
import { nodeRestriction } from "./node-restriction.ts";

const dialect = dialects.orch;
const { annotations, labels } = dialect.names;
const options: Parameters<typeof nodeRestriction>[0] = {
  dialect,
  pod: async (_namespace, name) => ({ mine: { metadata: { uid: "u" }, spec: { nodeName: "node1" } }, theirs: { metadata: { uid: "u" }, spec: { nodeName: "node2" } } })[name] as unknown as Pod | undefined,
  node: async (name) => (name === "node1" ? ({ metadata: { uid: "n1" } } as unknown as Node) : undefined),
}; // prettier-ignore
const plugin = nodeRestriction(options);

/** `allowed`, or the code of the refusal. */
async function outcome(
  resource: string,
  given: Partial<AdmissionAttributes>,
  user = "system:node:node1",
): Promise<string> {
  const [group = "", plural = ""] = resource.split("/");
  const attributes = attributesOf({
    resource: { group, version: "v1", resource: plural },
    kind: { group, version: "v1", kind: "X" },
    name: "",
    user: { name: user, groups: ["system:nodes"] },
    ...given,
  });
  return await resultOrCode(async () => {
    await plugin.mutate!(attributes);
    return "allowed";
  });
}
const owner = { apiVersion: "v1", kind: "Node", name: "node1", uid: "n1", controller: true };
const mirror = (spec: object = {}, ownerReferences: object[] = [owner]): Record<string, unknown> => ({
  metadata: { name: "p", annotations: { [annotations.configMirror]: "x" }, ownerReferences },
  spec: { nodeName: "node1", containers: [{ name: "c" }], ...spec },
});
const node = (name: string, given: object = {}, spec: object = {}): Record<string, unknown> => ({
  metadata: { name, labels: given },
  spec,
});
const claim = (status: object, given: object = {}): Record<string, unknown> => ({
  metadata: { name: "c", labels: given },
  spec: {},
  status,
});
const token = (boundObjectRef?: object): Record<string, unknown> => ({ spec: { boundObjectRef } });
const bound = { apiVersion: "v1", kind: "Pod", name: "mine", uid: "u" };

const cases: [name: string, resource: string, given: Partial<AdmissionAttributes>, expected: string][] = [
  ["its own mirror pod", "/pods", { object: mirror() }, "allowed"],
  ["a pod that is not a mirror pod", "/pods", { object: { metadata: {}, spec: { nodeName: "node1" } } }, "403"],
  ["a mirror pod of another node", "/pods", { object: mirror({ nodeName: "node2" }) }, "403"],
  ["a mirror pod without an owner", "/pods", { object: mirror({}, []) }, "403"],
  ["a mirror pod with two owners", "/pods", { object: mirror({}, [owner, owner]) }, "403"],
  ["a mirror pod whose owner is an earlier node of the same name", "/pods", { object: mirror({}, [{ ...owner, uid: "n0" }]) }, "403"],
  ["a mirror pod that blocks the deletion of its owner", "/pods", { object: mirror({}, [{ ...owner, blockOwnerDeletion: true }]) }, "403"],
  ["a mirror pod with a service account", "/pods", { object: mirror({ serviceAccountName: "a" }) }, "403"],
  ["a mirror pod with a secret", "/pods", { object: mirror({ volumes: [{ name: "v", azureFile: { secretName: "s" } }] }) }, "403"],
  ["a mirror pod that uses a config map", "/pods", { object: mirror({ containers: [{ name: "c", envFrom: [{ configMapRef: { name: "m" } }] }] }) }, "403"],
  ["a mirror pod with a persistent volume claim", "/pods", { object: mirror({ volumes: [{ name: "v", persistentVolumeClaim: { claimName: "c" } }] }) }, "403"],
  ["the deletion of a pod on it", "/pods", { operation: "DELETE", name: "mine" }, "allowed"],
  ["the deletion of a pod on another node", "/pods", { operation: "DELETE", name: "theirs" }, "403"],
  ["the deletion of a missing pod", "/pods", { operation: "DELETE", name: "none" }, "404"],
  ["an update of a pod", "/pods", { name: "mine", object: mirror(), oldObject: mirror() }, "403"],
  ["the status of a pod on it", "/pods", { subresource: "status", object: mirror(), oldObject: mirror() }, "allowed"],
  ["the status of a pod on another node", "/pods", { subresource: "status", object: mirror(), oldObject: mirror({ nodeName: "node2" }) }, "403"],
  ["a status update that changes the labels of a pod", "/pods", { subresource: "status", object: { ...mirror(), metadata: { labels: { a: "b" } } }, oldObject: mirror() }, "403"],
  ["the eviction of a pod on it", "/pods", { subresource: "eviction", name: "mine", object: {} }, "allowed"],
  ["the eviction of a pod on another node", "/pods", { subresource: "eviction", name: "theirs", object: {} }, "403"],
  ["the binding of a pod", "/pods", { subresource: "binding", name: "mine", object: {} }, "403"],
  ["its own node", "/nodes", { object: node("node1", { "example.com/x": "y", [labels.hostname]: "h", "nodeagent.orch.io/x": "y" }) }, "allowed"],
  ["another node", "/nodes", { object: node("node2") }, "403"],
  ["its node with a reserved label", "/nodes", { object: node("node1", { "node-restriction.orch.io/x": "y" }) }, "403"],
  ["its node with an unknown product label", "/nodes", { object: node("node1", { "node-role.orch.io/master": "" }) }, "403"],
  ["its node with an unchanged product label", "/nodes", { name: "node1", object: node("node1", { "node-role.orch.io/master": "" }), oldObject: node("node1", { "node-role.orch.io/master": "" }) }, "allowed"],
  ["its node with a removed product label", "/nodes", { name: "node1", object: node("node1"), oldObject: node("node1", { "node-role.orch.io/master": "" }) }, "403"],
  ["its new node with taints", "/nodes", { object: node("node1", {}, { taints: [{ key: "a" }] }) }, "allowed"],
  ["its node with added taints", "/nodes", { name: "node1", object: node("node1", {}, { taints: [{ key: "a" }] }), oldObject: node("node1") }, "403"],
  ["the capacity of a claim", "/persistentvolumeclaims", { subresource: "status", object: claim({ phase: "Bound", capacity: { storage: "2Gi" } }), oldObject: claim({ phase: "Bound" }) }, "allowed"],
  ["the phase of a claim", "/persistentvolumeclaims", { subresource: "status", object: claim({ phase: "Lost" }), oldObject: claim({ phase: "Bound" }) }, "403"],
  ["a new claim", "/persistentvolumeclaims", { object: claim({}) }, "403"],
  ["a token for a pod on it", "/serviceaccounts", { subresource: "token", object: token(bound) }, "allowed"],
  ["an unbound token", "/serviceaccounts", { subresource: "token", object: token() }, "403"],
  ["a token bound to a deleted pod of the same name", "/serviceaccounts", { subresource: "token", object: token({ ...bound, uid: "v" }) }, "403"],
  ["a token for a pod on another node", "/serviceaccounts", { subresource: "token", object: token({ ...bound, name: "theirs" }) }, "403"],
  ["its own lease", "coordination.orch.io/leases", { namespace: "orch-node-lease", object: node("node1") }, "allowed"],
  ["the lease of another node", "coordination.orch.io/leases", { namespace: "orch-node-lease", object: node("node2") }, "403"],
  ["a lease of its name in another namespace", "coordination.orch.io/leases", { namespace: "n", object: node("node1") }, "403"],
  ["its own CSINode", "storage.orch.io/csinodes", { object: node("node1") }, "allowed"],
  ["the CSINode of another node", "storage.orch.io/csinodes", { operation: "DELETE", name: "node2" }, "403"],
]; // prettier-ignore
const verdicts: Readonly<Record<string, string>> = {
  allowed: "a node may request",
  "403": "a node may not request",
  "404": "a node gets not found for",
};
for (const [name, resource, given, expected] of cases)
  test(`${verdicts[expected]} ${name}`, async () => assert.equal(await outcome(resource, given), expected));

test("users other than nodes are not restricted, and a node without a name is always refused", async () => {
  assert.equal(await outcome("/nodes", { object: node("node2") }, "bob"), "allowed");
  assert.equal(await outcome("/nodes", { object: node("node2") }, "system:node:"), "403");
});

test("the eviction of a missing pod reports the singular resource name", async () => {
  const attributes = attributesOf({
    resource: { group: "", version: "v1", resource: "pods" },
    subresource: "eviction",
    name: "none",
    object: {},
    user: { name: "system:node:node1", groups: ["system:nodes"] },
  });
  await assert.rejects(
    async () => plugin.mutate!(attributes),
    (error: ApiError) => error.code === 404 && error.details?.kind === "pod",
  );
});

for (const expansionRecovery of [false, true])
  test(`a node ${expansionRecovery ? "may" : "may not"} report the state of a claim's expansion`, async () => {
    const status = { phase: "Bound", resizeStatus: "", allocatedResources: { storage: "2Gi" } };
    const attributes = attributesOf({
      resource: { group: "", version: "v1", resource: "persistentvolumeclaims" },
      kind: { group: "", version: "v1", kind: "PersistentVolumeClaim" },
      name: "c",
      operation: "UPDATE",
      user: { name: "system:node:node1", groups: ["system:nodes"] },
      subresource: "status",
      object: claim(status),
      oldObject: claim({ phase: "Bound" }),
    });
    const found = await resultOrCode(async () => {
      await nodeRestriction({ ...options, expansionRecovery }).mutate!(attributes);
      return "allowed";
    });
    assert.equal(found, expansionRecovery ? "allowed" : "403");
  });

test("refusals have the texts of kube-apiserver", async () => {
  const refusalOf = async (resource: string, given: Partial<AdmissionAttributes>): Promise<string> => {
    const attributes = attributesOf({
      resource: { group: "", version: "v1", resource },
      kind: { group: "", version: "v1", kind: "X" },
      user: { name: "system:node:node1", groups: ["system:nodes"] },
      name: "node1",
      ...given,
    });
    return await Promise.resolve(plugin.mutate!(attributes)).then(
      () => "allowed",
      (error: ApiError) => error.message,
    );
  };
  const key = `${labels.nodeRestrictionPrefix}/x`;
  const labelled = { metadata: { name: "node1", labels: { [key]: "y" } }, spec: {} };
  assert.match(
    await refusalOf("nodes", { object: labelled }),
    new RegExp(`: node "node1" is not allowed to set the following labels: ${key}$`),
  );
  const update = { operation: "UPDATE", object: labelled, oldObject: { metadata: {}, spec: {} } } as const;
  assert.match(await refusalOf("nodes", update), new RegExp(`: is not allowed to modify labels: ${key}$`));
  const token = (name: string, uid: string) => ({
    subresource: "token",
    object: { spec: { boundObjectRef: { apiVersion: "v1", kind: "Pod", name, uid } } },
  });
  assert.equal(await refusalOf("serviceaccounts", token("gone", "u")), 'pod "gone" not found');
  assert.match(
    await refusalOf("serviceaccounts", token("mine", "x")),
    /\(x\) does not match the UID in record. The object might have been deleted and then recreated$/,
  );
});
