import assert from "node:assert/strict";
import { test } from "node:test";
import { dialects } from "#dialect";
import { schedulerConfiguration } from "./configuration.ts";
import type { Snapshot } from "./framework.ts";
import type { SeenNode, SeenPod } from "./node-info.ts";
import { failureText, findNode } from "./placement.ts";
import { snapshotOf } from "./snapshot.fixture.ts";

const node = (name: string, labels: Readonly<Record<string, string>>): SeenNode =>
  ({
    metadata: { name, labels: { host: name, ...labels } },
    spec: {},
    status: { allocatable: { cpu: "4", memory: "8Gi", pods: "10" } },
  }) as unknown as SeenNode;
const pod = (name: string, labels = {}, spec = {}): SeenPod =>
  ({
    metadata: { name, namespace: "default", uid: name, labels },
    spec: { containers: [{ name: "c", image: "i", resources: { requests: { cpu: "1" } } }], ...spec },
    status: {},
  }) as unknown as SeenPod;
const near = {
  affinity: {
    podAffinity: {
      preferredDuringSchedulingIgnoredDuringExecution: [
        {
          weight: 100,
          podAffinityTerm: { topologyKey: "host", labelSelector: { matchLabels: { app: "a" } } },
        },
      ],
    },
  },
};
const added = (kind: string, terms: string): string =>
  `[{ name: NodeAffinity, args: { addedAffinity: { ${kind}DuringSchedulingIgnoredDuringExecution: ${terms} } } }]`;
const onFast = "matchExpressions: [{ key: disk, operator: In, values: [fast] }]";
const slow = node("slow", { disk: "slow" });
const fast = node("fast", { disk: "fast" });
const wanting = pod("other", { app: "b" }, near);

const cases: [name: string, pluginConfig: string, snapshot: Snapshot, expected: string][] = [
  [
    "nothing is added by default",
    "[]",
    snapshotOf([
      [slow, []],
      [fast, [pod("q")]],
    ]),
    "slow",
  ],
  [
    "added required affinity restricts nodes",
    added("required", `{ nodeSelectorTerms: [{ ${onFast} }] }`),
    snapshotOf([
      [slow, []],
      [fast, [pod("q")]],
    ]),
    "fast",
  ],
  [
    "a mismatch of added affinity is reported",
    added("required", `{ nodeSelectorTerms: [{ ${onFast} }] }`),
    snapshotOf([[slow, []]]),
    "0/1 nodes are available: 1 node(s) didn't match scheduler-enforced node affinity.",
  ],
  [
    "added preferred affinity is scored",
    added("preferred", `[{ weight: 10, preference: { ${onFast} } }]`),
    snapshotOf([
      [slow, []],
      [fast, [pod("q")]],
    ]),
    "fast",
  ],
  [
    "preferences of existing pods count",
    "[]",
    snapshotOf([
      [slow, []],
      [fast, [wanting]],
    ]),
    "fast",
  ],
  [
    "preferences of existing pods can be ignored",
    "[{ name: InterPodAffinity, args: { ignorePreferredTermsOfExistingPods: true } }]",
    snapshotOf([
      [slow, []],
      [fast, [wanting]],
    ]),
    "slow",
  ],
];
for (const [name, pluginConfig, snapshot, expected] of cases)
  test(name, () => {
    const head = "apiVersion: orchscheduler.config.orch.io/v1\nkind: OrchSchedulerConfiguration\n";
    const { profiles } = schedulerConfiguration(
      `${head}profiles: [{ pluginConfig: ${pluginConfig} }]`,
      dialects.orch,
    );
    const { plugins } = profiles[0]!;
    const found = findNode(pod("p", { app: "a" }), snapshot, {
      plugins,
      nominated: new Map(),
      random: () => 0,
    });
    assert.equal(found.node?.name ?? failureText(found.failures!), expected);
  });
