import assert from "node:assert/strict";
import { test } from "node:test";
import { type Json, serve } from "../../server.fixture.ts";

const core = "/api/v1/namespaces/default";
const constraint = {
  maxSkew: 1,
  topologyKey: "zone",
  whenUnsatisfiable: "DoNotSchedule",
  labelSelector: { matchLabels: { a: "b" } },
  minDomains: 3,
  matchLabelKeys: ["k"],
  nodeAffinityPolicy: "Ignore",
  nodeTaintsPolicy: "Honor",
};
const livenessProbe = { terminationGracePeriodSeconds: 7, exec: { command: ["true"] } };
const podSpec = {
  automountServiceAccountToken: false,
  schedulingGates: [{ name: "example.com/wait" }],
  topologySpreadConstraints: [constraint],
  containers: [{ name: "c", image: "i", livenessProbe }],
};
const template = { metadata: { labels: { a: "b" } }, spec: podSpec };
const podFailurePolicy = {
  rules: [{ action: "Ignore", onExitCodes: { operator: "In", values: [1] } }],
};
const jobSpec = {
  podFailurePolicy,
  template: { metadata: template.metadata, spec: { ...podSpec, restartPolicy: "Never" } },
};
const selector = { matchLabels: { a: "b" } };

const objects: [path: string, spec: Json, fields: readonly [gate: string, path: string][]][] = [
  [
    `${core}/pods`,
    podSpec,
    [
      ["PodSchedulingReadiness", "schedulingGates.0.name"],
      ["MinDomainsInPodTopologySpread", "topologySpreadConstraints.0.minDomains"],
      ["MatchLabelKeysInPodTopologySpread", "topologySpreadConstraints.0.matchLabelKeys"],
      ["NodeInclusionPolicyInPodTopologySpread", "topologySpreadConstraints.0.nodeAffinityPolicy"],
      ["NodeInclusionPolicyInPodTopologySpread", "topologySpreadConstraints.0.nodeTaintsPolicy"],
      ["ProbeTerminationGracePeriod", "containers.0.livenessProbe.terminationGracePeriodSeconds"],
    ],
  ],
  [
    "/apis/apps/v1/namespaces/default/statefulsets",
    { serviceName: "a", selector, template, ordinals: { start: 3 } },
    [
      ["StatefulSetStartOrdinal", "ordinals"],
      ["StatefulSetAutoDeletePVC", "persistentVolumeClaimRetentionPolicy"],
      ["PodSchedulingReadiness", "template.spec.schedulingGates"],
    ],
  ],
  [
    "/apis/batch/v1/namespaces/default/jobs",
    jobSpec,
    [
      ["JobPodFailurePolicy", "podFailurePolicy"],
      ["PodSchedulingReadiness", "template.spec.schedulingGates"],
    ],
  ],
  [
    "/apis/batch/v1/namespaces/default/cronjobs",
    { schedule: "@daily", jobTemplate: { spec: jobSpec } },
    [
      ["JobPodFailurePolicy", "jobTemplate.spec.podFailurePolicy"],
      ["PodSchedulingReadiness", "jobTemplate.spec.template.spec.schedulingGates"],
    ],
  ],
  [
    "/apis/policy/v1/namespaces/default/poddisruptionbudgets",
    { minAvailable: 1, selector, unhealthyPodEvictionPolicy: "AlwaysAllow" },
    [["PDBUnhealthyPodEvictionPolicy", "unhealthyPodEvictionPolicy"]],
  ],
  [
    "/api/v1/persistentvolumes",
    {
      capacity: { storage: "1Gi" },
      accessModes: ["ReadWriteOnce"],
      csi: { driver: "d", volumeHandle: "h", nodeExpandSecretRef: { name: "n", namespace: "m" } },
    },
    [["CSINodeExpandSecret", "csi.nodeExpandSecretRef"]],
  ],
];

const gates = [...new Set(objects.flatMap(([, , fields]) => fields.map(([gate]) => gate)))];
const plain = "--disable-admission-plugins=ServiceAccount";
const on = await serve({ flags: [plain] });
const off = await serve({
  flags: [plain, `--feature-gates=${gates.map((gate) => `${gate}=false`).join(",")}`],
});

for (const [path, spec, fields] of objects) {
  test(`${path}: fields of features that are switched off are forgotten`, async () => {
    const body = { metadata: { name: "a" }, spec };
    const [there, gone] = [
      await on.must(201, "POST", path, { body }),
      await off.must(201, "POST", path, { body }),
    ];
    for (const [gate, field] of fields) {
      assert.notEqual(there.at(`spec.${field}`), undefined, `${gate}: ${field}`);
      assert.equal(gone.at(`spec.${field}`), undefined, `${gate}: ${field}`);
    }
  });
}

test("hints of endpoints are forgotten, too, and a metric of containers is refused", async () => {
  const switched = await serve({
    flags: ["--feature-gates=TopologyAwareHints=false,HPAContainerMetrics=false"],
  });
  const slices = "/apis/discovery.orch.io/v1/namespaces/default/endpointslices";
  const slice = {
    metadata: { name: "a" },
    addressType: "IPv4",
    endpoints: [{ addresses: ["192.0.2.1"], hints: { forZones: [{ name: "z" }] } }],
  };
  assert.equal(
    (await switched.must(201, "POST", slices, { body: slice })).at("endpoints.0.hints"),
    undefined,
  );
  const scalers = "/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers";
  const containerResource = {
    name: "cpu",
    container: "c",
    target: { type: "Utilization", averageUtilization: 5 },
  };
  const scaler = {
    metadata: { name: "a" },
    spec: {
      maxReplicas: 2,
      scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "d" },
      metrics: [{ type: "ContainerResource", containerResource }],
    },
  };
  await on.must(201, "POST", scalers, { body: scaler });
  await switched.must(422, "POST", scalers, { body: scaler });
});
