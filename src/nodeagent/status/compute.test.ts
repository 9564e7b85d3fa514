import assert from "node:assert/strict";
import { test } from "node:test";
import type { Pod, PodStatus } from "#api";
import type { ObservedPod } from "../containers/observed.ts";
import { container, observed, samplePod, sandbox } from "../pod.fixture.ts";
import { type PodStatusFacts, computeStatus, publishable, terminatedStatus } from "./compute.ts";
import { statusPatch } from "./writer.ts";

const facts = (seen: ObservedPod, more: Partial<PodStatusFacts> = {}): PodStatusFacts => ({
  now: Date.parse("2030-01-01T00:01:00Z"),
  runtimeName: "rt",
  hostIps: ["192.0.2.1"],
  observed: seen,
  old: {},
  trouble: new Map(),
  probes: { isStarted: (_, hasProbe) => !hasProbe, isReady: (_, hasProbe) => !hasProbe },
  over: false,
  isStatic: false,
  ...more,
});
const line = (status: PodStatus): string => {
  const of = (list: PodStatus["containerStatuses"]): string[] =>
    (list ?? []).map(({ name, state, lastState, ready, started, restartCount }) => {
      const now = state.running
        ? "running"
        : state.terminated
          ? `${state.terminated.reason}:${state.terminated.exitCode}`
          : (state.waiting?.reason ?? "waiting");
      return `${name}=${now}${ready ? "+ready" : ""}${started ? "+started" : ""}${lastState.terminated ? `<${lastState.terminated.exitCode}` : ""}${restartCount ? `x${restartCount}` : ""}`;
    });
  return [status.phase, ...of(status.initContainerStatuses), ...of(status.containerStatuses)].join(" ");
};
const conditions = (status: PodStatus): string =>
  (status.conditions ?? [])
    .map(({ type, status: value, reason }) => `${type}=${value}${reason ? `:${reason}` : ""}`)
    .join(" ");

const pod = samplePod();
const never = samplePod({ restartPolicy: "Never" });
const onFailure = samplePod({ restartPolicy: "OnFailure" });
const two = samplePod({ containers: [{ name: "c" }, { name: "d" }] });
const withInit = samplePod({ initContainers: [{ name: "i" }] });
const neverInit = samplePod({ restartPolicy: "Never", initContainers: [{ name: "i" }] });
const probed = samplePod({ containers: [{ name: "c", readinessProbe: {} }] });
const starting = samplePod({ containers: [{ name: "c", startupProbe: {} }] });
const backOff = new Map([["c", { reason: "CrashLoopBackOff", message: "m" }]]);
const runningBefore: PodStatus = {
  phase: "Running",
  containerStatuses: [
    {
      name: "c",
      state: { running: { startedAt: null } },
      lastState: {},
      ready: true,
      restartCount: 2,
      image: "i",
      imageID: "",
      containerID: "rt://c-2",
    },
  ],
};

const cases: [name: string, pod: Pod, seen: ObservedPod, line: string, more?: Partial<PodStatusFacts>][] = [
  ["a pod of which nothing is made yet is pending", pod, observed([], []), "Pending c=ContainerCreating"],
  [
    "a pod with init containers of which nothing is made yet is initializing",
    withInit,
    observed([], []),
    "Pending i=PodInitializing c=PodInitializing",
  ],
  [
    "a pod whose container runs is running",
    pod,
    observed([container(pod, "c", "running")]),
    "Running c=running+ready+started",
  ],
  [
    "a container that is made and not started waits",
    pod,
    observed([container(pod, "c", "created")]),
    "Pending c=waiting",
  ],
  [
    "a pod of which one of two containers runs is pending",
    two,
    observed([container(two, "c", "running")]),
    "Pending c=running+ready+started d=ContainerCreating",
  ],
  [
    "a pod of which one of two containers ended is running",
    two,
    observed([container(two, "c", "running"), container(two, "d", "exited 1")]),
    "Running c=running+ready+started d=Error:1",
  ],
  [
    "a pod whose only container ended and is to be restarted is running",
    pod,
    observed([container(pod, "c", "exited 0")]),
    "Running c=Completed:0",
  ],
  [
    "a container that waits to be restarted shows reason, and how it ended",
    pod,
    observed([container(pod, "c", "exited 1")]),
    "Running c=CrashLoopBackOff<1",
    { trouble: backOff },
  ],
  [
    "a container that was restarted shows how it ended before",
    pod,
    observed([container(pod, "c", "running", { restarts: 1 }), container(pod, "c", "exited 3")]),
    "Running c=running+ready+started<3x1",
  ],
  [
    "a container that was restarted shows its last end also when that container was removed",
    pod,
    observed([container(pod, "c", "running", { restarts: 2 })]),
    "Running c=running+ready+started<9x2",
    {
      old: {
        ...runningBefore,
        containerStatuses: [
          {
            ...runningBefore.containerStatuses![0]!,
            lastState: { terminated: { exitCode: 9, startedAt: null, finishedAt: null } },
          },
        ],
      },
    },
  ],
  [
    "of two ends of a container the last one counts",
    pod,
    observed([container(pod, "c", "exited 2", { restarts: 1 }), container(pod, "c", "exited 3")]),
    "Running c=Error:2x1",
  ],
  [
    "a pod that never restarts and ended well has succeeded",
    never,
    observed([container(never, "c", "exited 0")]),
    "Succeeded c=Completed:0",
  ],
  [
    "a pod that never restarts and ended badly has failed",
    never,
    observed([container(never, "c", "exited 1")]),
    "Failed c=Error:1",
  ],
  [
    "a pod that failed and is to be tried again is running",
    onFailure,
    observed([container(onFailure, "c", "exited 1")]),
    "Running c=Error:1",
  ],
  [
    "a pod that restarts on failure and ended well has succeeded",
    onFailure,
    observed([container(onFailure, "c", "exited 0")]),
    "Succeeded c=Completed:0",
  ],
  [
    "a pod that never restarts fails with its init container",
    neverInit,
    observed([container(neverInit, "i", "exited 1")]),
    "Failed i=Error:1 c=PodInitializing",
  ],
  [
    "a pod whose init container runs is pending",
    withInit,
    observed([container(withInit, "i", "running")]),
    "Pending i=running c=PodInitializing",
  ],
  [
    "a pod whose init container is done is pending until its containers are made",
    withInit,
    observed([container(withInit, "i", "exited 0")]),
    "Pending i=Completed:0+ready c=PodInitializing",
  ],
  [
    "a container is not ready until its probe has spoken",
    probed,
    observed([container(probed, "c", "running")]),
    "Running c=running+started",
  ],
  [
    "a container is neither ready nor started until it has started up",
    starting,
    observed([container(starting, "c", "running")]),
    "Running c=running",
  ],
  [
    "a container that vanished while it ran counts as killed",
    pod,
    observed([], []),
    "Running c=ContainerCreating<137x3",
    { old: runningBefore },
  ],
  [
    "a pod that is over has its last phase, whatever its restart policy",
    pod,
    observed([container(pod, "c", "exited 0")]),
    "Succeeded c=Completed:0",
    { over: true },
  ],
  [
    "a static pod that restarts is never over",
    pod,
    observed([container(pod, "c", "exited 0")]),
    "Running c=Completed:0",
    { over: true, isStatic: true },
  ],
  [
    "an evicted pod has failed",
    pod,
    observed([container(pod, "c", "running")]),
    "Failed c=running+ready+started",
    { ended: { reason: "Evicted", message: "m" } },
  ],
  [
    "an evicted pod whose containers ended well has succeeded",
    pod,
    observed([container(pod, "c", "exited 0")]),
    "Succeeded c=Completed:0",
    { over: true, ended: { reason: "Evicted", message: "m" }, old: { phase: "Failed" } },
  ],
  [
    "a pod past its deadline has failed, even if its containers ended well",
    pod,
    observed([container(pod, "c", "exited 0")]),
    "Failed c=Completed:0",
    { over: true, ended: { reason: "DeadlineExceeded", message: "m", final: true } },
  ],
  [
    "a pod that has succeeded stays so, whatever is seen",
    pod,
    observed([container(pod, "c", "running")]),
    "Succeeded c=running+ready+started",
    { old: { phase: "Succeeded" } },
  ],
];
for (const [name, of, seen, expected, more] of cases)
  test(name, () => assert.equal(line(computeStatus(of, facts(seen, more))), expected));

const judged: [name: string, pod: Pod, seen: ObservedPod, conditions: string][] = [
  [
    "a pod that runs has all conditions",
    pod,
    observed([container(pod, "c", "running")]),
    "Initialized=True Ready=True ContainersReady=True PodScheduled=True",
  ],
  [
    "a pod whose container is not ready is not ready",
    probed,
    observed([container(probed, "c", "running")]),
    "Initialized=True Ready=False:ContainersNotReady ContainersReady=False:ContainersNotReady PodScheduled=True",
  ],
  [
    "a pod that has succeeded is completed and not ready",
    never,
    observed([container(never, "c", "exited 0")]),
    "Initialized=True:PodCompleted Ready=False:PodCompleted ContainersReady=False:PodCompleted PodScheduled=True",
  ],
  [
    "a pod that has failed is not ready",
    never,
    observed([container(never, "c", "exited 1")]),
    "Initialized=True Ready=False:PodFailed ContainersReady=False:PodFailed PodScheduled=True",
  ],
  [
    "a pod that is initializing is neither initialized nor ready",
    withInit,
    observed([]),
    "Initialized=False:ContainersNotInitialized Ready=False:ContainersNotReady ContainersReady=False:ContainersNotReady PodScheduled=True",
  ],
  [
    "a pod behind a closed gate is not ready though its containers are",
    samplePod({ readinessGates: [{ conditionType: "x" }] }),
    observed([container(pod, "c", "running")]),
    "Initialized=True Ready=False:ReadinessGatesNotReady ContainersReady=True PodScheduled=True",
  ],
];
for (const [name, of, seen, expected] of judged)
  test(name, () => assert.equal(conditions(computeStatus(of, facts(seen))), expected));

test("an ephemeral container that could not be started waits where the pod's policy would start it", () => {
  const trouble = new Map([["dbg", { reason: "RunContainerError", message: "m" }]]);
  const shown = (restartPolicy: string): object | undefined => {
    const given = samplePod({ restartPolicy, ephemeralContainers: [{ name: "dbg" }] });
    const seen = observed([container(given, "c", "running"), container(given, "dbg", "exited 128")]);
    const [{ state, lastState } = {}] =
      computeStatus(given, facts(seen, { trouble })).ephemeralContainerStatuses ?? [];
    return { state: Object.keys(state ?? {}), before: lastState?.terminated?.exitCode };
  };
  assert.deepEqual(shown("Always"), { state: ["waiting"], before: 128 });
  assert.deepEqual(shown("Never"), { state: ["terminated"], before: undefined });
});

test("an open gate makes a pod ready, and the gate's condition is kept", () => {
  const gated = samplePod(
    { readinessGates: [{ conditionType: "x" }] },
    {},
    { conditions: [{ type: "x", status: "True", lastProbeTime: null, lastTransitionTime: null }] },
  );
  assert.match(
    conditions(computeStatus(gated, facts(observed([container(gated, "c", "running")])))),
    /^x=True .*Ready=True/,
  );
});

test("all containers of a pod together say twelve kilobytes at most", () => {
  const names = ["a", "b", "c", "d"];
  const talkative = samplePod({
    containers: names.map((name) => ({ name, image: "i" })),
    restartPolicy: "Never",
  });
  const ended = names.map((name) => ({
    ...container(talkative, name, "exited 0"),
    message: "w".repeat(4096),
  }));
  const lengths = computeStatus(talkative, facts(observed(ended))).containerStatuses!.map(
    ({ state }) => state.terminated!.message!.length,
  );
  assert.deepEqual(lengths, [3072, 3072, 3072, 3072]);
});

test("a condition keeps its time until it changes", () => {
  const first = computeStatus(pod, facts(observed([container(pod, "c", "running")])));
  const later = facts(observed([container(pod, "c", "running")]), {
    old: first,
    now: Date.parse("2030-01-01T01:00:00Z"),
  });
  assert.deepEqual(computeStatus(pod, later), first);
});

test("addresses: the node's family first; a pod on the node's network has the node's; a stopped sandbox keeps the last", () => {
  const ips = (of: Pod, seen: ObservedPod, more: Partial<PodStatusFacts> = {}): unknown =>
    (computeStatus(of, facts(seen, more)).podIPs ?? []).map(({ ip }) => ip);
  assert.deepEqual(ips(pod, observed([], [sandbox({ ips: ["fd00::1", "10.0.0.1", "10.0.0.2"] })])), [
    "10.0.0.1",
    "fd00::1",
  ]);
  assert.deepEqual(ips(samplePod({ hostNetwork: true }), observed([], [])), ["192.0.2.1"]);
  assert.deepEqual(
    ips(pod, observed([], [sandbox({ ready: false, ips: [] })]), { old: { podIPs: [{ ip: "10.0.0.9" }] } }),
    ["10.0.0.9"],
  );
});

test("at the end nothing waits or runs, and the phase is terminal", () => {
  assert.equal(
    line(terminatedStatus(pod, computeStatus(pod, facts(observed([], []))), false)),
    "Failed c=ContainerStatusUnknown:137",
  );
  assert.equal(
    line(terminatedStatus(withInit, computeStatus(withInit, facts(observed([], []))), false)),
    "Failed i=ContainerStatusUnknown:137 c=PodInitializing",
  );
  const stopped = computeStatus(withInit, facts(observed([container(withInit, "i", "exited 0")])));
  assert.equal(
    line(terminatedStatus(withInit, stopped, false)),
    "Failed i=Completed:0+ready c=ContainerStatusUnknown:137",
  );
  assert.equal(
    line(terminatedStatus(withInit, stopped, false, false)),
    "Failed i=Completed:0+ready c=PodInitializing",
  );
  assert.equal(
    line(
      terminatedStatus(
        never,
        computeStatus(never, facts(observed([container(never, "c", "exited 0")]))),
        false,
      ),
    ),
    "Succeeded c=Completed:0",
  );
});

test("while containers may run, a pod is not called over", () => {
  const status = computeStatus(never, facts(observed([container(never, "c", "exited 0")])));
  assert.equal(publishable(status, { phase: "Running" }, true, 0).phase, "Running");
  assert.equal(publishable(status, { phase: "Running" }, false, 0).phase, "Succeeded");
  const evicted = computeStatus(
    pod,
    facts(observed([container(pod, "c", "running")]), { ended: { reason: "Evicted", message: "m" } }),
  );
  assert.deepEqual(
    [
      publishable(evicted, { phase: "Running" }, true, 0).reason,
      publishable(evicted, { phase: "Running" }, false, 0).reason,
    ],
    [undefined, "Evicted"],
  );
});

const endings: [name: string, ended: PodStatusFacts["ended"], ready: string][] = [
  [
    "a pod that is evicted is as ready as its containers while they end",
    { reason: "Evicted", message: "m" },
    "True",
  ],
  [
    "a pod past its deadline is not ready while its containers end",
    { reason: "DeadlineExceeded", message: "m", final: true },
    "False",
  ],
];
for (const [name, ended, ready] of endings) {
  test(name, () => {
    const { phase, conditions } = computeStatus(
      pod,
      facts(observed([container(pod, "c", "running")]), { ended: ended! }),
    );
    assert.deepEqual([phase, conditions?.find(({ type }) => type === "Ready")?.status], ["Failed", ready]);
  });
}

const base: PodStatus = {
  phase: "Running",
  podIPs: [{ ip: "1" }],
  conditions: [
    {
      type: "Ready",
      status: "False",
      reason: "r",
      message: "m",
      lastProbeTime: null,
      lastTransitionTime: "t",
    },
  ],
};
const patches: [name: string, to: PodStatus, patch: object | undefined][] = [
  ["a status that did not change makes no patch", { ...base }, undefined],
  ["a patch says what is new", { ...base, phase: "Failed" }, { phase: "Failed" }],
  ["a patch takes away what is gone", { podIPs: base.podIPs, conditions: base.conditions }, { phase: null }],
  [
    "a patch of a list takes away entries that are gone",
    { ...base, podIPs: [{ ip: "2" }] },
    { podIPs: [{ ip: "2" }, { ip: "1", $patch: "delete" }], "$setElementOrder/podIPs": [{ ip: "2" }] },
  ],
  [
    "a patch takes the reason from a condition that has none any more",
    {
      ...base,
      conditions: [{ type: "Ready", status: "True", lastProbeTime: null, lastTransitionTime: "u" }],
    },
    {
      conditions: [
        {
          reason: null,
          message: null,
          type: "Ready",
          status: "True",
          lastProbeTime: null,
          lastTransitionTime: "u",
        },
      ],
    },
  ],
];
for (const [name, to, patch] of patches) {
  test(name, () =>
    assert.deepEqual(statusPatch(pod, base, to), patch && { metadata: { uid: "u" }, status: patch }),
  );
}

test("where it is asked for, a condition tells whether the pod has its sandbox and network", () => {
  const tells = { tellsNetwork: true };
  const without = observed([], []);
  assert.match(conditions(computeStatus(pod, facts(without, tells))), /^PodHasNetwork=False Initialized=/);
  const ready = observed([]);
  assert.match(conditions(computeStatus(pod, facts(ready, tells))), /^PodHasNetwork=True Initialized=/);
  assert.doesNotMatch(conditions(computeStatus(pod, facts(ready))), /PodHasNetwork/);
});
