// Pods with fields of later releases: sidecars and hooks that sleep.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Pod } from "#api";
import { pod } from "./pod.ts";
import { podTableColumns } from "./pod-columns.ts";
import { statusUpdateErrors } from "./pod-update.ts";
import { tryCreate, tryUpdate } from "./strategy.fixture.ts";

const container = (name: string, more: object = {}) => ({ name, image: "i", ...more });
const podWith = (
  initContainers: readonly object[],
  main: object = {},
  spec: object = {},
  status?: object,
) => ({
  metadata: { name: "p", namespace: "d", resourceVersion: "1" },
  spec: { initContainers, containers: [container("main", main)], terminationGracePeriodSeconds: 30, ...spec },
  ...(status && { status }),
});
const always = { restartPolicy: "Always" };
const probe = { tcpSocket: { port: 80 } };
const health = {
  livenessProbe: probe,
  readinessProbe: probe,
  startupProbe: probe,
  lifecycle: { preStop: { exec: { command: ["true"] } } },
};
const sleeping = (seconds: number, more: object = {}) => ({
  lifecycle: { preStop: { sleep: { seconds }, ...more } },
});

const cases: [name: string, pod: object, causes: readonly string[]][] = [
  ["a sidecar may have hooks and probes", podWith([container("s", { ...always, ...health })]), []],
  [
    "an init container may not have hooks and probes",
    podWith([container("i", health)]),
    ["lifecycle", "livenessProbe", "readinessProbe", "startupProbe"].map(
      (key) => `Forbidden spec.initContainers[0].${key}`,
    ),
  ],
  [
    "the probes of a sidecar are validated",
    podWith([container("s", { ...always, livenessProbe: { ...probe, successThreshold: 2 } })]),
    ["Invalid spec.initContainers[0].livenessProbe.successThreshold"],
  ],
  [
    "another restart policy of an init container is refused",
    podWith([container("s", { restartPolicy: "OnFailure" })]),
    ["NotSupported spec.initContainers[0].restartPolicy"],
  ],
  [
    "a main container has no restart policy",
    podWith([], always),
    ["Forbidden spec.containers[0].restartPolicy"],
  ],
  ["a sleep hook is valid", podWith([], sleeping(30)), []],
  [
    "a sleep hook must not exceed the grace period of the pod",
    podWith([], sleeping(31)),
    ["Invalid spec.containers[0].lifecycle.preStop.sleep"],
  ],
  [
    "a sleep hook needs a positive duration",
    podWith([], sleeping(0)),
    ["Invalid spec.containers[0].lifecycle.preStop.sleep"],
  ],
  [
    "a hook has a single handler",
    podWith([], sleeping(3, { exec: { command: ["true"] } })),
    ["Forbidden spec.containers[0].lifecycle.preStop.sleep"],
  ],
];
for (const [name, sent, causes] of cases)
  test(name, () => assert.deepEqual(tryCreate(pod, sent).causes, causes));

test("the restart policy of an init container is immutable", () => {
  const before = podWith([container("s", always)]);
  const { causes } = tryUpdate(pod, before, podWith([container("s")]));
  assert.deepEqual(causes, ["Forbidden spec"]);
});

test("a stored hook that sleeps for zero seconds remains valid", () => {
  const stored = podWith([], sleeping(0));
  assert.deepEqual(tryUpdate(pod, stored, stored).causes, []);
});

const status = (name: string, state: object, more: object = {}) => ({
  name,
  state,
  lastState: {},
  ready: false,
  restartCount: 0,
  image: "",
  imageID: "",
  ...more,
});
const running = { running: { startedAt: null } };
const ended = { terminated: { exitCode: 0, startedAt: null, finishedAt: null } };

test("a sidecar may run again after it terminated, an init container may not", () => {
  const spec = podWith([container("s", always), container("i")], {}, { restartPolicy: "Never" }).spec;
  const of = (state: object) => ({
    metadata: { name: "p", namespace: "d" },
    spec,
    status: { initContainerStatuses: [status("s", state), status("i", state)] },
  });
  const errors = statusUpdateErrors(of(running) as unknown as Pod, of(ended) as unknown as Pod);
  assert.deepEqual(
    errors.map(({ field }) => field),
    ["status.initContainerStatuses[1].state"],
  );
});

test("the table row counts sidecars among the containers", () => {
  const shown = (initState: object, mainState: object): string => {
    const object = podWith(
      [container("s", always), container("i")],
      {},
      {},
      {
        phase: "Running",
        initContainerStatuses: [
          status("s", running, { started: true, ready: true, restartCount: 2 }),
          status("i", initState),
        ],
        containerStatuses: [status("main", mainState, { ready: true })],
      },
    ) as unknown as Pod;
    return podTableColumns
      .filter(({ name }) => ["Ready", "Status", "Restarts"].includes(name))
      .map(({ cell }) => cell(object, Date.now() as never))
      .join(" ");
  };
  assert.equal(shown(running, { waiting: {} }), "0/2 Init:1/2 2");
  assert.equal(shown(ended, running), "2/2 Running 2");
});
