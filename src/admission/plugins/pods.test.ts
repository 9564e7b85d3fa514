import assert from "node:assert/strict";
import { test } from "node:test";
import { dialects } from "#dialect";
import type { AdmissionPlugin, AdmissionAttributes } from "../attributes.ts";
import { attributesOf, resultOrCode } from "../attributes.fixture.ts";
import { defaultTolerationSeconds } from "./default-toleration-seconds.ts";
import { priorityPlugin } from "./priority.ts";
import { mergeTolerations } from "./merge-tolerations.ts";
import { runtimeClassPlugin } from "./runtime-class.ts";
import { serviceAccountPlugin } from "./service-account.ts";
import { taintNodesByCondition } from "./taint-nodes-by-condition.ts";

const dialect = dialects.orch;

/** Runs a plugin on a new object; returns the resulting object, or the refusal. */
async function admitted(
  plugin: AdmissionPlugin,
  spec: object,
  more: Partial<AdmissionAttributes> & { metadata?: object } = {},
): Promise<Record<string, unknown> | string> {
  const { metadata, ...changes } = more;
  const attributes = attributesOf({
    object: { metadata: { name: "p", ...metadata }, spec: structuredClone(spec) },
    ...changes,
  });
  return await resultOrCode(async () => {
    await plugin.mutate?.(attributes);
    await plugin.validate?.(attributes);
    return attributes.object!["spec"] as Record<string, unknown>;
  });
}

const accounts = (account: object | undefined, pauses: number[] = []): AdmissionPlugin =>
  serviceAccountPlugin({
    dialect,
    find: async () => account as never,
    pause: async () => void pauses.push(1),
    generateName: (prefix) => `${prefix}12345`,
  });
const containers = [{ name: "c" }];
const mount = { name: "orch-api-access-12345", readOnly: true, mountPath: dialect.paths.serviceAccountMount };

test("a pod gets the default service account, its token and its pull secrets", async () => {
  const spec = (await admitted(
    accounts({ metadata: { name: "default" }, imagePullSecrets: [{ name: "s" }] }),
    { containers },
  )) as Record<string, unknown>;
  assert.deepEqual(
    [spec["serviceAccountName"], spec["serviceAccount"], spec["imagePullSecrets"], spec["containers"]],
    ["default", "default", [{ name: "s" }], [{ name: "c", volumeMounts: [mount] }]],
  );
  assert.deepEqual(
    (spec["volumes"] as { name: string }[]).map(({ name }) => name),
    ["orch-api-access-12345"],
  );
});

const withoutToken: [name: string, account: object, spec: object][] = [
  ["a pod may opt out of the token", {}, { automountServiceAccountToken: false, containers }],
  ["a service account may opt out of the token", { automountServiceAccountToken: false }, { containers }],
  [
    "a container with its own mount at the path gets no token",
    {},
    {
      containers: [
        { name: "c", volumeMounts: [{ name: "x", mountPath: dialect.paths.serviceAccountMount }] },
      ],
    },
  ],
];
for (const [name, account, spec] of withoutToken) {
  test(name, async () =>
    assert.equal(
      ((await admitted(accounts({ metadata: {}, ...account }), spec)) as Record<string, unknown>)["volumes"],
      undefined,
    ),
  );
}

test("a missing service account is refused, the default one after some retries", async () => {
  const pauses: number[] = [];
  assert.equal(await admitted(accounts(undefined, pauses), { containers, serviceAccountName: "x" }), "403");
  assert.equal(pauses.length, 0);
  assert.equal(await admitted(accounts(undefined, pauses), { containers }), "403");
  assert.equal(pauses.length, 9);
});

test("a service account may restrict the secrets of its pods", async () => {
  const account = {
    metadata: { name: "a", annotations: { [dialect.names.annotations.enforceMountableSecrets]: "true" } },
    secrets: [{ name: "mine" }],
  };
  const spec = (secretName: string) => ({
    containers,
    automountServiceAccountToken: false,
    volumes: [{ name: "v", secret: { secretName } }],
  });
  assert.equal(typeof (await admitted(accounts(account), spec("mine"))), "object");
  assert.equal(await admitted(accounts(account), spec("other")), "403");
  const unnamed = {
    automountServiceAccountToken: false,
    imagePullSecrets: [{}],
    containers: [{ name: "c", envFrom: [{ secretRef: {} }] }],
  };
  assert.equal(await admitted(accounts(account), unnamed), "403");
  const listing = { ...account, secrets: [{}], imagePullSecrets: [{}] };
  assert.equal(typeof (await admitted(accounts(listing), unnamed)), "object");
});

test("a mirror pod must have no service account and no secrets", async () => {
  const metadata = { annotations: { [dialect.names.annotations.configMirror]: "x" } };
  assert.deepEqual(await admitted(accounts(undefined), { containers }, { metadata }), { containers });
  assert.equal(
    await admitted(accounts(undefined), { containers, serviceAccountName: "a" }, { metadata }),
    "403",
  );
  for (const secret of [
    { volumes: [{ name: "v", secret: { secretName: "s" } }] },
    { volumes: [{ name: "v", projected: { sources: [{ secret: { name: "s" } }] } }] },
    { volumes: [{ name: "v", flexVolume: { driver: "a/b", secretRef: { name: "s" } } }] },
    { imagePullSecrets: [{ name: "s" }] },
  ])
    assert.equal(await admitted(accounts(undefined), { containers, ...secret }, { metadata }), "403");
});

const classes = [
  { metadata: { name: "high" }, value: 10, preemptionPolicy: "Never" },
  { metadata: { name: "usual" }, value: 5, globalDefault: true, preemptionPolicy: "PreemptLowerPriority" },
  { metadata: { name: "other" }, value: 7, globalDefault: true },
];
const priorities: [name: string, known: typeof classes, spec: object, expected: object | string][] = [
  [
    "without priority classes the priority is zero",
    [],
    {},
    { priority: 0, preemptionPolicy: "PreemptLowerPriority" },
  ],
  [
    "the lowest default class is used",
    classes,
    {},
    { priorityClassName: "usual", priority: 5, preemptionPolicy: "PreemptLowerPriority" },
  ],
  [
    "the priority is that of the class",
    classes,
    { priorityClassName: "high" },
    { priorityClassName: "high", priority: 10, preemptionPolicy: "Never" },
  ],
  ["a missing priority class is refused", classes, { priorityClassName: "none" }, "403"],
  ["a different priority is refused", [], { priority: 3 }, "403"],
  [
    "the same priority is accepted",
    [],
    { priority: 0 },
    { priority: 0, preemptionPolicy: "PreemptLowerPriority" },
  ],
  [
    "a different preemption policy is refused",
    classes,
    { priorityClassName: "high", preemptionPolicy: "PreemptLowerPriority" },
    "403",
  ],
];
for (const [name, known, spec, expected] of priorities) {
  const plugin = priorityPlugin({
    dialect,
    find: async (wanted) => known.find(({ metadata }) => metadata.name === wanted) as never,
    all: async () => known as never,
  });
  test(name, async () => assert.deepEqual(await admitted(plugin, spec), expected));
}

const waits = (key: string, tolerationSeconds: number) => ({
  key,
  operator: "Exists",
  effect: "NoExecute",
  tolerationSeconds,
});
const tolerations: [name: string, given: object[] | undefined, expected: object[]][] = [
  [
    "default tolerations are added",
    undefined,
    [waits("node.orch.io/not-ready", 1), waits("node.orch.io/unreachable", 2)],
  ],
  [
    "existing tolerations are kept",
    [waits("node.orch.io/not-ready", 9)],
    [waits("node.orch.io/not-ready", 9), waits("node.orch.io/unreachable", 2)],
  ],
  ["a toleration of everything suffices", [{ operator: "Exists" }], [{ operator: "Exists" }]],
];
for (const [name, given, expected] of tolerations) {
  test(name, async () =>
    assert.deepEqual(
      await admitted(defaultTolerationSeconds(dialect, { notReady: 1, unreachable: 2 }), {
        ...(given && { tolerations: given }),
      }),
      { tolerations: expected },
    ),
  );
}

const runtime = {
  metadata: { name: "r" },
  handler: "h",
  overhead: { podFixed: { cpu: "100m" } },
  scheduling: { nodeSelector: { a: "1" }, tolerations: [{ key: "k", operator: "Exists" }] },
};
const known: Record<string, object> = { r: runtime, free: { handler: "h", overhead: {} } };
const runtimes: [name: string, spec: object, expected: object | string][] = [
  [
    "the overhead and scheduling of a runtime class are applied",
    { runtimeClassName: "r" },
    {
      runtimeClassName: "r",
      overhead: { cpu: "100m" },
      nodeSelector: { a: "1" },
      tolerations: [{ key: "k", operator: "Exists" }],
    },
  ],
  [
    "the same overhead in another notation is accepted",
    { runtimeClassName: "r", overhead: { cpu: "0.1" } },
    {
      runtimeClassName: "r",
      overhead: { cpu: "100m" },
      nodeSelector: { a: "1" },
      tolerations: [{ key: "k", operator: "Exists" }],
    },
  ],
  ["a different overhead is refused", { runtimeClassName: "r", overhead: { cpu: "1" } }, "403"],
  ["a conflicting node selector is refused", { runtimeClassName: "r", nodeSelector: { a: "2" } }, "403"],
  ["a class must be there", { runtimeClassName: "x" }, "403"],
  ["an overhead without a runtime class is refused", { overhead: { cpu: "1" } }, "403"],
  [
    "a runtime class may have an empty overhead",
    { runtimeClassName: "free" },
    { runtimeClassName: "free", overhead: {} },
  ],
  [
    "a pod of a class with empty overhead must not set any",
    { runtimeClassName: "free", overhead: {} },
    { runtimeClassName: "free", overhead: {} },
  ],
];
for (const [name, spec, expected] of runtimes) {
  test(name, async () =>
    assert.deepEqual(
      await admitted(
        runtimeClassPlugin(async (wanted) => known[wanted] as never),
        spec,
      ),
      expected,
    ),
  );
}

test("merged tolerations keep the wider one", () => {
  const narrow = { key: "a", operator: "Equal", value: "x", effect: "NoSchedule" };
  assert.deepEqual(
    mergeTolerations([narrow, { key: "b", operator: "Exists" }], [{ key: "a", operator: "Exists" }, narrow]),
    [
      { key: "b", operator: "Exists" },
      { key: "a", operator: "Exists" },
    ],
  );
});

test("a new node is tainted as not ready", async () => {
  const node = { resource: { group: "", version: "v1", resource: "nodes" } };
  const taint = { key: "node.orch.io/not-ready", effect: "NoSchedule" };
  assert.deepEqual(await admitted(taintNodesByCondition(dialect), {}, node), { taints: [taint] });
  assert.deepEqual(await admitted(taintNodesByCondition(dialect), { taints: [taint] }, node), {
    taints: [taint],
  });
});
