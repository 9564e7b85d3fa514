import assert from "node:assert/strict";
import { test } from "node:test";
import type { Node, Pod } from "#api";
import { dialects } from "#dialect";
import { choose } from "./choose.ts";

type NodeParts = {
  labels?: object;
  unschedulable?: boolean;
  taints?: object[];
  allocatable?: object;
  ready?: string;
};
const node = (
  name: string,
  { labels = {}, unschedulable, taints, allocatable = {}, ready = "True" }: NodeParts = {},
): Node =>
  ({
    metadata: { name, labels },
    spec: { ...(unschedulable && { unschedulable }), ...(taints && { taints }) },
    status: {
      allocatable: { cpu: "2", memory: "4Gi", pods: "3", ...allocatable },
      conditions: [{ type: "Ready", status: ready }],
    },
  }) as unknown as Node;
const pod = (spec: object = {}): Pod =>
  ({
    metadata: { name: "p", namespace: "default" },
    spec: { containers: [{ name: "c" }], ...spec },
    status: {},
  }) as unknown as Pod;
const asking = (requests: object, more: object = {}): Pod =>
  pod({ containers: [{ name: "c", resources: { requests } }], ...more });
const withPort = (hostPort: number, hostIP?: string): Pod =>
  pod({
    containers: [
      { name: "c", ports: [{ containerPort: 1, hostPort, protocol: "TCP", ...(hostIP && { hostIP }) }] },
    ],
  });
const affine = (...terms: object[]): Pod =>
  pod({
    affinity: {
      nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: terms } },
    },
  });
const expression = (key: string, operator: string, ...values: string[]): object => ({
  matchExpressions: [{ key, operator, values }],
});

const dedicated = [{ key: "dedicated", value: "db", effect: "NoSchedule" }];
const why = (reason: string): string => `0/1 nodes are available: 1 ${reason}.`;
const taint = why("node(s) had untolerated taint {dedicated: db}");
const affinity = why("node(s) didn't match Pod's node affinity/selector");
const ports = why("node(s) didn't have free ports for the requested pod ports");

const cases: [name: string, pod: Pod, nodes: Node[], assigned: Record<string, Pod[]>, expected: string][] = [
  ["a pod goes to the one node", pod(), [node("a")], {}, "a"],
  ["without nodes a pod goes nowhere", pod(), [], {}, "no nodes available to schedule pods"],
  ["a closed node takes nothing", pod(), [node("a", { unschedulable: true })], {}, why("node(s) were unschedulable")],
  ["a closed node takes what tolerates that", pod({ tolerations: [{ operator: "Exists" }] }), [node("a", { unschedulable: true })], {}, "a"],
  ["a node that is not ready takes nothing", pod(), [node("a", { ready: "Unknown" })], {}, why("node(s) were not ready")],
  ["a taint keeps pods off", pod(), [node("a", { taints: dedicated })], {}, taint],
  ["a taint that expels keeps pods off", pod(), [node("a", { taints: [{ ...dedicated[0], effect: "NoExecute" }] })], {}, taint],
  ["a taint that is a preference keeps nobody off", pod(), [node("a", { taints: [{ ...dedicated[0], effect: "PreferNoSchedule" }] })], {}, "a"],
  ["a toleration of the same value lets in", pod({ tolerations: [{ key: "dedicated", value: "db" }] }), [node("a", { taints: dedicated })], {}, "a"],
  ["a toleration of another value does not let in", pod({ tolerations: [{ key: "dedicated", value: "web" }] }), [node("a", { taints: dedicated })], {}, taint],
  ["a toleration of another effect does not let in", pod({ tolerations: [{ key: "dedicated", operator: "Exists", effect: "NoExecute" }] }), [node("a", { taints: dedicated })], {}, taint],
  ["a pod goes where the labels are that it selects", pod({ nodeSelector: { disk: "ssd" } }), [node("a"), node("b", { labels: { disk: "ssd" } })], {}, "b"],
  ["a pod goes nowhere if nobody has the labels that it selects", pod({ nodeSelector: { disk: "ssd" } }), [node("a", { labels: { disk: "hdd" } })], {}, affinity],
  ["an affinity needs one of its terms", affine(expression("x", "Exists"), expression("disk", "In", "ssd")), [node("a", { labels: { disk: "ssd" } })], {}, "a"],
  ["an empty term matches nothing", affine({}), [node("a")], {}, affinity],
  ["a node may be named as a field", affine({ matchFields: [{ key: "metadata.name", operator: "In", values: ["b"] }] }), [node("a"), node("b")], {}, "b"],
  ["an affinity compares numbers upwards", affine(expression("cores", "Gt", "4")), [node("a", { labels: { cores: "8" } })], {}, "a"],
  ["an affinity compares numbers downwards", affine(expression("cores", "Lt", "4")), [node("a", { labels: { cores: "8" } })], {}, affinity],
  ["an affinity may ask for the absence of a label", affine(expression("gpu", "DoesNotExist")), [node("a", { labels: { gpu: "1" } }), node("b")], {}, "b"],
  ["what fits exactly fits", asking({ cpu: "2", memory: "4Gi" }), [node("a")], {}, "a"],
  ["what others have is not there any more", asking({ cpu: "1500m" }), [node("a")], { a: [asking({ cpu: "600m" })] }, why("Insufficient cpu")],
  ["every shortage is told", asking({ cpu: "3", memory: "5Gi" }), [node("a")], {}, "0/1 nodes are available: 1 Insufficient cpu, 1 Insufficient memory."],
  ["resources a node does not have are short", asking({ "example.com/gpu": "1" }), [node("a")], {}, why("Insufficient example.com/gpu")],
  ["preparing containers count when they are larger", pod({ containers: [{ name: "c" }], initContainers: [{ name: "i", resources: { requests: { cpu: "3" } } }] }), [node("a")], {}, why("Insufficient cpu")],
  ["overhead counts", asking({ cpu: "2" }, { overhead: { cpu: "10m" } }), [node("a")], {}, why("Insufficient cpu")],
  ["a node takes only so many pods", pod(), [node("a")], { a: [pod(), pod(), pod()] }, why("Too many pods")],
  ["a host port is given once", withPort(80), [node("a")], { a: [withPort(80)] }, ports],
  ["a host port is given once per address", withPort(80, "10.0.0.1"), [node("a")], { a: [withPort(80, "10.0.0.2")] }, "a"],
  ["a host port on all addresses is taken on each", withPort(80, "10.0.0.1"), [node("a")], { a: [withPort(80)] }, ports],
  ["the emptier node is taken", pod(), [node("a"), node("b")], { a: [asking({ cpu: "1" })] }, "b"],
  ["of equal ones the first by name", pod(), [node("b"), node("a")], {}, "a"],
  ["reasons are counted", pod(), [node("a", { taints: dedicated }), node("b", { taints: dedicated }), node("c", { unschedulable: true })], {},
    "0/3 nodes are available: 1 node(s) were unschedulable, 2 node(s) had untolerated taint {dedicated: db}."],
]; // prettier-ignore
for (const [name, given, nodes, assigned, expected] of cases) {
  test(name, () => {
    const choice = choose(given, nodes, (at) => assigned[at] ?? [], dialects.orch);
    assert.equal(choice.node ?? choice.why, expected);
  });
}
