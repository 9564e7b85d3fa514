import assert from "node:assert/strict";
import { test } from "node:test";
import type { Pod, Taint } from "#api";
import { dialects } from "#dialect";
import { type AdmissionOptions, podAdmission } from "./admission.ts";

const dialect = dialects.orch;
const os = dialect.names.labels.os;
type Spec = Record<string, unknown>;
const pod = (spec: Spec = {}, metadata: object = {}): Pod =>
  ({
    metadata: { name: "p", ...metadata },
    spec: { containers: [{ name: "c" }], ...spec },
  }) as unknown as Pod;
const requesting = (requests: Record<string, string>): Spec => ({
  containers: [{ name: "c", resources: { requests } }],
});
const withPort = (hostPort: number, more: object = {}): Spec => ({
  containers: [{ name: "c", ports: [{ containerPort: 80, hostPort, ...more }] }],
});
const affinity = (...terms: object[]): Spec => ({
  affinity: {
    nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: terms } },
  },
});
const expression = (key: string, operator: string, ...values: string[]): object => ({
  matchExpressions: [{ key, operator, ...(values.length > 0 && { values }) }],
});
const noExecute = { key: "gone", value: "yes", effect: "NoExecute" } as Taint;

interface Around {
  others?: Pod[];
  taints?: Taint[];
  unsafe?: string[];
  isolated?: boolean;
  pressures?: string[];
}
const critical = { priority: 2_000_000_000 };
const allocatable = {
  cpu: "2",
  memory: "1Gi",
  pods: "3",
  "ephemeral-storage": "1Gi",
  "hugepages-2Mi": "0",
  "example.com/gpu": "1",
};

const cases: [name: string, pod: Pod, reason: string | undefined, around?: Around][] = [
  ["a plain pod is admitted", pod(), undefined],
  [
    "a node under memory pressure rejects BestEffort pods",
    pod(),
    "Evicted",
    { pressures: ["MemoryPressure"] },
  ],
  [
    "a node under memory pressure admits pods with memory requests",
    pod(requesting({ memory: "1Mi" })),
    undefined,
    { pressures: ["MemoryPressure"] },
  ],
  [
    "a node under memory pressure admits pods that tolerate its taint",
    pod({ tolerations: [{ key: dialect.names.taints.memoryPressure, operator: "Exists" }] }),
    undefined,
    { pressures: ["MemoryPressure"] },
  ],
  [
    "a node under disk pressure rejects all ordinary pods",
    pod({ ...requesting({ memory: "1Mi" }), tolerations: [{ operator: "Exists" }] }),
    "Evicted",
    { pressures: ["MemoryPressure", "DiskPressure"] },
  ],
  [
    "a node under disk pressure admits critical pods",
    pod(critical),
    undefined,
    { pressures: ["DiskPressure"] },
  ],
  ["too many pods", pod(), "OutOfpods", { others: [pod(), pod(), pod()] }],
  ["a cpu request of the whole capacity fits", pod(requesting({ cpu: "2" })), undefined],
  ["a cpu request above the capacity does not fit", pod(requesting({ cpu: "2001m" })), "OutOfcpu"],
  [
    "cpu requests of other pods count",
    pod(requesting({ cpu: "1001m" })),
    "OutOfcpu",
    { others: [pod(requesting({ cpu: "1" }))] },
  ],
  [
    "a larger request of an init container counts alone",
    pod({
      ...requesting({ cpu: "1" }),
      initContainers: [{ name: "i", resources: { requests: { cpu: "3" } } }],
    }),
    "OutOfcpu",
  ],
  [
    "the pod overhead counts",
    pod({ ...requesting({ cpu: "1500m" }), overhead: { cpu: "600m" } }),
    "OutOfcpu",
  ],
  ["a memory request above the capacity", pod(requesting({ memory: "2Gi" })), "OutOfmemory"],
  ["cpu is reported before memory", pod(requesting({ memory: "2Gi", cpu: "9" })), "OutOfcpu"],
  ["hugepages that the node lacks", pod(requesting({ "hugepages-2Mi": "4Mi" })), "OutOfhugepages-2Mi"],
  ["local storage", pod(requesting({ "ephemeral-storage": "2Gi" })), "OutOfephemeral-storage"],
  [
    "an extended resource that the node has",
    pod(requesting({ "example.com/gpu": "2" })),
    "OutOfexample.com/gpu",
  ],
  [
    "an extended resource that the node does not have",
    pod(requesting({ "example.com/other": "2" })),
    undefined,
  ],
  ["a node selector that matches", pod({ nodeSelector: { zone: "a" } }), undefined],
  ["a node selector that does not match", pod({ nodeSelector: { zone: "b" } }), "NodeAffinity"],
  ["the selector of the operating system", pod({ nodeSelector: { [os]: "linux" } }), undefined],
  ["an affinity that matches", pod(affinity(expression("zone", "In", "a", "b"))), undefined],
  [
    "one of several terms is enough",
    pod(affinity(expression("zone", "In", "x"), expression("disk", "DoesNotExist"))),
    undefined,
  ],
  ["an affinity that does not match", pod(affinity(expression("zone", "NotIn", "a"))), "NodeAffinity"],
  ["a greater number", pod(affinity(expression("cores", "Gt", "7"))), undefined],
  ["a lesser number", pod(affinity(expression("cores", "Lt", "8"))), "NodeAffinity"],
  ["an empty term matches nothing", pod(affinity({})), "NodeAffinity"],
  ["an empty list of terms matches nothing", pod(affinity()), "NodeAffinity"],
  [
    "a field of the node",
    pod(affinity({ matchFields: [{ key: "metadata.name", operator: "In", values: ["n1"] }] })),
    undefined,
  ],
  ["another node's name", pod({ nodeName: "n2" }), "NodeName"],
  ["a host port that is free", pod(withPort(80)), undefined, { others: [pod(withPort(81))] }],
  ["a host port that is taken", pod(withPort(80)), "NodePorts", { others: [pod(withPort(80))] }],
  [
    "the same port of another protocol",
    pod(withPort(80)),
    undefined,
    { others: [pod(withPort(80, { protocol: "UDP" }))] },
  ],
  [
    "the same port of another address",
    pod(withPort(80, { hostIP: "10.0.0.1" })),
    undefined,
    { others: [pod(withPort(80, { hostIP: "10.0.0.2" }))] },
  ],
  [
    "one address conflicts with all addresses",
    pod(withPort(80, { hostIP: "10.0.0.1" })),
    "NodePorts",
    { others: [pod(withPort(80))] },
  ],
  ["a NoExecute taint", pod(), "TaintToleration", { taints: [noExecute] }],
  ["a NoSchedule taint", pod(), undefined, { taints: [{ ...noExecute, effect: "NoSchedule" }] }],
  [
    "a tolerated taint",
    pod({ tolerations: [{ key: "gone", operator: "Exists" }] }),
    undefined,
    { taints: [noExecute] },
  ],
  [
    "a taint tolerated with another value",
    pod({ tolerations: [{ key: "gone", value: "no" }] }),
    "TaintToleration",
    { taints: [noExecute] },
  ],
  [
    "a static pod and a taint",
    pod({}, { annotations: { [dialect.names.annotations.configSource]: "file" } }),
    undefined,
    { taints: [noExecute] },
  ],
  ["a pod for another operating system", pod({ os: { name: "windows" } }), "PodOSNotSupported"],
  [
    "a pod labelled for another operating system",
    pod({}, { labels: { [os]: "windows" } }),
    "PodOSSelectorNodeLabelDoesNotMatch",
  ],
  [
    "a safe sysctl",
    pod({ securityContext: { sysctls: [{ name: "net.ipv4.tcp_syncookies", value: "1" }] } }),
    undefined,
  ],
  [
    "an unsafe sysctl",
    pod({ securityContext: { sysctls: [{ name: "kernel.msgmax", value: "1" }] } }),
    "SysctlForbidden",
  ],
  [
    "an unsafe sysctl that is allowed",
    pod({ securityContext: { sysctls: [{ name: "kernel/msgmax", value: "1" }] } }),
    undefined,
    { unsafe: ["kernel.msg*"] },
  ],
  [
    "a sysctl of an interface with a dot in its name",
    pod({ securityContext: { sysctls: [{ name: "net/ipv4/conf/eth0.1/forwarding", value: "1" }] } }),
    undefined,
    { unsafe: ["net.ipv4.conf.eth0/1.forwarding"] },
  ],
  [
    "local storage that is not accounted for",
    pod(requesting({ "ephemeral-storage": "1Ki" })),
    "LocalStorageNotIsolated",
    { isolated: false },
  ],
  [
    "a limit on local storage that is not accounted for",
    pod({ containers: [{ name: "c", resources: { limits: { "ephemeral-storage": "1Ki" } } }] }),
    "LocalStorageNotIsolated",
    { isolated: false },
  ],
  [
    "an emptyDir with a size where local storage is not accounted for",
    pod({ volumes: [{ name: "v", emptyDir: { sizeLimit: "1Mi" } }] }),
    "LocalStorageNotIsolated",
    { isolated: false },
  ],
  [
    "an emptyDir without a size where local storage is not accounted for",
    pod({ volumes: [{ name: "v", emptyDir: {} }] }),
    undefined,
    { isolated: false },
  ],
  [
    "a network sysctl in the host's network",
    pod({
      hostNetwork: true,
      securityContext: { sysctls: [{ name: "net.ipv4.tcp_syncookies", value: "1" }] },
    }),
    "SysctlForbidden",
  ],
];
for (const [
  name,
  requested,
  reason,
  { others = [], taints = [], unsafe = [], isolated = true, pressures = [] } = {},
] of cases) {
  test(`${name}: ${reason ?? "admitted"}`, () => {
    const admission = podAdmission({
      dialect,
      nodeName: "n1",
      labels: () => ({ zone: "a", cores: "8" }),
      allocatable: () => allocatable,
      taints: () => taints,
      pressures: () => pressures,
      allowedUnsafeSysctls: unsafe,
      localStorageIsolation: isolated,
      appArmor: false,
    });
    const admitted = admission.admit(requested, others);
    assert.equal(admitted.ok ? undefined : admitted.reason, reason);
  });
}

const defaults: AdmissionOptions = {
  dialect,
  nodeName: "n1",
  labels: () => ({}),
  allocatable: () => allocatable,
  taints: () => [],
  pressures: () => [],
  allowedUnsafeSysctls: [],
  localStorageIsolation: true,
  appArmor: false,
};
const forbidden: [spec: object, name: string, message: string][] = [
  [{ hostNetwork: true }, "net.core.somaxconn", '"net.core.somaxconn" not allowlisted'],
  [
    { hostNetwork: true },
    "net/ipv4/tcp_syncookies",
    '"net.ipv4.tcp_syncookies" not allowed with host net enabled',
  ],
  [{ hostIPC: true }, "kernel.shm_rmid_forced", '"kernel.shm_rmid_forced" not allowed with host ipc enabled'],
];
for (const [spec, name, message] of forbidden)
  test(`a pod with the sysctl ${name} and ${JSON.stringify(spec)} is rejected: ${message}`, () => {
    const sysctls = [{ name, value: "1" }];
    assert.deepEqual(podAdmission(defaults).admit(pod({ ...spec, securityContext: { sysctls } }), []), {
      ok: false,
      reason: "SysctlForbidden",
      message: `forbidden sysctl: ${message}`,
    });
  });

test("messages contain the insufficient resource", () => {
  const admission = podAdmission(defaults);
  assert.deepEqual(admission.admit(pod(requesting({ cpu: "3" })), [pod(requesting({ cpu: "500m" }))]), {
    ok: false,
    reason: "OutOfcpu",
    message: "Node didn't have enough resource: cpu, requested: 3000, used: 500, capacity: 2000",
  });
  assert.deepEqual(admission.admit(pod({ nodeSelector: { a: "b" } }), []), {
    ok: false,
    reason: "NodeAffinity",
    message: "Predicate NodeAffinity failed",
  });
});

const named = (
  name: string,
  requests: Record<string, string>,
  more: Spec = {},
  limits: Record<string, string> = {},
): Pod => pod({ containers: [{ name: "c", resources: { requests, limits } }], ...more }, { name });
const guaranteed = (name: string, cpu: string): Pod =>
  named(name, { cpu, memory: "1Mi" }, {}, { cpu, memory: "1Mi" });
const preemptions: [name: string, pod: Pod, others: Pod[], result: string][] = [
  [
    "if all pods fit, none is preempted",
    named("p", { cpu: "1" }, critical),
    [named("a", { cpu: "1" })],
    "ok",
  ],
  [
    "a pod with a sufficient request is preempted",
    named("p", { cpu: "1" }, critical),
    [named("a", { cpu: "1500m" })],
    "a",
  ],
  [
    "one pod that frees enough is preempted rather than two",
    named("p", { cpu: "1" }, critical),
    [named("a", { cpu: "300m" }), named("b", { cpu: "500m" }), named("d", { cpu: "1" })],
    "d",
  ],
  [
    "of the pods that free enough, the smaller is preempted",
    named("p", { cpu: "1" }, critical),
    [named("a", { cpu: "900m" }), named("b", { cpu: "800m" })],
    "b",
  ],
  [
    "lower QoS classes are preempted first",
    named("p", { cpu: "1" }, critical),
    [guaranteed("g", "1"), named("b", { cpu: "1" })],
    "b",
  ],
  [
    "Guaranteed pods are preempted if nothing else suffices",
    named("p", { cpu: "2" }, critical),
    [guaranteed("g", "1"), named("b", { cpu: "1" })],
    "b,g",
  ],
  [
    "pods without requests make room for one more pod",
    named("p", {}, critical),
    [pod({}, { name: "x" }), named("b", { cpu: "1" }), guaranteed("g", "1")],
    "x",
  ],
  [
    "critical pods are not preempted for pods of the same priority",
    named("p", { cpu: "1" }, critical),
    [named("a", { cpu: "2" }, critical)],
    "UnexpectedAdmissionError",
  ],
  [
    "critical pods are preempted for a higher priority",
    named("p", { cpu: "1" }, { priority: 2_000_001_000 }),
    [named("a", { cpu: "2" }, critical)],
    "a",
  ],
  [
    "a request above the capacity is rejected",
    named("p", { cpu: "3" }, critical),
    [named("a", { cpu: "2" })],
    "UnexpectedAdmissionError",
  ],
  [
    "another failing check is reported",
    named("p", { cpu: "2", memory: "1Mi" }, { ...critical, nodeSelector: { zone: "b" } }),
    [named("a", { cpu: "2" })],
    "NodeAffinity",
  ],
  [
    "an ordinary pod is rejected",
    named("p", { cpu: "1" }, { priority: 1000 }),
    [named("a", { cpu: "2" }, { priority: 0 })],
    "OutOfcpu",
  ],
  [
    "static pods are critical",
    pod(requesting({ cpu: "1" }), {
      name: "s",
      annotations: { [dialect.names.annotations.configSource]: "file" },
    }),
    [named("a", { cpu: "2" })],
    "a",
  ],
];
for (const [name, requested, others, result] of preemptions) {
  test(`preemption: ${name}`, () => {
    const admitted = podAdmission({ ...defaults, labels: () => ({ zone: "a" }) }).admit(requested, others);
    assert.equal(
      admitted.ok
        ? (admitted.preempts?.map(({ metadata }) => metadata.name).join(",") ?? "ok")
        : admitted.reason,
      result,
    );
  });
}

test("a pod with AppArmor profiles is blocked on a kernel without AppArmor", () => {
  const prefix = dialect.names.annotations.appArmorContainerPrefix;
  const annotated = (profile: string): Pod => pod({}, { annotations: { [`${prefix}c`]: profile } });
  const without = podAdmission(defaults);
  assert.deepEqual(without.blocks!(annotated("runtime/default")), {
    reason: "AppArmor",
    message: "Cannot enforce AppArmor: AppArmor is not enabled on the host",
  });
  assert.deepEqual([annotated("unconfined"), pod()].map(without.blocks!), [undefined, undefined]);
  assert.equal(
    podAdmission({ ...defaults, appArmor: true }).blocks!(annotated("runtime/default")),
    undefined,
  );
});

test("a pod that ran before is checked against the recorded allocatable resources of the node", () => {
  const admission = podAdmission({
    dialect,
    nodeName: "n1",
    labels: () => ({}),
    allocatable: () => ({ cpu: "1", pods: "3" }),
    recordedAllocatable: () => ({ cpu: "2", pods: "3" }),
    taints: () => [],
    allowedUnsafeSysctls: [],
    localStorageIsolation: true,
    appArmor: false,
    pressures: () => [],
  });
  const large = pod(requesting({ cpu: "1500m" }));
  assert.deepEqual(
    [
      admission.admit(large, [], true).ok,
      admission.admit(large, []).ok,
      admission.admit(large, [large], true),
    ],
    [
      true,
      false,
      {
        ok: false,
        reason: "OutOfcpu",
        message: "Node didn't have enough resource: cpu, requested: 1500, used: 1500, capacity: 2000",
      },
    ],
  );
});
