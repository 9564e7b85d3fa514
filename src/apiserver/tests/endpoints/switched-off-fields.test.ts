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
  test(`${path}: fields of disabled features are dropped`, async () => {
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

const claimSpec = (more: object): object => ({
  accessModes: ["ReadWriteOnce"],
  resources: { requests: { storage: "1Gi" } },
  ...more,
});
const snapshot = { kind: "VolumeSnapshot", apiGroup: "snapshot.storage.orch.io", name: "s" };
const claims = `${core}/persistentvolumeclaims`;

test("claims have no dataSourceRef without AnyVolumeDataSource", async () => {
  const switched = await serve({ flags: ["--feature-gates=AnyVolumeDataSource=false"] });
  const made = async (server: typeof on, name: string, more: object) =>
    await server.must(201, "POST", claims, { body: { metadata: { name }, spec: claimSpec(more) } });
  assert.equal((await made(on, "a", { dataSource: snapshot })).at("spec.dataSourceRef.name"), "s");
  assert.equal((await made(switched, "a", { dataSource: snapshot })).at("spec.dataSourceRef"), undefined);
  const other = { ...snapshot, kind: "Other", apiGroup: "example.com" };
  assert.equal((await made(on, "b", { dataSourceRef: other })).at("spec.dataSource.kind"), "Other");
  const lost = await made(switched, "b", { dataSourceRef: other });
  assert.deepEqual([lost.at("spec.dataSource"), lost.at("spec.dataSourceRef")], [undefined, undefined]);
});

test("claims may have data sources in other namespaces with CrossNamespaceVolumeDataSource", async () => {
  const switched = await serve({ flags: ["--feature-gates=CrossNamespaceVolumeDataSource=true"] });
  const body = {
    metadata: { name: "c" },
    spec: claimSpec({ dataSourceRef: { ...snapshot, namespace: "other" } }),
  };
  assert.equal((await on.must(201, "POST", claims, { body })).at("spec.dataSourceRef"), undefined);
  assert.equal(
    (await switched.must(201, "POST", claims, { body })).at("spec.dataSourceRef.namespace"),
    "other",
  );
});

test("volumes, claims and ephemeral claims cannot use ReadWriteOncePod without its gate", async () => {
  const switched = await serve({ flags: [plain, "--feature-gates=ReadWriteOncePod=false"] });
  const spec = claimSpec({ accessModes: ["ReadWriteOncePod"] });
  const csi = { driver: "d", volumeHandle: "h" };
  const volume = { capacity: { storage: "1Gi" }, accessModes: ["ReadWriteOncePod"], csi };
  const pod = {
    containers: [{ name: "c", image: "i" }],
    volumes: [{ name: "v", ephemeral: { volumeClaimTemplate: { spec } } }],
  };
  const cases: [path: string, name: string, spec: object, field: string][] = [
    [claims, "once", spec, "spec.accessModes"],
    ["/api/v1/persistentvolumes", "once", volume, "spec.accessModes"],
    [`${core}/pods`, "once", pod, "spec.volumes[0].ephemeral.volumeClaimTemplate.spec.accessModes"],
  ];
  for (const [path, name, given, field] of cases) {
    const body = { metadata: { name }, spec: given };
    await on.must(201, "POST", path, { body });
    const answer = await switched.must(422, "POST", path, { body });
    assert.match(
      String(answer.at("message")),
      new RegExp(
        `${field.replaceAll(/[.[\]]/g, "\\$&")}: Unsupported value: "ReadWriteOncePod": supported values: "ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce"$`,
      ),
    );
  }
});

test("pod fields and annotations without AppArmor, ExpandedDNSConfig and PodDeletionCost", async () => {
  const switched = await serve({
    flags: [plain, "--feature-gates=AppArmor=false,ExpandedDNSConfig=false,PodDeletionCost=false"],
  });
  const profile = "container.apparmor.security.beta.orch.io/c";
  const cost = "controller.orch.io/pod-deletion-cost";
  const pod = (annotations: object, searches: readonly string[] = []) => ({
    metadata: { generateName: "p", annotations },
    spec: { containers: [{ name: "c", image: "i" }], dnsConfig: { searches } },
  });
  const made = async (server: typeof on, status: number, body: object) =>
    await server.must(status, "POST", `${core}/pods`, { body });
  const annotated = pod({ [profile]: "runtime/default", other: "x" });
  const annotations = async (server: typeof on): Promise<string[]> =>
    Object.keys((await made(server, 201, annotated)).at("metadata.annotations") as object);
  assert.deepEqual(await annotations(on), [profile, "other"]);
  assert.deepEqual(await annotations(switched), ["other"]);
  const seven = pod({}, ["a", "b", "c", "d", "e", "f", "g"]);
  await made(on, 201, seven);
  assert.match(
    String((await made(switched, 422, seven)).at("message")),
    /must not have more than 6 search paths$/,
  );
  await made(on, 422, pod({ [cost]: "much" }));
  await made(switched, 201, pod({ [cost]: "much" }));
});

test("CSI drivers have seLinuxMount with SELinuxMountReadWriteOncePod", async () => {
  const switched = await serve({ flags: ["--feature-gates=SELinuxMountReadWriteOncePod=true"] });
  const drivers = "/apis/storage.orch.io/v1/csidrivers";
  const made = async (server: typeof on, name: string, spec: object) =>
    (await server.must(201, "POST", drivers, { body: { metadata: { name }, spec } })).at("spec.seLinuxMount");
  assert.equal(await made(on, "a", { seLinuxMount: true }), undefined);
  assert.equal(await made(switched, "a", { seLinuxMount: true }), true);
  assert.equal(await made(switched, "b", {}), false);
});

test("endpoint hints are dropped without their gate, and container metrics rejected", async () => {
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
