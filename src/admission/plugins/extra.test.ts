import assert from "node:assert/strict";
import { test } from "node:test";
import type { Namespace } from "#api";
import type { Authorizer } from "#authz";
import { badRequest } from "#base";
import { dialects } from "#dialect";
import type { AdmissionPlugin, AdmissionAttributes } from "../attributes.ts";
import { attributesOf, resultOrCode } from "../attributes.fixture.ts";
import { alwaysDeny, denyServiceExternalIPs, ownerReferencesPermission } from "./denials.ts";
import { namespaceAutoProvision, namespaceExists } from "./namespace-existence.ts";
import { podNodeSelector, podTolerationRestriction } from "./namespace-annotations.ts";
import {
  alwaysPullImages,
  extendedResourceToleration,
  limitHardAntiAffinity,
  securityContextDeny,
} from "./pod-limits.ts";

const dialect = dialects.orch;
const { annotations, taints, labels } = dialect.names;

/** Returns the resulting spec, or the code of the refusal. */
async function outcome(
  plugin: AdmissionPlugin,
  given: Partial<AdmissionAttributes>,
): Promise<Record<string, unknown> | string> {
  const attributes = attributesOf(given);
  return await resultOrCode(async () => {
    await plugin.mutate?.(attributes);
    await plugin.validate?.(attributes);
    return (attributes.object?.["spec"] ?? {}) as Record<string, unknown>;
  });
}
const pod = (spec: object): Record<string, unknown> => ({
  metadata: {},
  spec: { containers: [{ name: "c", image: "a", resources: {} }], ...spec },
});
const namespaceWith = (text: Record<string, string>) => async () =>
  ({ metadata: { annotations: text } }) as unknown as Namespace;
const exists = (key: string, effect = "NoSchedule"): object => ({ key, operator: "Exists", effect });
const requesting = { containers: [{ name: "c", resources: { requests: { cpu: "1" } } }] };
const device = { containers: [{ name: "c", resources: { requests: { "example.com/gpu": "1", cpu: "1" } } }] };
const grudge = (topologyKey: string): object => ({
  affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey }] } },
});

const refusals: [name: string, plugin: AdmissionPlugin, given: Partial<AdmissionAttributes>, refused: boolean][] = [
  ["any pod with AlwaysDeny", alwaysDeny, { object: pod({}) }, true],
  ["anti-affinity by hostname", limitHardAntiAffinity(dialect), { object: pod(grudge(labels.hostname)) }, false],
  ["anti-affinity by zone", limitHardAntiAffinity(dialect), { object: pod(grudge("zone")) }, true],
  ["a pod without runAsUser", securityContextDeny, { object: pod({ securityContext: {} }) }, false],
  ["a pod with runAsUser", securityContextDeny, { object: pod({ securityContext: { runAsUser: 0 } }) }, true],
  ["a pod with supplemental groups", securityContextDeny, { object: pod({ securityContext: { supplementalGroups: [1] } }) }, true],
  ["a container with runAsUser", securityContextDeny, { object: pod({ initContainers: [{ securityContext: { runAsUser: 1 } }] }) }, true],
  ["a service with an external IP", denyServiceExternalIPs, { object: { spec: { externalIPs: ["192.0.2.1"] } } }, true],
  ["a service that keeps its external IP", denyServiceExternalIPs, { object: { spec: { externalIPs: ["192.0.2.1"] } }, oldObject: { spec: { externalIPs: ["192.0.2.1", "192.0.2.2"] } } }, false],
  ["a service with an additional external IP", denyServiceExternalIPs, { object: { spec: { externalIPs: ["192.0.2.1"] } }, oldObject: { spec: { externalIPs: ["192.0.2.2"] } } }, true],
  ["an object in an existing namespace", namespaceExists(() => "active"), { object: pod({}) }, false],
  ["an object in a missing namespace", namespaceExists(() => "absent"), { object: pod({}) }, true],
  ["a node selector that conflicts with that of the namespace", podNodeSelector(dialect, namespaceWith({ [annotations.nodeSelector]: "x=y" })), { object: pod({ nodeSelector: { x: "z" } }) }, true],
  ["a pod in a namespace with a malformed selector", podNodeSelector(dialect, namespaceWith({ [annotations.nodeSelector]: "x" })), { object: pod({}) }, true],
  ["a toleration that the namespace allows", podTolerationRestriction(dialect, namespaceWith({ [annotations.allowedTolerations]: '[{"operator":"Exists"}]' })), { object: pod({ tolerations: [exists("a")] }) }, false],
  ["a toleration that the namespace does not allow", podTolerationRestriction(dialect, namespaceWith({ [annotations.allowedTolerations]: '[{"key":"b","operator":"Exists"}]' })), { object: pod({ tolerations: [exists("a")] }) }, true],
  ["malformed default tolerations", podTolerationRestriction(dialect, namespaceWith({ [annotations.defaultTolerations]: "{" })), { object: pod({}) }, true],
]; // prettier-ignore
for (const [name, plugin, given, refused] of refusals) {
  test(`${name}: ${refused ? "refused" : "admitted"}`, async () =>
    assert.equal(typeof (await outcome(plugin, given)) === "string", refused));
}

const changes: [name: string, plugin: AdmissionPlugin, given: Partial<AdmissionAttributes>, key: string, expected: unknown][] = [
  ["images are always pulled", alwaysPullImages, { object: pod({ containers: [{ name: "c", image: "a", imagePullPolicy: "Never" }] }) }, "containers", [{ name: "c", image: "a", imagePullPolicy: "Always" }]],
  ["unchanged images keep their pull policy", alwaysPullImages, { object: pod({ containers: [{ name: "c", image: "a" }] }), oldObject: pod({}) }, "containers", [{ name: "c", image: "a" }]],
  ["a status update does not change the pull policy", alwaysPullImages, { subresource: "status", object: pod({ containers: [{ name: "c", image: "b", imagePullPolicy: "Never" }] }), oldObject: pod({}) }, "containers", [{ name: "c", image: "b", imagePullPolicy: "Never" }]],
  ["a status update does not add the node selector", podNodeSelector(dialect, namespaceWith({ [annotations.nodeSelector]: "x=y" })), { subresource: "status", object: pod({}), oldObject: pod({}) }, "nodeSelector", undefined],
  ["a status update does not add tolerations", podTolerationRestriction(dialect, namespaceWith({})), { subresource: "status", object: pod(requesting), oldObject: pod(requesting) }, "tolerations", undefined],
  ["the selector of the namespace is added", podNodeSelector(dialect, namespaceWith({ [annotations.nodeSelector]: "x=y, a = b" })), { object: pod({ nodeSelector: { c: "d" } }) }, "nodeSelector", { x: "y", a: "b", c: "d" }],
  ["a namespace without a selector changes nothing", podNodeSelector(dialect, namespaceWith({})), { object: pod({}) }, "nodeSelector", undefined],
  ["the default tolerations of the namespace are added", podTolerationRestriction(dialect, namespaceWith({ [annotations.defaultTolerations]: '[{"key":"k","operator":"Exists"}]' })), { object: pod({ tolerations: [exists("a")] }) }, "tolerations", [exists("a"), { key: "k", operator: "Exists" }]],
  ["a pod with requests tolerates memory pressure", podTolerationRestriction(dialect, namespaceWith({})), { object: pod(requesting) }, "tolerations", [exists(taints.memoryPressure)]],
  ["a pod that requests a device tolerates its taint", extendedResourceToleration(dialect), { object: pod(device) }, "tolerations", [exists("example.com/gpu")]],
  ["once", extendedResourceToleration(dialect), { object: pod({ ...device, tolerations: [exists("example.com/gpu")] }) }, "tolerations", [exists("example.com/gpu")]],
]; // prettier-ignore
for (const [name, plugin, given, key, expected] of changes) {
  test(name, async () =>
    assert.deepEqual(((await outcome(plugin, given)) as Record<string, unknown>)[key], expected),
  );
}

test("a missing namespace is created, except in a dry run", async () => {
  const made: string[] = [];
  const plugin = namespaceAutoProvision(
    async (name) => (name === "there" ? "active" : "absent"),
    async (name) => void made.push(name),
  );
  for (const given of [
    { namespace: "there" },
    { namespace: "new" },
    { namespace: "dry", dryRun: true },
    { namespace: "" },
  ])
    await outcome(plugin, given);
  assert.deepEqual(made, ["new"]);
});

test("an object is refused if its namespace cannot be created", async () => {
  const plugin = namespaceAutoProvision(
    () => "absent",
    async () => {
      throw badRequest("not a name");
    },
  );
  assert.equal(await outcome(plugin, { namespace: "B!" }), "403");
});

const allowing = (...allowed: string[]): Authorizer => ({
  decide: ({ verb, resource }) => ({
    verdict: allowed.includes(`${verb} ${resource!.resource}/${resource!.subresource} ${resource!.name}`)
      ? "allow"
      : "no opinion",
    reason: "",
  }),
  rulesFor: () => ({ resourceRules: [], nonResourceRules: [], incomplete: false }),
});
const owned = (...refs: object[]): Record<string, unknown> => ({ metadata: { ownerReferences: refs } });
const owner = (blockOwnerDeletion: boolean, kind = "Deployment"): object => ({
  apiVersion: "apps/v1",
  kind,
  name: "d",
  uid: "u",
  blockOwnerDeletion,
});
const owners: [
  name: string,
  authorizer: Authorizer,
  given: Partial<AdmissionAttributes>,
  refused: boolean,
][] = [
  ["a new object may have an owner", allowing(), { object: owned(owner(false)) }, false],
  ["blocking the deletion of an owner requires permission", allowing(), { object: owned(owner(true)) }, true],
  [
    "permission for the finalizers of the owner suffices",
    allowing("update deployments/finalizers d"),
    { object: owned(owner(true)) },
    false,
  ],
  [
    "permission for all finalizers suffices",
    allowing("update */finalizers *"),
    { object: owned(owner(true)) },
    false,
  ],
  [
    "an unknown kind of owner cannot be blocked",
    allowing("update deployments/finalizers d"),
    { object: owned(owner(true, "Odd")) },
    true,
  ],
  [
    "setting an owner requires permission to delete the object",
    allowing(),
    { object: owned(owner(false)), oldObject: owned() },
    true,
  ],
  [
    "permission to delete the object suffices to set an owner",
    allowing("delete pods/ p"),
    { object: owned(owner(false)), oldObject: owned() },
    false,
  ],
  [
    "unchanged owners need no permission",
    allowing(),
    { object: owned(owner(true)), oldObject: owned(owner(true)) },
    false,
  ],
  [
    "owners in a status update need no permission",
    allowing(),
    { subresource: "status", object: owned(owner(true)), oldObject: owned() },
    false,
  ],
];
for (const [name, authorizer, given, refused] of owners) {
  const resourcesOf = (_apiVersion: string, kind: string) =>
    kind === "Deployment"
      ? [{ group: "apps", version: "v1", resource: "deployments", namespaced: true }]
      : undefined;
  // prettier-ignore
  test(`owners: ${name}`, async () => assert.equal(await outcome(ownerReferencesPermission({ authorizer, resourcesOf }), given) === "403", refused));
}

test("the refusal contains the reason of the authorizer", async () => {
  const plugin = ownerReferencesPermission({
    authorizer: { ...allowing(), decide: () => ({ verdict: "no opinion", reason: "RBAC: no" }) },
    resourcesOf: () => [{ group: "apps", version: "v1", resource: "deployments", namespaced: true }],
  });
  const attempt = attributesOf({ object: owned(owner(true)) });
  await assert.rejects(
    async () => plugin.validate!(attempt),
    /you can't set finalizers on: RBAC: no, <nil>$/,
  );
});
