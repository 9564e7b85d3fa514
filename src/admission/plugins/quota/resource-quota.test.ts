import assert from "node:assert/strict";
import { test } from "node:test";
import type { ResourceQuota } from "#api";
import { ApiError } from "#base";
import { dialects } from "#dialect";
import type { AdmissionAttributes } from "../../attributes.ts";
import { attemptOf } from "../../attributes.fixture.ts";
import { resourceQuota } from "./resource-quota.ts";

const dialect = dialects.orch;
type Status = { readonly hard: Record<string, string>; readonly used?: Record<string, string> };
const quota = (status: Status, spec: object = {}, name = "q"): ResourceQuota =>
  ({ metadata: { name, namespace: "n" }, spec, status }) as unknown as ResourceQuota;
const request = (
  resource: string,
  object: object,
  more: Partial<AdmissionAttributes> = {},
): AdmissionAttributes =>
  attemptOf({
    resource: { group: "", version: "v1", resource },
    kind: { group: "", version: "v1", kind: resource },
    name: "x",
    object: { metadata: {}, ...object },
    ...more,
  });

/** Returns the resulting usage by quota, or why the request was refused. */
async function charged(
  quotas: ResourceQuota[],
  attributes: AdmissionAttributes,
  refusals = 0,
  podResize = false,
): Promise<Record<string, Record<string, string>> | string> {
  const used: Record<string, Record<string, string>> = {};
  let left = refusals;
  const plugin = resourceQuota({
    dialect,
    now: () => 0,
    podResize,
    quotasIn: async () => quotas,
    write: async ({ metadata }, amounts) => {
      if (left-- > 0) return false;
      used[metadata.name!] = { ...amounts };
      return true;
    },
  });
  try {
    await plugin.validate!(attributes);
    return used;
  } catch (error) {
    assert.ok(error instanceof ApiError);
    return `${error.code} ${error.message.replace(/^.* is forbidden: /, "")}`;
  }
}

const container = (requests: object, limits: object = {}, name = "c"): object => ({
  name,
  resources: { requests, limits },
});
const pod = (containers: object[], spec: object = {}): object => ({ spec: { containers, ...spec } });
const zero = (...names: string[]): Status => ({
  hard: Object.fromEntries(names.map((name) => [name, "2"])),
  used: Object.fromEntries(names.map((name) => [name, "0"])),
});
const service = (type: string, ports: object[], more: object = {}): object => ({
  spec: { type, ports, ...more },
});
const claim = (storage: string, storageClassName?: string): object => ({
  metadata: {},
  spec: { storageClassName, resources: { requests: { storage } } },
});

const cases: [name: string, quotas: ResourceQuota[], attributes: AdmissionAttributes, expected: Awaited<ReturnType<typeof charged>>][] = [
  ["a quota without status is not enforced", [quota({ hard: {} })], request("configmaps", {}), {}],
  ["objects count under both their names", [quota(zero("configmaps", "count/configmaps"))], request("configmaps", {}), { q: { configmaps: "1", "count/configmaps": "1" } }],
  ["groups are part of the name", [quota(zero("count/deployments.apps"))], request("deployments", {}, { resource: { group: "apps", version: "v1", resource: "deployments" } }), { q: { "count/deployments.apps": "1" } }],
  ["what is not limited is not counted", [quota(zero("pods"))], request("secrets", {}), {}],
  ["the last one that fits", [quota({ hard: { secrets: "1" }, used: { secrets: "0" } })], request("secrets", {}), { q: { secrets: "1" } }],
  ["one too many", [quota({ hard: { secrets: "1" }, used: { secrets: "1" } })], request("secrets", {}), "403 exceeded quota: q, requested: secrets=1, used: secrets=1, limited: secrets=1"],
  ["a dry run is refused, too", [quota({ hard: { secrets: "1" }, used: { secrets: "1" } })], request("secrets", {}, { dryRun: true }), "403 exceeded quota: q, requested: secrets=1, used: secrets=1, limited: secrets=1"],
  ["a dry run that fits is not counted", [quota(zero("secrets"))], request("secrets", {}, { dryRun: true }), {}],
  ["a status that lacks what is limited", [quota({ hard: { secrets: "1", configmaps: "1" }, used: { configmaps: "0" } })], request("secrets", {}), "403 status unknown for quota: q, resources: secrets"],
  ["changes of what is only counted are free", [quota(zero("secrets"))], request("secrets", {}, { operation: "UPDATE", oldObject: {} }), {}],
  ["pods by what they ask for", [quota(zero("pods", "requests.cpu", "cpu", "limits.cpu", "count/pods"))], request("pods", pod([container({ cpu: "500m" }, { cpu: "1" }), container({ cpu: "100m" }, { cpu: "1" }, "d")])), { q: { pods: "1", "requests.cpu": "600m", cpu: "600m", "limits.cpu": "2", "count/pods": "1" } }],
  ["a large init container, and what the runtime costs", [quota({ hard: { "requests.memory": "9Gi" }, used: { "requests.memory": "0" } })], request("pods", pod([container({ memory: "1Gi" })], { initContainers: [container({ memory: "2Gi" }, {}, "i")], overhead: { memory: "1Gi" } })), { q: { "requests.memory": "3Gi" } }],
  ["containers must say what a quota limits", [quota(zero("requests.cpu", "limits.memory"))], request("pods", pod([container({}, {}, "b"), container({ cpu: "1" }, {}, "a")])), "403 failed quota: q: must specify limits.memory for: a,b; requests.cpu for: b"],
  ["resources of others count as requests", [quota(zero("requests.example.com/gpu"))], request("pods", pod([container({ "example.com/gpu": "1" })])), { q: { "requests.example.com/gpu": "1" } }],
  ["a scope that does not fit", [quota(zero("pods"), { scopes: ["BestEffort"] })], request("pods", pod([container({ cpu: "1" })])), {}],
  ["a scope that fits", [quota(zero("pods"), { scopes: ["NotBestEffort", "NotTerminating"] })], request("pods", pod([container({ cpu: "1" })])), { q: { pods: "1" } }],
  ["pods with a deadline", [quota(zero("pods"), { scopes: ["Terminating"] })], request("pods", pod([], { activeDeadlineSeconds: 5 })), { q: { pods: "1" } }],
  ["a priority class among others", [quota(zero("pods"), { scopeSelector: { matchExpressions: [{ scopeName: "PriorityClass", operator: "In", values: ["high"] }] } })], request("pods", pod([], { priorityClassName: "high" })), { q: { pods: "1" } }],
  ["no priority class is none of them", [quota(zero("pods"), { scopeSelector: { matchExpressions: [{ scopeName: "PriorityClass", operator: "NotIn", values: ["high"] }] } })], request("pods", pod([])), { q: { pods: "1" } }],
  ["scopes are for pods", [quota(zero("secrets"), { scopes: ["NotTerminating"] })], request("secrets", {}), {}],
  ["services by their ports", [quota(zero("services", "services.nodeports"))], request("services", service("NodePort", [{}, {}])), { q: { services: "1", "services.nodeports": "2" } }],
  ["load balancers without ports of nodes", [quota(zero("services.loadbalancers", "services.nodeports"))], request("services", service("LoadBalancer", [{ nodePort: 1 }, {}], { allocateLoadBalancerNodePorts: false })), { q: { "services.loadbalancers": "1", "services.nodeports": "1" } }],
  ["a service that gets ports", [quota({ hard: { services: "1", "services.nodeports": "1" }, used: { services: "1", "services.nodeports": "0" } })], request("services", service("NodePort", [{}]), { operation: "UPDATE", oldObject: service("ClusterIP", [{}]) as Record<string, unknown> }), { q: { services: "1", "services.nodeports": "1" } }],
  ["claims by size and class", [quota({ hard: { "requests.storage": "5Gi", [`gold${dialect.names.resources.storageClassMarker}requests.storage`]: "5Gi", persistentvolumeclaims: "1" }, used: { "requests.storage": "1Gi", [`gold${dialect.names.resources.storageClassMarker}requests.storage`]: "0", persistentvolumeclaims: "0" } })], request("persistentvolumeclaims", claim("2Gi", "gold")), { q: { "requests.storage": "3Gi", [`gold${dialect.names.resources.storageClassMarker}requests.storage`]: "2Gi", persistentvolumeclaims: "1" } }],
  ["a claim that grows", [quota({ hard: { "requests.storage": "5Gi" }, used: { "requests.storage": "4Gi" } })], request("persistentvolumeclaims", claim("3Gi"), { operation: "UPDATE", oldObject: claim("1Gi") as Record<string, unknown> }), "403 exceeded quota: q, requested: requests.storage=2Gi, used: requests.storage=4Gi, limited: requests.storage=5Gi"],
  ["every quota must fit", [quota(zero("secrets"), {}, "a"), quota({ hard: { secrets: "0" }, used: { secrets: "0" } }, {}, "b")], request("secrets", {}), "403 exceeded quota: b, requested: secrets=1, used: secrets=0, limited: secrets=0"],
  ["what is outside of namespaces is free", [quota(zero("count/nodes"))], request("nodes", {}, { namespace: "" }), {}],
]; // prettier-ignore
for (const [name, quotas, attributes, expected] of cases)
  test(name, async () => assert.deepEqual(await charged(quotas, attributes), expected));

const races: [name: string, refusals: number, expected: RegExp | object][] = [
  ["a quota that others changed is charged anew", 31, { q: { secrets: "1" } }],
  ["a quota that others change all the time refuses in the end", 32, /^409 /],
];
for (const [name, refusals, expected] of races) {
  test(name, async () => {
    const outcome = await charged([quota(zero("secrets"))], request("secrets", {}), refusals);
    if (expected instanceof RegExp) assert.match(String(outcome), expected);
    else assert.deepEqual(outcome, expected);
  });
}

test("requests at the same time do not count from the same number", async () => {
  let used = "0";
  const plugin = resourceQuota({
    dialect,
    now: () => 0,
    quotasIn: async () => [quota({ hard: { secrets: "2" }, used: { secrets: used } })],
    write: async (_quota, amounts) => {
      await Promise.resolve();
      used = amounts["secrets"]!;
      return true;
    },
  });
  const outcomes = await Promise.allSettled(
    [1, 2, 3, 4].map(async () => plugin.validate!(request("secrets", {}))),
  );
  assert.deepEqual([outcomes.filter(({ status }) => status === "fulfilled").length, used], [2, "2"]);
});

const asking = (cpu: string, allocated?: string): Record<string, unknown> => ({
  metadata: {},
  ...(pod([container({ cpu })]) as Record<string, unknown>),
  ...(allocated && {
    status: { containerStatuses: [{ name: "c", allocatedResources: { cpu: allocated } }] },
  }),
});
const resized: [name: string, from: string, to: string, expected: unknown, off?: boolean][] = [
  ["is charged for more", "1", "2", { q: { "requests.cpu": "4" } }],
  [
    "is refused more than there is",
    "1",
    "3",
    "403 exceeded quota: q, requested: requests.cpu=2, used: requests.cpu=3, limited: requests.cpu=4",
  ],
  ["gives back what it asks less", "2", "500m", { q: { "requests.cpu": "1500m" } }],
  ["costs nothing when it asks for the same", "2", "2", {}],
  ["is not looked at while pods cannot change", "1", "3", {}, true],
];
for (const [name, from, to, expected, off] of resized)
  test(`a pod that changes what it asks for ${name}`, async () => {
    const status = { hard: { "requests.cpu": "4" }, used: { "requests.cpu": "3" } };
    const attributes = request("pods", asking(to), { operation: "UPDATE", oldObject: asking(from) });
    assert.deepEqual(await charged([quota(status)], attributes, 0, !off), expected);
  });

test("a pod counts for what its node has given it until it has shrunk", async () => {
  const status = { hard: { "requests.cpu": "4" }, used: { "requests.cpu": "3" } };
  const attributes = request("pods", asking("1", "2"), { operation: "UPDATE", oldObject: asking("2", "2") });
  assert.deepEqual(await charged([quota(status)], attributes, 0, true), {});
});
