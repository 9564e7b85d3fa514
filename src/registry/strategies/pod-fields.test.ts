import assert from "node:assert/strict";
import { test } from "node:test";
import type { Pod } from "#api";
import { dialects } from "#dialect";
import { tagOf } from "./pod-defaults.ts";
import { pod } from "./pod.ts";
import { defaulted, cellsOf, tryCreate, tryPart, tryUpdate, contextOf } from "./strategy.fixture.ts";

const metadata = { name: "p", namespace: "n" };
const spec = (more: object = {}, container: object = {}) => ({
  metadata,
  spec: { containers: [{ name: "c", image: "img:1", ...container }], ...more },
});

const images: [image: string, tag: string | undefined][] = [
  ["img", "latest"],
  ["img:latest", "latest"],
  ["img:1", "1"],
  ["host:5000/img", "latest"],
  ["host:5000/a/b:x", "x"],
  ["localhost/img", "latest"],
  [`img@sha256:${"a".repeat(64)}`, undefined],
  ["IMG", undefined],
  ["i".repeat(237), "latest"],
  ["i".repeat(238), undefined],
  [" img", undefined],
  ["", undefined],
];
for (const [image, tag] of images)
  test(`the tag of "${image}" is ${tag ?? "unknown"}`, () => assert.equal(tagOf(image), tag));

test("defaults that depend on other fields are set", () => {
  const { object } = tryCreate(pod, {
    metadata,
    spec: {
      hostNetwork: true,
      serviceAccount: "a",
      terminationGracePeriodSeconds: -5,
      volumes: [{ name: "v" }],
      containers: [
        {
          name: "c",
          image: "img",
          ports: [{ containerPort: 80 }],
          resources: { limits: { cpu: "1500u", memory: "1Gi" }, requests: { cpu: "1m" } },
        },
      ],
    },
  });
  const { spec: filled, status } = object as { spec: Record<string, unknown>; status: object };
  const {
    hostNetwork: _hostNetwork,
    dnsPolicy: _dnsPolicy,
    restartPolicy: _restartPolicy,
    securityContext: _context,
    schedulerName: _scheduler,
    containers,
    ...rest
  } = filled;
  assert.deepEqual(rest, {
    serviceAccount: "a",
    serviceAccountName: "a",
    terminationGracePeriodSeconds: 1,
    volumes: [{ name: "v", emptyDir: {} }],
    enableServiceLinks: true,
  });
  const [container] = containers as Record<string, unknown>[];
  assert.deepEqual(
    [container!["imagePullPolicy"], container!["ports"], container!["resources"]],
    [
      "Always",
      [{ containerPort: 80, hostPort: 80, protocol: "TCP" }],
      { limits: { cpu: "2m", memory: "1Gi" }, requests: { cpu: "1m", memory: "1Gi" } },
    ],
  );
  assert.deepEqual(status, { phase: "Pending", qosClass: "Burstable" });
});

const amounts = { allocatedResources: { cpu: "1" }, resources: {} };
const policy = [{ resourceName: "cpu", restartPolicy: "NotRequired" }];
const resizing: [
  name: string,
  resizePolicy: object | undefined,
  resize: object,
  own: object,
  kept: boolean,
][] = [
  [
    "the resize status is dropped with the next update of a pod without resize policy",
    undefined,
    { resize: "Proposed" },
    amounts,
    false,
  ],
  [
    "the resize field is dropped even if no container has resize fields",
    undefined,
    { resize: "Proposed" },
    {},
    false,
  ],
  [
    "resize fields of a container are dropped even if the pod has none",
    undefined,
    {},
    { allocatedResources: { cpu: "1" } },
    false,
  ],
  ["a status without resize fields is unchanged", undefined, {}, {}, true],
  ["the resize status of a pod with resize policy is kept", policy, { resize: "Proposed" }, amounts, true],
];
for (const [name, resizePolicy, resize, own, kept] of resizing) {
  test(name, () => {
    const old = defaulted(pod, {
      ...spec({}, resizePolicy && { resizePolicy }),
      status: { ...resize, containerStatuses: [{ ...running(), ...own }] },
    });
    const bare = defaulted(pod, { ...spec(), status: { containerStatuses: [running()] } });
    const before = structuredClone(old);
    const next = structuredClone(old);
    pod.prepareForUpdate!(next, old, contextOf(pod));
    const statusOf = (object: object): unknown => (object as { status: unknown }).status;
    assert.deepEqual(statusOf(next), statusOf(kept ? old : bare));
    assert.deepEqual(old, before, "the old object is unchanged");
  });
}

const qualities: [name: string, resources: object, expected: string][] = [
  ["no requests and limits mean BestEffort", {}, "BestEffort"],
  [
    "equal requests and limits of CPU and memory mean Guaranteed",
    { limits: { cpu: "1", memory: "1Gi" } },
    "Guaranteed",
  ],
  [
    "differently written equal amounts mean Guaranteed",
    { limits: { cpu: "1", memory: "1Gi" }, requests: { cpu: "1000m", memory: "1024Mi" } },
    "Guaranteed",
  ],
  [
    "requests below the limits mean Burstable",
    { limits: { cpu: "1", memory: "1Gi" }, requests: { cpu: "1m" } },
    "Burstable",
  ],
  ["other resources alone mean BestEffort", { requests: { "ephemeral-storage": "1Gi" } }, "BestEffort"],
];
for (const [name, resources, expected] of qualities) {
  test(name, () =>
    assert.equal(
      (tryCreate(pod, spec({}, { resources })).object["status"] as { qosClass: string }).qosClass,
      expected,
    ),
  );
}

const terminated = (exitCode: number, more: object = {}) => ({
  name: "c",
  state: { terminated: { exitCode, ...more } },
  lastState: {},
  ready: false,
  restartCount: 0,
  image: "",
  imageID: "",
});
const running = (more: object = {}) => ({
  name: "c",
  state: { running: {} },
  lastState: {},
  ready: true,
  restartCount: 0,
  image: "",
  imageID: "",
  ...more,
});
const shown: [name: string, sent: object, cells: unknown[]][] = [
  ["a new pod is Pending", spec(), ["p", "0/1", "Pending", "0"]],
  [
    "a running pod shows its ready containers",
    { ...spec(), status: { phase: "Running", containerStatuses: [running()] } },
    ["p", "1/1", "Running", "0"],
  ],
  [
    "an exit code replaces a missing reason",
    { ...spec(), status: { phase: "Running", containerStatuses: [terminated(3)] } },
    ["p", "0/1", "ExitCode:3", "0"],
  ],
  [
    "a signal replaces a missing reason",
    { ...spec(), status: { phase: "Running", containerStatuses: [terminated(137, { signal: 9 })] } },
    ["p", "0/1", "Signal:9", "0"],
  ],
  [
    "init containers are shown first",
    {
      ...spec({ initContainers: [{ name: "i", image: "i" }] }),
      status: { phase: "Pending", initContainerStatuses: [terminated(1, { reason: "Error" })] },
    },
    ["p", "0/1", "Init:Error", "0"],
  ],
  [
    "the progress of init containers is shown",
    {
      ...spec({
        initContainers: [
          { name: "i", image: "i" },
          { name: "j", image: "i" },
        ],
      }),
      status: { phase: "Pending", initContainerStatuses: [terminated(0), running()] },
    },
    ["p", "0/1", "Init:1/2", "0"],
  ],
  [
    "the time of the last restart is shown",
    {
      ...spec(),
      status: {
        phase: "Running",
        containerStatuses: [
          running({
            restartCount: 2,
            lastState: { terminated: { exitCode: 1, finishedAt: "2024-05-06T07:07:09Z" } },
          }),
        ],
      },
    },
    ["p", "1/1", "Running", "2 (60s ago)"],
  ],
  [
    "a pod that is being deleted is Terminating",
    {
      metadata: { ...metadata, deletionTimestamp: "2024-05-06T07:07:09Z" },
      spec: spec().spec,
      status: { phase: "Running" },
    },
    ["p", "0/1", "Terminating", "0"],
  ],
];
for (const [name, sent, cells] of shown)
  test(name, () => assert.deepEqual(cellsOf(pod, sent).slice(0, 4), cells));

test("rows of finished pods have a Completed condition", () => {
  const over = (phase: string) =>
    pod.rowConditions!({ ...spec(), status: { phase } } as never)?.map(
      ({ type, reason }) => `${type} ${reason}`,
    );
  assert.deepEqual(
    [over("Succeeded"), over("Failed"), over("Running")],
    [["Completed Succeeded"], ["Completed Failed"], undefined],
  );
});

test("terminated containers must not run again", () => {
  const before = { ...spec({ restartPolicy: "Never" }), status: {} };
  const old = {
    ...(tryCreate(pod, before).object as object),
    status: { containerStatuses: [terminated(0)] },
  };
  const errors = pod.subresources!["status"]!.validate!(
    { ...old, status: { containerStatuses: [running()] } } as never,
    old as never,
    { dialect: { names: { annotations: {} } }, settings: {} } as never,
  );
  assert.deepEqual(
    errors.map(({ type, field }) => [type, field]),
    [["FieldValueForbidden", "status.containerStatuses[0].state"]],
  );
});

test("podIP becomes the first of podIPs", () => {
  const { status } = defaulted(pod, {
    ...spec(),
    status: { podIP: "10.0.0.1", podIPs: [{ ip: "10.0.0.2" }] },
  }) as unknown as { status: object };
  assert.deepEqual(status, { podIP: "10.0.0.1", podIPs: [{ ip: "10.0.0.1" }] });
});

test("ephemeral containers can be added but not removed", () => {
  const added = (name: string, more: object = {}) => ({
    name,
    image: "i",
    imagePullPolicy: "Always",
    terminationMessagePolicy: "File",
    terminationMessagePath: "/x",
    resources: {},
    ...more,
  });
  const withOne = { ...spec({ ephemeralContainers: [added("e")] }) };
  assert.deepEqual(tryPart(pod, "ephemeralcontainers", spec(), withOne).causes, []);
  const mirror = (given: object) => ({
    ...given,
    metadata: { ...metadata, annotations: { [dialects.orch.names.annotations.configMirror]: "file" } },
  });
  assert.deepEqual(tryPart(pod, "ephemeralcontainers", mirror(spec()), mirror(withOne)).causes, [
    "Forbidden []",
  ]);
  assert.deepEqual(
    tryPart(pod, "ephemeralcontainers", spec(), {
      ...spec({ ephemeralContainers: [added("c", { ports: [{ containerPort: 1, protocol: "TCP" }] })] }),
    }).causes,
    ["Duplicate spec.ephemeralContainers[0].name", "Forbidden spec.ephemeralContainers[0].ports"],
  );
  assert.deepEqual(
    tryPart(pod, "ephemeralcontainers", spec(), {
      ...spec({ ephemeralContainers: [added("e", { lifecycle: {}, ports: [] })] }),
    }).causes,
    ["Forbidden spec.ephemeralContainers[0].lifecycle", "Forbidden spec.ephemeralContainers[0].ports"],
  );
  assert.deepEqual(tryPart(pod, "ephemeralcontainers", withOne, spec()).causes, [
    "Forbidden spec.ephemeralContainers",
  ]);
});

test("a procMount other than the default is reset on every update", () => {
  const mounted = (procMount: string) => spec({}, { securityContext: { procMount } });
  const { object, causes } = tryUpdate(pod, mounted("Default"), mounted("Unmasked"));
  assert.deepEqual(
    [
      causes,
      (object as { spec: { containers: { securityContext: object }[] } }).spec.containers[0]?.securityContext,
    ],
    [[], { procMount: "Default" }],
  );
});

test("the gate allows an unmasked procMount", () => {
  const context = contextOf(pod);
  const object = defaulted(pod, spec({}, { securityContext: { procMount: "Unmasked" } }));
  pod.prepareForCreate!(object, { ...context, settings: { ...context.settings, procMount: true } });
  assert.equal((object as unknown as Pod).spec.containers![0]?.securityContext?.procMount, "Unmasked");
});

test("inadvisable fields get warnings", () => {
  const { warnings } = tryCreate(pod, {
    metadata: { name: "a.b", namespace: "n" },
    spec: {
      containers: [{ name: "c", image: "i", env: [{ name: "A" }, { name: "A" }] }],
      nodeSelector: { "beta.orch.io/os": "x" },
      imagePullSecrets: [{}],
    },
  });
  assert.deepEqual(
    warnings.map((text) => text.split(":")[0]),
    [
      "metadata.name",
      "spec.nodeSelector[beta.orch.io/os]",
      "spec.imagePullSecrets[0].name",
      "spec.containers[0].env[1].name",
    ],
  );
});

test("allocated resources in statuses are rounded up to thousandths", () => {
  const statuses = [{ name: "c", allocatedResources: { cpu: "1.0000000001" } }];
  const { status } = defaulted(pod, {
    metadata: { name: "p" },
    spec: { containers: [{ name: "c", image: "i" }] },
    status: {
      initContainerStatuses: statuses,
      containerStatuses: statuses,
      ephemeralContainerStatuses: statuses,
    },
  }) as unknown as Pod;
  for (const key of ["initContainerStatuses", "containerStatuses", "ephemeralContainerStatuses"] as const)
    assert.deepEqual(status[key]?.[0]?.allocatedResources, { cpu: "1001m" });
});
