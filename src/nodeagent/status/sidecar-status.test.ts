// The status of pods with sidecars: phase, conditions and container statuses.
import assert from "node:assert/strict";
import { test } from "node:test";
import { container, observed, samplePod } from "../pod.fixture.ts";
import { computeStatus, hasInitialized } from "./compute.ts";

const spec = {
  restartPolicy: "Never",
  initContainers: [{ name: "s", restartPolicy: "Always", startupProbe: {} }, { name: "i" }],
};
const pod = samplePod(spec);
const unready = samplePod({
  ...spec,
  initContainers: [{ name: "s", restartPolicy: "Always", readinessProbe: {} }],
});
const only = samplePod({
  ...spec,
  initContainers: [{ name: "s", restartPolicy: "Always", startupProbe: {} }],
});

/** Expected: phase, Initialized and Ready conditions, and the sidecar's state, started and ready. */
const cases: [
  name: string,
  pod: typeof pod,
  states: Readonly<Record<string, string>>,
  expected: string,
  started?: boolean,
][] = [
  [
    "a sidecar before its startup probe passes",
    pod,
    { s: "running" },
    "Pending False False s:running",
    false,
  ],
  ["a sidecar that has started", pod, { s: "running" }, "Pending False False s:running+started+ready"],
  [
    "a sidecar with a completed init container",
    pod,
    { s: "running", i: "exited 0" },
    "Pending True False s:running+started+ready",
  ],
  [
    "a sidecar with a running container",
    pod,
    { s: "running", i: "exited 0", c: "running" },
    "Running True True s:running+started+ready",
  ],
  [
    "a sidecar that ended does not make the pod uninitialized",
    pod,
    { s: "exited 1", i: "exited 0", c: "running" },
    "Running True False s:ended",
  ],
  [
    "a sidecar that restarts does not make the pod uninitialized",
    pod,
    { s: "running", i: "exited 0", c: "running" },
    "Running True False s:running",
    false,
  ],
  [
    "a sidecar that is not ready keeps the pod from being ready",
    unready,
    { s: "running", c: "running" },
    "Running True False s:running+started",
  ],
  [
    "a pod runs until its sidecars have ended",
    pod,
    { s: "running", i: "exited 0", c: "exited 0" },
    "Running True False s:running+started+ready",
  ],
  [
    "the exit code of a sidecar does not affect the phase",
    pod,
    { s: "exited 137", i: "exited 0", c: "exited 0" },
    "Succeeded True False s:ended",
  ],
  [
    "the exit code of the container determines the phase",
    pod,
    { s: "exited 0", i: "exited 0", c: "exited 1" },
    "Failed True False s:ended",
  ],
];
for (const [name, of, states, expected, started = true] of cases) {
  test(name, () => {
    const status = computeStatus(of, {
      now: 0,
      runtimeName: "rt",
      hostIps: [],
      observed: observed(Object.entries(states).map(([each, state]) => container(of, each, state))),
      old: {},
      startErrors: new Map(),
      probes: {
        isStarted: (_, hasProbe) => started || !hasProbe,
        isReady: (_, hasProbe) => !hasProbe,
      },
      over: false,
      isStatic: false,
    });
    const condition = (type: string) => status.conditions?.find((each) => each.type === type)?.status;
    const { state, started: begun, ready } = status.initContainerStatuses![0]!;
    const sidecar = `${state.running ? "running" : "ended"}${begun ? "+started" : ""}${ready ? "+ready" : ""}`;
    assert.equal(`${status.phase} ${condition("Initialized")} ${condition("Ready")} s:${sidecar}`, expected);
  });
}

test("a sidecar in backoff shows the reason", () => {
  const { initContainerStatuses } = computeStatus(pod, {
    now: 0,
    runtimeName: "rt",
    hostIps: [],
    observed: observed([container(pod, "s", "exited 0")]),
    old: {},
    startErrors: new Map([["s", { reason: "CrashLoopBackOff", message: "back-off" }]]),
    probes: { isStarted: () => false, isReady: () => false },
    over: false,
    isStatic: false,
  });
  assert.equal(initContainerStatuses![0]!.state.waiting?.reason, "CrashLoopBackOff");
});

test("a pod is initialized once its last sidecar has started", () => {
  const status = (started: boolean) => ({
    initContainerStatuses: [
      { name: "s", state: {}, lastState: {}, ready: false, restartCount: 0, image: "", imageID: "", started },
    ],
  });
  assert.deepEqual([hasInitialized(only, status(false)), hasInitialized(only, status(true))], [false, true]);
});
