import assert from "node:assert/strict";
import { test } from "node:test";
import { pod } from "./pod.ts";
import { tryCreate, tryUpdate } from "./strategy.fixture.ts";

const metadata = { name: "p", namespace: "n" };
const spec = (more: object = {}, container: object = {}) => ({
  metadata,
  spec: { containers: [{ name: "c", image: "img:1", ...container }], ...more },
});
const c = "spec.containers[0]";
const volume = (source: object) => spec({ volumes: [{ name: "v", ...source }] });
const v = "spec.volumes[0]";

const refused: [name: string, sent: object, causes: string[]][] = [
  ["a minimal pod is valid", spec(), []],
  ["containers are required", { metadata, spec: {} }, ["Required spec.containers"]],
  [
    "a name that is too long and malformed is reported twice",
    spec({}, { name: "A".repeat(64) }),
    [`Invalid ${c}.name`, `Invalid ${c}.name`],
  ],
  [
    "each problem of a port name is reported",
    spec({}, { ports: [{ name: "-1--", containerPort: 1 }] }),
    Array.from({ length: 3 }, () => `Invalid ${c}.ports[0].name`),
  ],
  [
    "host ports conflict by protocol and address",
    spec(
      {},
      {
        ports: [
          { containerPort: 1, hostPort: 9 },
          { containerPort: 2, hostPort: 9, protocol: "UDP" },
          { containerPort: 3, hostPort: 9 },
        ],
      },
    ),
    [`Duplicate ${c}.ports[2].hostPort`],
  ],
  [
    "a variable has a single source",
    spec(
      {},
      {
        env: [
          {
            name: "A",
            valueFrom: { fieldRef: { fieldPath: "metadata.uid" }, secretKeyRef: { name: "s", key: "k" } },
          },
        ],
      },
    ),
    [`Invalid ${c}.env[0].valueFrom`],
  ],
  [
    "a variable may refer to a single annotation",
    spec({}, { env: [{ name: "A", valueFrom: { fieldRef: { fieldPath: "metadata.annotations['X/y']" } } }] }),
    [],
  ],
  [
    "other fields have no subscripts",
    spec({}, { env: [{ name: "A", valueFrom: { fieldRef: { fieldPath: "metadata.name['x']" } } }] }),
    [`Invalid ${c}.env[0].valueFrom.fieldRef.fieldPath`],
  ],
  [
    "some fields are available in volumes only",
    spec({}, { env: [{ name: "A", valueFrom: { fieldRef: { fieldPath: "metadata.labels" } } }] }),
    [`NotSupported ${c}.env[0].valueFrom.fieldRef.fieldPath`],
  ],
  [
    "the divisor of CPU is 1 or 1m",
    spec(
      {},
      { env: [{ name: "A", valueFrom: { resourceFieldRef: { resource: "limits.cpu", divisor: "2" } } }] },
    ),
    [`Invalid ${c}.env[0].valueFrom.resourceFieldRef.divisor`],
  ],
  [
    "each environment source has a single source",
    spec({}, { envFrom: [{}, { configMapRef: { name: "a" }, secretRef: { name: "b" } }] }),
    [`Invalid ${c}.envFrom`, `Invalid ${c}.envFrom`],
  ],
  [
    "mount paths are unique",
    {
      metadata,
      spec: {
        containers: [
          {
            name: "c",
            image: "i",
            volumeMounts: [
              { name: "v", mountPath: "/x" },
              { name: "v", mountPath: "/x" },
              { name: "v", mountPath: "/y" },
            ],
          },
        ],
        volumes: [{ name: "v" }],
      },
    },
    [`Invalid ${c}.volumeMounts[1].mountPath`],
  ],
  [
    "the volume of a mount must exist",
    spec({}, { volumeMounts: [{ name: "none", mountPath: "/x" }] }),
    [`NotFound ${c}.volumeMounts[0].name`],
  ],
  [
    "an invalid volume cannot be mounted",
    {
      metadata,
      spec: {
        containers: [{ name: "c", image: "i", volumeMounts: [{ name: "v", mountPath: "/x" }] }],
        volumes: [{ name: "v", hostPath: { path: "" } }],
      },
    },
    [`NotFound ${c}.volumeMounts[0].name`, `Required ${v}.hostPath.path`],
  ],
  [
    "only privileged containers may use bidirectional mount propagation",
    {
      metadata,
      spec: {
        containers: [
          {
            name: "c",
            image: "i",
            volumeMounts: [{ name: "v", mountPath: "/x", mountPropagation: "Bidirectional" }],
          },
        ],
        volumes: [{ name: "v" }],
      },
    },
    [`Forbidden ${c}.volumeMounts.mountPropagation`],
  ],
  [
    "a block device requires a claim",
    {
      metadata,
      spec: {
        containers: [{ name: "c", image: "i", volumeDevices: [{ name: "v", devicePath: "/d" }] }],
        volumes: [{ name: "v" }],
      },
    },
    [`Invalid ${c}.volumeDevices[0].name`],
  ],
  [
    "paths of items must stay within the volume",
    volume({
      secret: {
        secretName: "s",
        items: [
          { key: "k", path: "../x" },
          { key: "k", path: "..x" },
        ],
      },
    }),
    [`Invalid ${v}.secret.items[0].path`, `Invalid ${v}.secret.items[1].path`],
  ],
  [
    "a mode must be valid permission bits",
    volume({ configMap: { name: "m", defaultMode: 0o1000 } }),
    [`Invalid ${v}.configMap.defaultMode`],
  ],
  ["mode zero is valid", volume({ configMap: { name: "m", defaultMode: 0 } }), []],
  [
    "paths in a projected volume must not conflict",
    volume({
      projected: {
        sources: [
          { secret: { name: "a", items: [{ key: "k", path: "p" }] } },
          { configMap: { name: "b", items: [{ key: "k", path: "p" }] } },
        ],
      },
    }),
    [`Invalid ${v}.projected`],
  ],
  [
    "a projection has a single source",
    volume({ projected: { sources: [{ secret: { name: "a" }, configMap: { name: "b" } }] } }),
    [`Forbidden ${v}.projected.sources[0]`],
  ],
  [
    "a token projection requires a service account",
    volume({ projected: { sources: [{ serviceAccountToken: { path: "t" } }] } }),
    [`Forbidden ${v}.projected.sources[0].serviceAccountToken`],
  ],
  [
    "the name of an iSCSI target must be qualified",
    volume({ iscsi: { targetPortal: "1.2.3.4", iqn: "nope", lun: 300 } }),
    [`Invalid ${v}.iscsi.iqn`, `Invalid ${v}.iscsi.lun`],
  ],
  [
    "an ephemeral claim requests storage",
    volume({ ephemeral: { volumeClaimTemplate: { spec: {} } } }),
    [
      `Required ${v}.ephemeral.volumeClaimTemplate.spec.accessModes`,
      `Required ${v}.ephemeral.volumeClaimTemplate.spec.resources[storage]`,
    ],
  ],
  [
    "huge pages require a CPU or memory request",
    spec({}, { resources: { limits: { "hugepages-2Mi": "3Mi" } } }),
    [
      `Forbidden ${c}.resources`,
      `Invalid ${c}.resources.limits[hugepages-2Mi]`,
      `Invalid ${c}.resources.requests[hugepages-2Mi]`,
    ],
  ],
  [
    "requests and limits of extended resources must be equal",
    spec({}, { resources: { limits: { "example.com/gpu": "2" }, requests: { "example.com/gpu": "1" } } }),
    [`Invalid ${c}.resources.requests`],
  ],
  [
    "privileged containers must be allowed",
    spec({}, { securityContext: { privileged: true } }),
    [`Forbidden ${c}.securityContext.privileged`],
  ],
  [
    "a localhost seccomp profile requires its file",
    spec({ securityContext: { seccompProfile: { type: "Localhost" } } }),
    ["Required spec.securityContext.seccompProfile.localhostProfile"],
  ],
  [
    "hostPID and a shared process namespace exclude each other",
    spec({ hostPID: true, shareProcessNamespace: true }),
    ["Invalid spec.securityContext.shareProcessNamespace"],
  ],
  [
    "a readiness probe has no grace period",
    spec({}, { readinessProbe: { tcpSocket: { port: 1 }, terminationGracePeriodSeconds: 3 } }),
    [`Invalid ${c}.readinessProbe.terminationGracePeriodSeconds`],
  ],
  [
    "a probe requires a valid port and scheme",
    spec(
      {},
      {
        livenessProbe: { httpGet: { path: "/", port: 0, scheme: "FTP" } },
        startupProbe: { httpGet: { path: "/", port: "no port" } },
      },
    ),
    [
      `Invalid ${c}.livenessProbe.httpGet.port`,
      `Invalid ${c}.startupProbe.httpGet.port`,
      `NotSupported ${c}.livenessProbe.httpGet.scheme`,
    ],
  ],
  [
    "init containers have no probes",
    spec({ initContainers: [{ name: "i", image: "i", readinessProbe: { exec: { command: ["a"] } } }] }),
    ["Forbidden spec.initContainers[0].readinessProbe"],
  ],
  [
    "names are unique among containers and init containers",
    spec({ initContainers: [{ name: "c", image: "i" }] }),
    ["Duplicate spec.initContainers[0].name"],
  ],
  [
    "a gated pod must not be assigned to a node",
    spec({ nodeName: "n", schedulingGates: [{ name: "a/b" }] }),
    ["Forbidden spec.nodeName"],
  ],
  [
    "a weight must be between 1 and 100",
    spec({
      affinity: {
        podAffinity: {
          preferredDuringSchedulingIgnoredDuringExecution: [
            { weight: 101, podAffinityTerm: { topologyKey: "k" } },
          ],
        },
      },
    }),
    ["Invalid spec.affinity.podAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].weight"],
  ],
  [
    "spread constraints are unique by topology key and action",
    spec({
      topologySpreadConstraints: [1, 2].map((maxSkew) => ({
        maxSkew,
        topologyKey: "k",
        whenUnsatisfiable: "DoNotSchedule",
      })),
    }),
    ["Duplicate spec.topologySpreadConstraints[0].{topologyKey, whenUnsatisfiable}"],
  ],
  [
    "a Windows pod must not have Linux settings",
    spec({ os: { name: "windows" }, hostIPC: true }, { securityContext: { runAsUser: 1 } }),
    [`Forbidden ${c}.securityContext.runAsUser`, "Forbidden spec.hostIPC"],
  ],
  [
    "a mirror pod must be assigned to a node",
    { ...spec(), metadata: { ...metadata, annotations: { "orch.io/config.mirror": "x" } } },
    ["Invalid metadata.annotations[orch.io/config.mirror]"],
  ],
  [
    "the deletion cost must be a number",
    { ...spec(), metadata: { ...metadata, annotations: { "controller.orch.io/pod-deletion-cost": "+1" } } },
    ["Invalid metadata.annotations[controller.orch.io/pod-deletion-cost]"],
  ],
  [
    "seccomp profiles in annotations and fields must agree",
    {
      metadata: { ...metadata, annotations: { "seccomp.security.alpha.orch.io/pod": "unconfined" } },
      spec: {
        containers: [{ name: "c", image: "i" }],
        securityContext: { seccompProfile: { type: "RuntimeDefault" } },
      },
    },
    ["Forbidden spec.securityContext.seccompProfile.type"],
  ],
];
for (const [name, sent, causes] of refused)
  test(name, () => assert.deepEqual(tryCreate(pod, sent).causes, causes.toSorted()));

const changed: [name: string, before: object, after: object, causes: string[]][] = [
  ["images are mutable", spec(), spec({}, { image: "img:2" }), []],
  ["commands are immutable", spec(), spec({}, { command: ["x"] }), ["Forbidden spec"]],
  [
    "containers cannot be added",
    spec(),
    {
      metadata,
      spec: {
        containers: [
          { name: "c", image: "img:1" },
          { name: "d", image: "i" },
        ],
      },
    },
    ["Forbidden spec.containers"],
  ],
  ["a deadline may be added", spec(), spec({ activeDeadlineSeconds: 9 }), []],
  ["a deadline may be shortened", spec({ activeDeadlineSeconds: 9 }), spec({ activeDeadlineSeconds: 8 }), []],
  [
    "a deadline may not be extended",
    spec({ activeDeadlineSeconds: 9 }),
    spec({ activeDeadlineSeconds: 10 }),
    ["Invalid spec.activeDeadlineSeconds"],
  ],
  [
    "a deadline may not be removed",
    spec({ activeDeadlineSeconds: 9 }),
    spec(),
    ["Invalid spec.activeDeadlineSeconds"],
  ],
  ["tolerations may be added", spec(), spec({ tolerations: [{ operator: "Exists" }] }), []],
  [
    "the seconds of tolerations may be extended",
    spec({ tolerations: [{ key: "a", effect: "NoExecute", tolerationSeconds: 1 }] }),
    spec({ tolerations: [{ key: "a", effect: "NoExecute", tolerationSeconds: 2 }] }),
    [],
  ],
  [
    "tolerations may not be removed",
    spec({ tolerations: [{ operator: "Exists" }] }),
    spec(),
    ["Forbidden spec.tolerations"],
  ],
  [
    "scheduling gates may be removed",
    spec({ schedulingGates: [{ name: "a" }, { name: "b" }] }),
    spec({ schedulingGates: [{ name: "b" }] }),
    [],
  ],
  [
    "scheduling gates may not be added",
    spec({ schedulingGates: [{ name: "a" }] }),
    spec({ schedulingGates: [{ name: "a" }, { name: "b" }] }),
    ["Forbidden spec.schedulingGates[1].name"],
  ],
  [
    "the node selector of a gated pod may be narrowed",
    spec({ schedulingGates: [{ name: "a" }], nodeSelector: { x: "1" } }),
    spec({ schedulingGates: [{ name: "a" }], nodeSelector: { x: "1", y: "2" } }),
    [],
  ],
  [
    "the node selector of a gated pod may not be changed",
    spec({ schedulingGates: [{ name: "a" }], nodeSelector: { x: "1" } }),
    spec({ schedulingGates: [{ name: "a" }], nodeSelector: { y: "2" } }),
    ["Invalid spec.nodeSelector"],
  ],
  [
    "the node selector of a pod without gates is immutable",
    spec({ nodeSelector: { x: "1" } }),
    spec({ nodeSelector: { x: "1", y: "2" } }),
    ["Forbidden spec"],
  ],
];
for (const [name, before, after, causes] of changed) {
  test(name, () =>
    assert.deepEqual(
      tryUpdate(pod, before, after).causes.filter((cause) => !cause.includes("metadata")),
      causes,
    ),
  );
}
