import assert from "node:assert/strict";
import { test } from "node:test";
import type { ResourceQuota } from "#api";
import { ApiError } from "#base";
import { dialects } from "#dialect";
import type { AdmissionAttributes } from "../../attributes.ts";
import { attributesOf } from "../../attributes.fixture.ts";
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
  attributesOf({
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
  ["a quota without a status is not enforced", [quota({ hard: {} })], request("configmaps", {}), {}],
  ["objects count under both of their names", [quota(zero("configmaps", "count/configmaps"))], request("configmaps", {}), { q: { configmaps: "1", "count/configmaps": "1" } }],
  ["names contain the API group", [quota(zero("count/deployments.apps"))], request("deployments", {}, { resource: { group: "apps", version: "v1", resource: "deployments" } }), { q: { "count/deployments.apps": "1" } }],
  ["resources without a limit are not counted", [quota(zero("pods"))], request("secrets", {}), {}],
  ["the last object that fits", [quota({ hard: { secrets: "1" }, used: { secrets: "0" } })], request("secrets", {}), { q: { secrets: "1" } }],
  ["an object that exceeds the quota", [quota({ hard: { secrets: "1" }, used: { secrets: "1" } })], request("secrets", {}), "403 exceeded quota: q, requested: secrets=1, used: secrets=1, limited: secrets=1"],
  ["a dry run that exceeds the quota", [quota({ hard: { secrets: "1" }, used: { secrets: "1" } })], request("secrets", {}, { dryRun: true }), "403 exceeded quota: q, requested: secrets=1, used: secrets=1, limited: secrets=1"],
  ["a dry run is not charged", [quota(zero("secrets"))], request("secrets", {}, { dryRun: true }), {}],
  ["a status without usage of a limited resource", [quota({ hard: { secrets: "1", configmaps: "1" }, used: { configmaps: "0" } })], request("secrets", {}), "403 status unknown for quota: q, resources: secrets"],
  ["updates of counted objects are not charged", [quota(zero("secrets"))], request("secrets", {}, { operation: "UPDATE", oldObject: {} }), {}],
  ["pods are charged by their requests", [quota(zero("pods", "requests.cpu", "cpu", "limits.cpu", "count/pods"))], request("pods", pod([container({ cpu: "500m" }, { cpu: "1" }), container({ cpu: "100m" }, { cpu: "1" }, "d")])), { q: { pods: "1", "requests.cpu": "600m", cpu: "600m", "limits.cpu": "2", "count/pods": "1" } }],
  ["init containers and overhead are charged", [quota({ hard: { "requests.memory": "9Gi" }, used: { "requests.memory": "0" } })], request("pods", pod([container({ memory: "1Gi" })], { initContainers: [container({ memory: "2Gi" }, {}, "i")], overhead: { memory: "1Gi" } })), { q: { "requests.memory": "3Gi" } }],
  ["containers must set the limited resources", [quota(zero("requests.cpu", "limits.memory"))], request("pods", pod([container({}, {}, "b"), container({ cpu: "1" }, {}, "a")])), "403 failed quota: q: must specify limits.memory for: a,b; requests.cpu for: b"],
  ["extended resources count as requests", [quota(zero("requests.example.com/gpu"))], request("pods", pod([container({ "example.com/gpu": "1" })])), { q: { "requests.example.com/gpu": "1" } }],
  ["a scope that does not match", [quota(zero("pods"), { scopes: ["BestEffort"] })], request("pods", pod([container({ cpu: "1" })])), {}],
  ["a scope that matches", [quota(zero("pods"), { scopes: ["NotBestEffort", "NotTerminating"] })], request("pods", pod([container({ cpu: "1" })])), { q: { pods: "1" } }],
  ["a scope for pods with a deadline", [quota(zero("pods"), { scopes: ["Terminating"] })], request("pods", pod([], { activeDeadlineSeconds: 5 })), { q: { pods: "1" } }],
  ["a scope for priority classes", [quota(zero("pods"), { scopeSelector: { matchExpressions: [{ scopeName: "PriorityClass", operator: "In", values: ["high"] }] } })], request("pods", pod([], { priorityClassName: "high" })), { q: { pods: "1" } }],
  ["a pod without a priority class does not match the scope", [quota(zero("pods"), { scopeSelector: { matchExpressions: [{ scopeName: "PriorityClass", operator: "NotIn", values: ["high"] }] } })], request("pods", pod([])), { q: { pods: "1" } }],
  ["scopes apply to pods only", [quota(zero("secrets"), { scopes: ["NotTerminating"] })], request("secrets", {}), {}],
  ["services are charged by their ports", [quota(zero("services", "services.nodeports"))], request("services", service("NodePort", [{}, {}])), { q: { services: "1", "services.nodeports": "2" } }],
  ["load balancers without node ports", [quota(zero("services.loadbalancers", "services.nodeports"))], request("services", service("LoadBalancer", [{ nodePort: 1 }, {}], { allocateLoadBalancerNodePorts: false })), { q: { "services.loadbalancers": "1", "services.nodeports": "1" } }],
  ["a service that adds ports", [quota({ hard: { services: "1", "services.nodeports": "1" }, used: { services: "1", "services.nodeports": "0" } })], request("services", service("NodePort", [{}]), { operation: "UPDATE", oldObject: service("ClusterIP", [{}]) as Record<string, unknown> }), { q: { services: "1", "services.nodeports": "1" } }],
  ["claims are charged by size and class", [quota({ hard: { "requests.storage": "5Gi", [`gold${dialect.names.resources.storageClassMarker}requests.storage`]: "5Gi", persistentvolumeclaims: "1" }, used: { "requests.storage": "1Gi", [`gold${dialect.names.resources.storageClassMarker}requests.storage`]: "0", persistentvolumeclaims: "0" } })], request("persistentvolumeclaims", claim("2Gi", "gold")), { q: { "requests.storage": "3Gi", [`gold${dialect.names.resources.storageClassMarker}requests.storage`]: "2Gi", persistentvolumeclaims: "1" } }],
  ["a claim that is expanded", [quota({ hard: { "requests.storage": "5Gi" }, used: { "requests.storage": "4Gi" } })], request("persistentvolumeclaims", claim("3Gi"), { operation: "UPDATE", oldObject: claim("1Gi") as Record<string, unknown> }), "403 exceeded quota: q, requested: requests.storage=2Gi, used: requests.storage=4Gi, limited: requests.storage=5Gi"],
  ["the object must fit into every quota", [quota(zero("secrets"), {}, "a"), quota({ hard: { secrets: "0" }, used: { secrets: "0" } }, {}, "b")], request("secrets", {}), "403 exceeded quota: b, requested: secrets=1, used: secrets=0, limited: secrets=0"],
  ["cluster-scoped objects are not charged", [quota(zero("count/nodes"))], request("nodes", {}, { namespace: "" }), {}],
]; // prettier-ignore
for (const [name, quotas, attributes, expected] of cases)
  test(name, async () => assert.deepEqual(await charged(quotas, attributes), expected));

const races: [name: string, refusals: number, expected: RegExp | object][] = [
  ["a quota that changed concurrently is charged again", 31, { q: { secrets: "1" } }],
  ["a quota that keeps changing is refused in the end", 32, /^409 /],
];
for (const [name, refusals, expected] of races) {
  test(name, async () => {
    const outcome = await charged([quota(zero("secrets"))], request("secrets", {}), refusals);
    if (expected instanceof RegExp) assert.match(String(outcome), expected);
    else assert.deepEqual(outcome, expected);
  });
}

test("concurrent requests are charged one after the other", async () => {
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

const podRequesting = (cpu: string, allocated?: string): Record<string, unknown> => ({
  metadata: {},
  ...(pod([container({ cpu })]) as Record<string, unknown>),
  ...(allocated && {
    status: { containerStatuses: [{ name: "c", allocatedResources: { cpu: allocated } }] },
  }),
});
const resized: [name: string, from: string, to: string, expected: unknown, off?: boolean][] = [
  ["is charged for an increase", "1", "2", { q: { "requests.cpu": "4" } }],
  [
    "is refused if it exceeds the quota",
    "1",
    "3",
    "403 exceeded quota: q, requested: requests.cpu=2, used: requests.cpu=3, limited: requests.cpu=4",
  ],
  ["releases a decrease", "2", "500m", { q: { "requests.cpu": "1500m" } }],
  ["is not charged without a change", "2", "2", {}],
  ["is not charged while pods are not resizable", "1", "3", {}, true],
];
for (const [name, from, to, expected, off] of resized)
  test(`a pod with changed requests ${name}`, async () => {
    const status = { hard: { "requests.cpu": "4" }, used: { "requests.cpu": "3" } };
    const attributes = request("pods", podRequesting(to), {
      operation: "UPDATE",
      oldObject: podRequesting(from),
    });
    assert.deepEqual(await charged([quota(status)], attributes, 0, !off), expected);
  });

test("a pod is charged for its allocated resources until it has shrunk", async () => {
  const status = { hard: { "requests.cpu": "4" }, used: { "requests.cpu": "3" } };
  const attributes = request("pods", podRequesting("1", "2"), {
    operation: "UPDATE",
    oldObject: podRequesting("2", "2"),
  });
  assert.deepEqual(await charged([quota(status)], attributes, 0, true), {});
});
