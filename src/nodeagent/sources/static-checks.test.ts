import assert from "node:assert/strict";
import { test } from "node:test";
import { samplePod } from "../pod.fixture.ts";
import { staticProblems } from "./static-checks.ts";

const c = { name: "c", image: "i" };
const having = (container: object): object => ({ containers: [{ ...c, ...container }] });
const cases: [name: string, spec: object, problems: string[]][] = [
  [
    "valid fields",
    {
      volumes: [{ name: "v", emptyDir: {} }],
      containers: [{ ...c, ports: [{ containerPort: 80 }], volumeMounts: [{ name: "v", mountPath: "/v" }] }],
    },
    [],
  ],
  [
    "an unknown restart policy",
    { restartPolicy: "Sometimes" },
    ['spec.restartPolicy: Unsupported value: "Sometimes": supported values: "Always", "OnFailure", "Never"'],
  ],
  [
    "a negative grace period",
    { terminationGracePeriodSeconds: -1 },
    ["spec.terminationGracePeriodSeconds: Invalid value: -1: must be greater than or equal to 0"],
  ],
  [
    "an active deadline of 0",
    { activeDeadlineSeconds: 0 },
    ["spec.activeDeadlineSeconds: Invalid value: 0: must be greater than or equal to 1"],
  ],
  [
    "ephemeral containers",
    { ephemeralContainers: [c] },
    ["spec.ephemeralContainers: Forbidden: cannot be set on create"],
  ],
  [
    "two volumes with the same name",
    {
      volumes: [
        { name: "v", emptyDir: {} },
        { name: "v", emptyDir: {} },
      ],
    },
    ['spec.volumes[1].name: Duplicate value: "v"'],
  ],
  [
    "a volume with two types",
    { volumes: [{ name: "v", emptyDir: {}, hostPath: { path: "/" } }] },
    ["spec.volumes[0].hostPath: Forbidden: may not specify more than 1 volume type"],
  ],
  [
    "a volume without a type",
    { volumes: [{ name: "v" }] },
    ["spec.volumes[0]: Required value: must specify a volume type"],
  ],
  [
    "a mount of an undefined volume",
    having({ volumeMounts: [{ name: "nope", mountPath: "/x" }] }),
    ['spec.containers[0].volumeMounts[0].name: Not found: "nope"'],
  ],
  [
    "two mounts at the same path",
    {
      volumes: [{ name: "v", emptyDir: {} }],
      ...having({
        volumeMounts: [
          { name: "v", mountPath: "/x" },
          { name: "v", mountPath: "/x" },
        ],
      }),
    },
    ['spec.containers[0].volumeMounts[1].mountPath: Invalid value: "/x": must be unique'],
  ],
  [
    "a port out of range",
    having({ ports: [{ containerPort: 70_000 }] }),
    [
      "spec.containers[0].ports[0].containerPort: Invalid value: 70000: must be between 1 and 65535, inclusive",
    ],
  ],
  [
    "a probe with two handlers",
    having({ livenessProbe: { exec: { command: ["true"] }, tcpSocket: { port: 1 } } }),
    ["spec.containers[0].livenessProbe.tcpSocket: Forbidden: may not specify more than 1 handler type"],
  ],
  [
    "a hook without a handler",
    having({ lifecycle: { preStop: {} } }),
    ["spec.containers[0].lifecycle.preStop: Required value: must specify a handler type"],
  ],
  [
    "a request above the limit",
    having({ resources: { requests: { cpu: "2" }, limits: { cpu: "1500m" } } }),
    [
      'spec.containers[0].resources.requests: Invalid value: "2": must be less than or equal to cpu limit of 1500m',
    ],
  ],
  // prettier-ignore
  ["an invalid init container", { initContainers: [{ ...c, name: "i", imagePullPolicy: "Now" }] }, ['spec.initContainers[0].imagePullPolicy: Unsupported value: "Now": supported values: "Always", "IfNotPresent", "Never"']],
];
for (const [name, spec, problems] of cases)
  test(`a static pod with ${name}`, () =>
    assert.deepEqual(staticProblems(samplePod({ containers: [c], ...spec })), problems));
