import assert from "node:assert/strict";
import { test } from "node:test";
import { pod } from "./pod.ts";
import { tryCreate, tryUpdate } from "./try-out.fixture.ts";

const metadata = { name: "p", namespace: "n" };
const spec = (more: object = {}, container: object = {}) => ({
  metadata,
  spec: { containers: [{ name: "c", image: "img:1", ...container }], ...more },
});
const c = "spec.containers[0]";
const volume = (source: object) => spec({ volumes: [{ name: "v", ...source }] });
const v = "spec.volumes[0]";

const refused: [name: string, sent: object, causes: string[]][] = [
  ["a plain pod is fine", spec(), []],
  ["a pod has containers", { metadata, spec: {} }, ["Required spec.containers"]],
  [
    "a name that is too long and ill-formed is wrong twice",
    spec({}, { name: "A".repeat(64) }),
    [`Invalid ${c}.name`, `Invalid ${c}.name`],
  ],
  [
    "names of ports say everything that is wrong",
    spec({}, { ports: [{ name: "-1--", containerPort: 1 }] }),
    Array.from({ length: 3 }, () => `Invalid ${c}.ports[0].name`),
  ],
  [
    "host ports collide by protocol and address",
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
    "a variable has one source",
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
    "a variable may name one annotation",
    spec({}, { env: [{ name: "A", valueFrom: { fieldRef: { fieldPath: "metadata.annotations['X/y']" } } }] }),
    [],
  ],
  [
    "other fields have no parts",
    spec({}, { env: [{ name: "A", valueFrom: { fieldRef: { fieldPath: "metadata.name['x']" } } }] }),
    [`Invalid ${c}.env[0].valueFrom.fieldRef.fieldPath`],
  ],
  [
    "some fields are for volumes only",
    spec({}, { env: [{ name: "A", valueFrom: { fieldRef: { fieldPath: "metadata.labels" } } }] }),
    [`NotSupported ${c}.env[0].valueFrom.fieldRef.fieldPath`],
  ],
  [
    "cpu is divided by one or a thousandth",
    spec(
      {},
      { env: [{ name: "A", valueFrom: { resourceFieldRef: { resource: "limits.cpu", divisor: "2" } } }] },
    ),
    [`Invalid ${c}.env[0].valueFrom.resourceFieldRef.divisor`],
  ],
  [
    "sets of variables have one source each",
    spec({}, { envFrom: [{}, { configMapRef: { name: "a" }, secretRef: { name: "b" } }] }),
    [`Invalid ${c}.envFrom`, `Invalid ${c}.envFrom`],
  ],
  [
    "each mount has a place of its own",
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
    "a mount must find its volume",
    spec({}, { volumeMounts: [{ name: "none", mountPath: "/x" }] }),
    [`NotFound ${c}.volumeMounts[0].name`],
  ],
  [
    "a volume with faults cannot be mounted",
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
    "only privileged containers pass mounts on",
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
    "a device needs a claim",
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
    "paths of keys stay in the volume",
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
    "modes are permission bits",
    volume({ configMap: { name: "m", defaultMode: 0o1000 } }),
    [`Invalid ${v}.configMap.defaultMode`],
  ],
  ["a mode may give nobody anything", volume({ configMap: { name: "m", defaultMode: 0 } }), []],
  [
    "parts of a volume do not collide",
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
    "a part has one source",
    volume({ projected: { sources: [{ secret: { name: "a" }, configMap: { name: "b" } }] } }),
    [`Forbidden ${v}.projected.sources[0]`],
  ],
  [
    "a token needs an account",
    volume({ projected: { sources: [{ serviceAccountToken: { path: "t" } }] } }),
    [`Forbidden ${v}.projected.sources[0].serviceAccountToken`],
  ],
  [
    "an iSCSI target has a qualified name",
    volume({ iscsi: { targetPortal: "1.2.3.4", iqn: "nope", lun: 300 } }),
    [`Invalid ${v}.iscsi.iqn`, `Invalid ${v}.iscsi.lun`],
  ],
  [
    "a claim asks for storage",
    volume({ ephemeral: { volumeClaimTemplate: { spec: {} } } }),
    [
      `Required ${v}.ephemeral.volumeClaimTemplate.spec.accessModes`,
      `Required ${v}.ephemeral.volumeClaimTemplate.spec.resources[storage]`,
    ],
  ],
  [
    "whoever wants huge pages says cpu or memory, too",
    spec({}, { resources: { limits: { "hugepages-2Mi": "3Mi" } } }),
    [
      `Forbidden ${c}.resources`,
      `Invalid ${c}.resources.limits[hugepages-2Mi]`,
      `Invalid ${c}.resources.requests[hugepages-2Mi]`,
    ],
  ],
  [
    "extended resources are asked for as they are limited",
    spec({}, { resources: { limits: { "example.com/gpu": "2" }, requests: { "example.com/gpu": "1" } } }),
    [`Invalid ${c}.resources.requests`],
  ],
  [
    "privilege is for those who may",
    spec({}, { securityContext: { privileged: true } }),
    [`Forbidden ${c}.securityContext.privileged`],
  ],
  [
    "a local profile needs its file",
    spec({ securityContext: { seccompProfile: { type: "Localhost" } } }),
    ["Required spec.securityContext.seccompProfile.localhostProfile"],
  ],
  [
    "a pod of the host's processes shares none of its own",
    spec({ hostPID: true, shareProcessNamespace: true }),
    ["Invalid spec.securityContext.shareProcessNamespace"],
  ],
  [
    "readiness does not end anything",
    spec({}, { readinessProbe: { tcpSocket: { port: 1 }, terminationGracePeriodSeconds: 3 } }),
    [`Invalid ${c}.readinessProbe.terminationGracePeriodSeconds`],
  ],
  [
    "a probe asks at a port, by a known scheme",
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
    "init containers are not probed",
    spec({ initContainers: [{ name: "i", image: "i", readinessProbe: { exec: { command: ["a"] } } }] }),
    ["Forbidden spec.initContainers[0].readinessProbe"],
  ],
  [
    "containers of both sorts have different names",
    spec({ initContainers: [{ name: "c", image: "i" }] }),
    ["Duplicate spec.initContainers[0].name"],
  ],
  [
    "a gated pod has no node",
    spec({ nodeName: "n", schedulingGates: [{ name: "a/b" }] }),
    ["Forbidden spec.nodeName"],
  ],
  [
    "a weight is between 1 and 100",
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
    "constraints differ in place or action",
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
    "a Windows pod has no Linux settings",
    spec({ os: { name: "windows" }, hostIPC: true }, { securityContext: { runAsUser: 1 } }),
    [`Forbidden ${c}.securityContext.runAsUser`, "Forbidden spec.hostIPC"],
  ],
  [
    "a mirror pod is on a node",
    { ...spec(), metadata: { ...metadata, annotations: { "orch.io/config.mirror": "x" } } },
    ["Invalid metadata.annotations[orch.io/config.mirror]"],
  ],
  [
    "the cost of deletion is a number",
    { ...spec(), metadata: { ...metadata, annotations: { "controller.orch.io/pod-deletion-cost": "+1" } } },
    ["Invalid metadata.annotations[controller.orch.io/pod-deletion-cost]"],
  ],
  [
    "profiles in annotations and fields agree",
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
  ["an image may change", spec(), spec({}, { image: "img:2" }), []],
  ["a command may not", spec(), spec({}, { command: ["x"] }), ["Forbidden spec"]],
  [
    "containers do not come later",
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
  ["a deadline may come", spec(), spec({ activeDeadlineSeconds: 9 }), []],
  ["a deadline may shrink", spec({ activeDeadlineSeconds: 9 }), spec({ activeDeadlineSeconds: 8 }), []],
  [
    "a deadline may not grow",
    spec({ activeDeadlineSeconds: 9 }),
    spec({ activeDeadlineSeconds: 10 }),
    ["Invalid spec.activeDeadlineSeconds"],
  ],
  ["a deadline stays", spec({ activeDeadlineSeconds: 9 }), spec(), ["Invalid spec.activeDeadlineSeconds"]],
  ["tolerations may come", spec(), spec({ tolerations: [{ operator: "Exists" }] }), []],
  [
    "tolerations may wait longer",
    spec({ tolerations: [{ key: "a", effect: "NoExecute", tolerationSeconds: 1 }] }),
    spec({ tolerations: [{ key: "a", effect: "NoExecute", tolerationSeconds: 2 }] }),
    [],
  ],
  [
    "tolerations do not go",
    spec({ tolerations: [{ operator: "Exists" }] }),
    spec(),
    ["Forbidden spec.tolerations"],
  ],
  [
    "gates go",
    spec({ schedulingGates: [{ name: "a" }, { name: "b" }] }),
    spec({ schedulingGates: [{ name: "b" }] }),
    [],
  ],
  [
    "gates do not come",
    spec({ schedulingGates: [{ name: "a" }] }),
    spec({ schedulingGates: [{ name: "a" }, { name: "b" }] }),
    ["Forbidden spec.schedulingGates[1].name"],
  ],
  [
    "a gated pod may choose among fewer nodes",
    spec({ schedulingGates: [{ name: "a" }], nodeSelector: { x: "1" } }),
    spec({ schedulingGates: [{ name: "a" }], nodeSelector: { x: "1", y: "2" } }),
    [],
  ],
  [
    "a gated pod may not choose others",
    spec({ schedulingGates: [{ name: "a" }], nodeSelector: { x: "1" } }),
    spec({ schedulingGates: [{ name: "a" }], nodeSelector: { y: "2" } }),
    ["Invalid spec.nodeSelector"],
  ],
  [
    "a pod without gates keeps its selector",
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
