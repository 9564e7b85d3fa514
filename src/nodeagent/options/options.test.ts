import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { apiVersionOf, dialects } from "#dialect";
import { configOf, configText, parseConfigFile, settle } from "#options";
import { isAllowedLabel } from "./labels.ts";
import { nodeagentOptions } from "./options.ts";
import { settleNodeagent } from "./settle.ts";
import { cpusOf } from "./types.ts";

const present = (path: string): boolean => !path.includes("absent");
const flags = ["--container-runtime-endpoint=unix:///run/x.sock"];
const usual = {
  authentication: { anonymous: { enabled: true }, webhook: { enabled: false } },
  authorization: { mode: "AlwaysAllow" },
};

async function run({
  argv = [],
  file,
  dialect = dialects.orch,
}: {
  argv?: readonly string[];
  file?: Record<string, unknown>;
  dialect?: typeof dialects.orch;
}) {
  const head = {
    apiVersion: apiVersionOf(dialect, { group: "nodeagent.config", branded: true, version: "v1beta1" }),
    kind: dialect.spelling.word("NodeAgentConfiguration"),
  };
  const files = file
    ? [await parseConfigFile("config.yaml", JSON.stringify({ ...head, ...usual, ...file }))]
    : [];
  return settle(nodeagentOptions(dialect), [...flags, ...argv], { files, readable: present });
}

test("a container runtime endpoint is the only required setting", async () => {
  assert.deepEqual((await run({})).errors, []);
  assert.deepEqual((await run({ file: {} })).errors, []);
  assert.equal(settle(nodeagentOptions(dialects.orch), []).errors.length, 1);
});

test("the four security defaults differ with a file", async () => {
  const pick = ({
    readOnlyPort,
    anonymousAuth,
    authenticationTokenWebhook,
    authorizationMode,
  }: Awaited<ReturnType<typeof run>>["values"]): unknown[] => [
    readOnlyPort,
    anonymousAuth,
    authenticationTokenWebhook,
    authorizationMode,
  ];
  assert.deepEqual(pick((await run({})).values), [10255, true, false, "AlwaysAllow"]);
  assert.deepEqual(
    pick(
      (await run({ file: { authentication: null, authorization: null }, argv: ["--orchconfig=x"] })).values,
    ),
    [0, false, true, "Webhook"],
  );
});

/** Rejected with a message that contains these texts; the setting is given by flag or in the file. */
const refused: [given: string | Record<string, unknown>, named: string[]][] = [
  ["--fail-swap-on=maybe", ["--fail-swap-on"]],
  ["--sync-frequency=5parsecs", ["--sync-frequency"]],
  ["--sync-frequency=0", ["--sync-frequency"]],
  ["--address=not-an-ip", ["--address"]],
  ["--hostname-override=Upper", ["--hostname-override"]],
  ["--feature-gates=NoSuchGate=true", ["--feature-gates", "NoSuchGate"]],
  ["--register-with-taints=k=v:Sometimes", ["--register-with-taints"]],
  ["--register-with-taints=a b=v:NoSchedule", ["--register-with-taints"]],
  ["--manifest-url-header=nocolon", ["--manifest-url-header"]],
  ["--qos-reserved=memory", ["--qos-reserved"]],
  ["--qos-reserved=cpu=50%", ["--qos-reserved"]],
  ["--system-reserved=cpu", ["--system-reserved"]],
  ["--system-reserved=cpu=-1", ["--system-reserved"]],
  ["--log-json-info-buffer-size=lots", ["--log-json-info-buffer-size", "quantit"]],
  ["--log-json-info-buffer-size=1K", ["LoggingAlphaOptions"]],
  ["--node-labels=a=b c", ["--node-labels", "b c"]],
  ["--node-labels=a/b/c=d", ["--node-labels", "a/b/c"]],
  [`--node-labels=foo.${dialects.orch.data.labelDomain}/x=y`, ["--node-labels", "reserved"]],
  ["--node-ip=300.1.1.1", ["--node-ip", "300.1.1.1"]],
  ["--node-ip=10.0.0.1,10.0.0.2", ["--node-ip", "families"]],
  ["--oom-score-adj=1001", ["--oom-score-adj", "oomScoreAdj"]],
  ["--iptables-masquerade-bit=32", ["iptablesMasqueradeBit"]],
  ["--iptables-masquerade-bit=15", ["iptablesMasqueradeBit", "iptablesDropBit"]],
  ["--image-gc-low-threshold=85", ["imageGCLowThresholdPercent", "imageGCHighThresholdPercent"]],
  ["--image-gc-high-threshold=101", ["imageGCHighThresholdPercent"]],
  ["--topology-manager-scope=node", ["topologyManagerScope"]],
  ["--cpu-manager-policy=dynamic", ["cpuManagerPolicy"]],
  ["--memory-manager-policy=most", ["memoryManagerPolicy"]],
  ["--cpu-manager-policy=static --feature-gates=CPUManager=false", ["CPUManager", "locked"]],
  [
    "--memory-manager-policy=Static --feature-gates=MemoryManager=false",
    ["memoryManagerPolicy", "feature gate MemoryManager"],
  ],
  [
    "--cpu-manager-policy-options=full-pcpus-only=true --feature-gates=CPUManagerPolicyOptions=false",
    ["cpuManagerPolicyOptions", "feature gate CPUManagerPolicyOptions"],
  ],
  [
    "--topology-manager-policy=sometimes",
    ["topologyManagerPolicy", "none, best-effort, restricted or single-numa-node"],
  ],
  [
    "--memory-manager-policy=Static --reserved-memory=0:memory=1Gi --reserved-memory=1:memory=1Gi",
    ["reservedMemory", "2Gi", "100Mi"],
  ],
  ["--container-runtime-endpoint=npipe:////./pipe/x", ["--container-runtime-endpoint", "unix socket"]],
  ["--container-runtime-endpoint=tcp://127.0.0.1:1", ["--container-runtime-endpoint", "unix socket"]],
  ["--logging-format=xml", ["--logging-format"]],
  [
    "--logging-format=json --feature-gates=LoggingBetaOptions=false",
    ["--logging-format", "feature gate LoggingBetaOptions"],
  ],
  ["--orch-api-content-type=text/plain", ["--orch-api-content-type"]],
  ["--runonce=true", ["--runonce", "--enable-server"]],
  ["--authorization-mode=Sometimes", ["--authorization-mode"]],
  ["--authorization-mode=Webhook", ["--authorization-mode", "--orchconfig"]],
  ["--authentication-token-webhook", ["webhook authentication", "--orchconfig"]],
  ["--tls-min-version=VersionTLS09", ["tlsMinVersion"]],
  ["--tls-cert-file=a.crt", ["tlsCertFile", "tlsPrivateKeyFile"]],
  ["--eviction-hard=memory.available=1Gi", ["--eviction-hard"]],
  ["--eviction-hard=disk.available<1Gi", ["--eviction-hard", "disk.available"]],
  ["--reserved-cpus=a-b", ["reservedSystemCPUs"]],
  ["--reserved-cpus=0,3-1", ["reservedSystemCPUs", '"3-1" is not']],
  ["--enforce-node-allocatable=everything", ["enforceNodeAllocatable"]],
  ["--enforce-node-allocatable=pods,system-reserved", ["systemReservedCgroup"]],
  ["--enforce-node-allocatable=pods,orch-reserved", ["orchReservedCgroup"]],
  ["--enforce-node-allocatable=pods,none", ["enforceNodeAllocatable"]],
  ["--cgroups-per-qos=false", ["cgroupsPerQOS", "enforceNodeAllocatable"]],
  ["--cgroup-driver=none", ["cgroupDriver"]],
  ["--nodeagent-cgroups=relative", ["nodeagentCgroups"]],
  ["--system-cgroups=/x", ["systemCgroups", "cgroupRoot"]],
  ["--client-ca-file=absent.crt", ["absent.crt"]],
  ["--orchconfig=absent.conf", ["absent.conf"]],
  ["--container-log-max-files=1", ["containerLogMaxFiles"]],
  ["--container-log-max-size=0", ["containerLogMaxSize"]],
  ["--seccomp-default --feature-gates=SeccompDefault=false", ["SeccompDefault"]],
  ["--exit-on-lock-contention", ["--lock-file"]],
  ["--pod-cidr=10.0.0.0", ["podCIDR"]],
  ["--max-pods=-1", ["maxPods"]],
  ["--pod-max-pids=0", ["podPidsLimit"]],
  ["--event-qps=-1", ["eventRecordQPS"]],
  ["--event-burst=-1", ["eventBurst"]],
  ["--allowed-unsafe-sysctls=vm.swappiness", ["allowedUnsafeSysctls", "vm.swappiness"]],
  ["--allowed-unsafe-sysctls=net.*x", ["allowedUnsafeSysctls"]],
  [{ port: 65536 }, ["config.yaml:1", "port"]],
  [{ readOnlyPort: -1 }, ["readOnlyPort"]],
  [{ healthzPort: 70000 }, ["healthzPort"]],
  [{ podsPerCore: -1 }, ["podsPerCore"]],
  [{ nodeStatusMaxImages: -2 }, ["nodeStatusMaxImages"]],
  [{ nodeLeaseDurationSeconds: -1 }, ["nodeLeaseDurationSeconds"]],
  [
    {
      featureGates: { TopologyManagerPolicyOptions: true, TopologyManagerPolicyAlphaOptions: true },
      topologyManagerPolicyOptions: { nope: "true" },
    },
    ["topologyManagerPolicyOptions", "nope"],
  ],
  [
    {
      featureGates: { CPUManagerPolicyAlphaOptions: true },
      cpuManagerPolicyOptions: { "align-by-socket": "true" },
      topologyManagerPolicy: "single-numa-node",
    },
    ["cpuManagerPolicyOptions", "single-numa-node"],
  ],
  [{ tracing: { endpoint: "ftp://localhost:4317" } }, ["tracing.endpoint", "unsupported scheme"]],
  [
    { cpuCFSQuotaPeriod: "2s", featureGates: { CustomCPUCFSQuotaPeriod: true } },
    ["cpuCFSQuotaPeriod", "1ms to 1s"],
  ],
  [{ cpuCFSQuotaPeriod: "50ms" }, ["CustomCPUCFSQuotaPeriod"]],
  [{ maxParallelImagePulls: 3 }, ["maxParallelImagePulls", "serializeImagePulls"]],
  [{ maxParallelImagePulls: 0, serializeImagePulls: false }, ["maxParallelImagePulls"]],
  [{ shutdownGracePeriod: "500ms" }, ["shutdownGracePeriod"]],
  [
    { shutdownGracePeriod: "10s", shutdownGracePeriodCriticalPods: "11s" },
    ["shutdownGracePeriodCriticalPods", "more than the whole"],
  ],
  [
    {
      shutdownGracePeriodByPodPriority: [{ priority: 1, shutdownGracePeriodSeconds: 2 }],
      featureGates: { GracefulNodeShutdown: false },
    },
    ["shutdownGracePeriodByPodPriority", "feature gate GracefulNodeShutdown"],
  ],
  [
    {
      shutdownGracePeriodByPodPriority: [{ priority: 1, shutdownGracePeriodSeconds: 2 }],
      shutdownGracePeriod: "10s",
    },
    ["shutdownGracePeriodByPodPriority", "cannot be given together"],
  ],
  [
    { shutdownGracePeriodByPodPriority: [{ priority: 1 }] },
    ["shutdownGracePeriodByPodPriority[0].shutdownGracePeriodSeconds"],
  ],
  [
    { shutdownGracePeriodByPodPriority: [{ shutdownGracePeriodSeconds: 1 }] },
    ["shutdownGracePeriodByPodPriority[0].priority"],
  ],
  [{ orchAPIBurst: -1 }, ["orchAPIBurst"]],
  [{ orchAPIQPS: -1 }, ["orchAPIQPS"]],
  [{ memorySwap: { swapBehavior: "LimitedSwap" } }, ["memorySwap", "NodeSwap"]],
  [{ memorySwap: { swapBehavior: "Some" } }, ["memorySwap.swapBehavior"]],
  [{ hairpinMode: "x" }, ["hairpinMode", "hairpin-veth"]],
  [{ reservedSystemCPUs: "0", systemReservedCgroup: "/x" }, ["reservedSystemCPUs", "systemReservedCgroup"]],
  [
    { reservedMemory: [{ numaNode: 0, limits: { cpu: "1" } }] },
    ["reservedMemory[0].limits[cpu]", "limit type"],
  ],
  [{ reservedMemory: [{ numaNode: 0, limits: { memory: "0" } }] }, ["reservedMemory[0].limits[memory]"]],
  [{ reservedMemory: [{ limits: { memory: "1Gi" } }] }, ["reservedMemory[0].numaNode"]],
  [
    {
      reservedMemory: [
        { numaNode: 0, limits: { memory: "1Gi" } },
        { numaNode: 0, limits: { memory: "1Gi" } },
      ],
    },
    ["reservedMemory", "NUMA node 0 has two reservations of memory"],
  ],
  [{ configMapAndSecretChangeDetectionStrategy: "Poll" }, ["configMapAndSecretChangeDetectionStrategy"]],
  [{ registerWithTaints: [{ key: "k", effect: "Sometimes" }] }, ["registerWithTaints[0].effect"]],
  [{ logging: { format: "xml" } }, ["logging.format"]],
  [{ logging: { format: "json", vmodule: [{ filePattern: "a", verbosity: 1 }] } }, ["logging.vmodule"]],
  [
    { logging: { options: { json: { splitStream: true } } } },
    ["logging.options.json.splitStream", "LoggingAlphaOptions"],
  ],
  [{ tracing: { samplingRatePerMillion: -1 } }, ["tracing.samplingRatePerMillion"]],
  [{ enableSystemLogQuery: true }, ["enableSystemLogQuery", "NodeLogQuery"]],
  [{ topologyManagerPolicyOptions: { a: "b" } }, ["topologyManagerPolicyOptions"]],
  [{ evictionHard: { "memory.available": "120%" } }, ["evictionHard[memory.available]", "120%"]],
  [{ orchReserved: { cpu: "fast" } }, ["orchReserved[cpu]"]],
  [{ orchReserved: { bananas: "1" } }, ["orchReserved", "bananas"]],
  [{ staticPodURL: "::bad::" }, ["staticPodURL"]],
  [{ clusterDNS: ["nope"] }, ["clusterDNS[0]"]],
  [{ showHiddenMetricsForVersion: "1.2" }, ["showHiddenMetricsForVersion", "1.26"]],
  [{ memoryThrottlingFactor: 1.5 }, ["memoryThrottlingFactor"]],
  [{ authorization: { mode: "Sometimes" } }, ["authorization.mode"]],
];
for (const [given, named] of refused) {
  test(`${typeof given === "string" ? given : JSON.stringify(given)} is rejected by name`, async () => {
    const { errors } = await run(
      typeof given === "string" ? { argv: given.split(/ (?=--)/) } : { file: given },
    );
    assert.notEqual(errors.length, 0);
    for (const name of named) assert.ok(errors.join("\n").includes(name), `${name} in ${errors.join("\n")}`);
  });
}

const accepted: (string | Record<string, unknown>)[] = [
  `--node-labels=${dialects.orch.names.labels.nodePrefix}/x=y,${dialects.orch.names.labels.agentPrefix}/z=w,${dialects.orch.names.labels.zone}=a,mine=1`,
  "--register-with-taints=k=v:NoSchedule,other:NoExecute",
  "--manifest-url-header=A:1,B:2",
  "--system-reserved=cpu=100m,memory=1Gi,pid=100,ephemeral-storage=1Gi",
  "--register-schedulable=false",
  "--maximum-dead-containers=3",
  "--pod-infra-container-image=x/pause:1",
  "--minimum-container-ttl-duration=1m",
  "--orch-api-content-type=application/json",
  "--orch-api-qps=5",
  "--logging-format=json",
  "--eviction-hard=memory.available<1Gi,nodefs.available<0%",
  "--enforce-node-allocatable=",
  "--eviction-minimum-reclaim=memory.available=0Mi,nodefs.available=500Mi",
  "--minimum-image-ttl-duration=-5m",
  "--allowed-unsafe-sysctls=kernel.msg*,net.core.somaxconn",
  "--node-ip=10.0.0.1,fd00::1",
  { readOnlyPort: 0, healthzPort: 0 },
  { featureGates: { AppArmor: false } },
  { serializeImagePulls: false, maxParallelImagePulls: 3 },
  { memoryManagerPolicy: "none" },
  { shutdownGracePeriod: "0s", shutdownGracePeriodCriticalPods: "0s" },
  { shutdownGracePeriod: "10s", shutdownGracePeriodCriticalPods: "10s" },
  { reservedMemory: [{ numaNode: 0, limits: { "hugepages-2Mi": "100Mi", memory: "1Gi" } }] },
  { podPidsLimit: -2, nodeStatusReportFrequency: "0s" },
  { nodeLeaseDurationSeconds: 0 },
  { cgroupsPerQOS: false, enforceNodeAllocatable: [] },
  { cpuCFSQuotaPeriod: "50ms", featureGates: { CustomCPUCFSQuotaPeriod: true } },
];
for (const given of accepted) {
  test(`${typeof given === "string" ? given : JSON.stringify(given)} is accepted`, async () => {
    assert.deepEqual((await run(typeof given === "string" ? { argv: [given] } : { file: given })).errors, []);
  });
}

test("flags that moved to the file report their field", async () => {
  const { warnings } = await run({ argv: ["--max-pods=5", "--keep-terminated-pod-volumes"] });
  assert.deepEqual(warnings, [
    "Flag --max-pods has been deprecated, set maxPods in the file of --config instead",
    "Flag --keep-terminated-pod-volumes has been deprecated, it will be removed in a future version",
  ]);
});

test("with a client configuration the bootstrap configuration is unused and may be missing", async () => {
  assert.deepEqual(
    (await run({ argv: ["--orchconfig=x.conf", "--bootstrap-orchconfig=absent.conf"] })).errors,
    [],
  );
});

test("deprecated flags still work, with a warning", async () => {
  const given = [
    "--cloud-provider=external",
    "--cloud-config=/x",
    "--experimental-allocatable-ignore-eviction",
    "--experimental-mounter-path=/bin/mount",
  ];
  const settled = await run({ argv: given });
  assert.equal(
    settled.warnings.filter((line) => line.includes("it will be removed in 1.24 or later")).length,
    4,
  );
  assert.deepEqual(
    [
      settled.values.cloudProvider,
      settled.values.experimentalAllocatableIgnoreEviction,
      settled.values.experimentalMounterPath,
    ],
    ["external", true, "/bin/mount"],
  );
  assert.ok(
    settled.errors.every((line) => line.includes("no cloud provider is built in")),
    settled.errors.join(),
  );
});

test("the image service endpoint defaults to the runtime endpoint", async () => {
  assert.equal((await run({})).values.imageServiceEndpoint, "unix:///run/x.sock");
  assert.equal(
    (await run({ file: { containerRuntimeEndpoint: "unix:///run/y.sock" } })).values.imageServiceEndpoint,
    "unix:///run/x.sock",
  );
  assert.equal(
    (await run({ argv: ["--image-service-endpoint=unix:///run/z.sock"] })).values.imageServiceEndpoint,
    "unix:///run/z.sock",
  );
});

test("the reconcile period of the CPU manager follows the node status update frequency", async () => {
  assert.equal((await run({})).values.cpuManagerReconcilePeriod, 10_000);
  assert.equal(
    (await run({ argv: ["--node-status-update-frequency=20s"] })).values.cpuManagerReconcilePeriod,
    20_000,
  );
});

test("reserved cgroups may be given with or without a leading slash", async () => {
  const { values, errors } = await run({
    file: { systemReservedCgroup: "system", orchReservedCgroup: "/agents" },
  });
  assert.deepEqual(
    [errors, values.systemReservedCgroup, values.orchReservedCgroup],
    [[], "system", "/agents"],
  );
});

test("original spellings work in the kubernetes dialect, in flags, fields and values", async () => {
  const dialect = dialects.kubernetes;
  const { values, errors } = await run({
    dialect,
    argv: [`--${dialect.spelling.flag("orch-reserved-cgroup")}=/x`],
    file: {
      [dialect.spelling.field("orchReserved")]: { cpu: "1" },
      enforceNodeAllocatable: ["pods", dialect.spelling.word("orch-reserved")],
    },
  });
  assert.deepEqual(errors, []);
  assert.deepEqual(
    [values.orchReserved, values.orchReservedCgroup, values.enforceNodeAllocatable],
    [{ cpu: "1" }, "/x", ["pods", "orch-reserved"]],
  );
  assert.deepEqual(
    (configOf(nodeagentOptions(dialect), values) as { enforceNodeAllocatable: unknown })
      .enforceNodeAllocatable,
    ["pods", dialect.spelling.word("orch-reserved")],
  );
  const wrong = await run({
    dialect,
    argv: ["--enforce-node-allocatable=x"],
    file: { authorization: { mode: "Webhook" } },
  });
  const reported = wrong.errors.join("\n");
  for (const name of [dialect.spelling.word("orch-reserved"), `--${dialect.spelling.flag("orchconfig")}:`])
    assert.ok(reported.includes(name), `${name} in ${reported}`);
});

test("the status report frequency follows an explicit update frequency", async () => {
  assert.equal((await run({ file: {} })).values.nodeStatusReportFrequency, 300_000);
  assert.equal(
    (await run({ file: { nodeStatusUpdateFrequency: "20s" } })).values.nodeStatusReportFrequency,
    20_000,
  );
});

for (const size of ["512", "1K", "2Ki", "3M", "4G", "5Mi", "6Gi"])
  test(`the log buffer size may be ${size}`, async () => {
    const argv = ["--feature-gates=LoggingAlphaOptions=true", `--log-json-info-buffer-size=${size}`];
    assert.deepEqual((await run({ argv })).errors, []);
  });

test("the flush frequency is in nanoseconds", async () => {
  const { values } = await run({ file: { logging: { flushFrequency: 2_000_000_000 } } });
  assert.equal(values.logFlushFrequency, 2000);
});

test("a written configuration reads back to the same settings", async () => {
  const { values } = await run({
    file: {
      maxPods: 7,
      registerWithTaints: [{ key: "a", effect: "NoSchedule" }],
      logging: { flushFrequency: 1_000_000_000, vmodule: [{ filePattern: "x", verbosity: 3 }] },
      evictionHard: { "memory.available": "5%" },
    },
  });
  for (const format of ["yaml", "json"] as const) {
    const text = await configText(configOf(nodeagentOptions(dialects.orch), values), format);
    const again = settle(nodeagentOptions(dialects.orch), flags, {
      files: [await parseConfigFile("again", text)],
      readable: present,
    });
    assert.deepEqual(again.errors, []);
    assert.deepEqual(again.values, values);
  }
});

test("configuration is read from one file, then from a directory of drop-ins in order", async () => {
  const folder = mkdtempSync(join(tmpdir(), "orch-options-"));
  try {
    const head = `apiVersion: ${apiVersionOf(dialects.orch, { group: "nodeagent.config", branded: true, version: "v1beta1" })}\nkind: NodeAgentConfiguration\n`;
    const put = (name: string, text: string): void => writeFileSync(join(folder, name), text);
    put(
      "main.txt",
      `${head}maxPods: 1\nport: 1111\nauthentication: {webhook: {enabled: false}}\nauthorization: {mode: AlwaysAllow}\n`,
    );
    put("20-b.conf", `${head}maxPods: 3\n`);
    put("10-a.yaml", `${head}maxPods: 2\nhealthzPort: 2222\n`);
    put(".hidden.yaml", "broken: [");
    const settled = await settleNodeagent(dialects.orch, [
      ...flags,
      `--config=${join(folder, "main.txt")}`,
      `--config-dir=${folder}`,
    ]);
    assert.deepEqual(settled.errors, []);
    assert.deepEqual(
      [settled.values.maxPods, settled.values.port, settled.values.healthzPort],
      [3, 1111, 2222],
    );
    const missing = await settleNodeagent(dialects.orch, [
      ...flags,
      "--config=/nowhere/x.yaml",
      "--config-dir=/nowhere",
    ]);
    assert.equal(missing.errors.length, 2);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test("CPU sets are lists of CPUs", () => assert.deepEqual(cpusOf("0-2,5,1"), [0, 1, 2, 5]));

const { data, wire, names } = dialects.kubernetes;
const nodeLabels: [key: string, allowed: boolean][] = [
  ["mine", true],
  ["example.com/mine", true],
  [`not${data.labelDomain}/mine`, true],
  [names.labels.zone, true],
  [`${names.labels.nodePrefix}/role`, true],
  [`sub.${names.labels.agentPrefix}/role`, true],
  [`${data.labelDomain}/mine`, false],
  [`sub.${data.labelDomain}/mine`, false],
  [`${wire.groupSuffix}/mine`, false],
  [`sub.${wire.groupSuffix}/mine`, false],
];
for (const [key, allowed] of nodeLabels)
  test(`an agent ${allowed ? "may" : "may not"} set the node label ${key}`, () =>
    assert.equal(isAllowedLabel(key, dialects.kubernetes), allowed));
