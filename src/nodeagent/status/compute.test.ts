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
  startErrors: new Map(),
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
  [
    "a pod of which nothing has been created is pending",
    pod,
    observed([], []),
    "Pending c=ContainerCreating",
  ],
  [
    "a pod with init containers of which nothing has been created is initializing",
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
    "a container that is created but not started is waiting",
    pod,
    observed([container(pod, "c", "created")]),
    "Pending c=waiting",
  ],
  [
    "a pod with one of two containers running is pending",
    two,
    observed([container(two, "c", "running")]),
    "Pending c=running+ready+started d=ContainerCreating",
  ],
  [
    "a pod with one of two containers ended is running",
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
    "a container in backoff shows the reason and its last termination",
    pod,
    observed([container(pod, "c", "exited 1")]),
    "Running c=CrashLoopBackOff<1",
    { startErrors: backOff },
  ],
  [
    "a restarted container shows its last termination",
    pod,
    observed([container(pod, "c", "running", { restarts: 1 }), container(pod, "c", "exited 3")]),
    "Running c=running+ready+started<3x1",
  ],
  [
    "a restarted container keeps its last termination when the old container is removed",
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
    "of two terminations of a container the latest is shown",
    pod,
    observed([container(pod, "c", "exited 2", { restarts: 1 }), container(pod, "c", "exited 3")]),
    "Running c=Error:2x1",
  ],
  [
    "a pod that never restarts and exited with 0 has succeeded",
    never,
    observed([container(never, "c", "exited 0")]),
    "Succeeded c=Completed:0",
  ],
  [
    "a pod that never restarts and exited with an error has failed",
    never,
    observed([container(never, "c", "exited 1")]),
    "Failed c=Error:1",
  ],
  [
    "a pod that failed and will be restarted is running",
    onFailure,
    observed([container(onFailure, "c", "exited 1")]),
    "Running c=Error:1",
  ],
  [
    "a pod that restarts on failure and exited with 0 has succeeded",
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
    "a pod whose init container is done is pending until its containers are created",
    withInit,
    observed([container(withInit, "i", "exited 0")]),
    "Pending i=Completed:0+ready c=PodInitializing",
  ],
  [
    "a container is not ready before its first readiness probe result",
    probed,
    observed([container(probed, "c", "running")]),
    "Running c=running+started",
  ],
  [
    "a container is neither ready nor started before its startup probe passes",
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
    "a terminated pod has a terminal phase regardless of its restart policy",
    pod,
    observed([container(pod, "c", "exited 0")]),
    "Succeeded c=Completed:0",
    { over: true },
  ],
  [
    "a static pod that restarts never reaches a terminal phase",
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
    "an evicted pod whose containers exited with 0 has succeeded",
    pod,
    observed([container(pod, "c", "exited 0")]),
    "Succeeded c=Completed:0",
    { over: true, ended: { reason: "Evicted", message: "m" }, old: { phase: "Failed" } },
  ],
  [
    "a pod past its deadline has failed even if its containers exited with 0",
    pod,
    observed([container(pod, "c", "exited 0")]),
    "Failed c=Completed:0",
    { over: true, ended: { reason: "DeadlineExceeded", message: "m", final: true } },
  ],
  [
    "a succeeded pod stays succeeded regardless of its containers",
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
    "a running pod has all conditions",
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
    "a pod with an unsatisfied readiness gate is not ready though its containers are",
    samplePod({ readinessGates: [{ conditionType: "x" }] }),
    observed([container(pod, "c", "running")]),
    "Initialized=True Ready=False:ReadinessGatesNotReady ContainersReady=True PodScheduled=True",
  ],
];
for (const [name, of, seen, expected] of judged)
  test(name, () => assert.equal(conditions(computeStatus(of, facts(seen))), expected));

test("a failed ephemeral container is waiting if the pod's restart policy would start it", () => {
  const startErrors = new Map([["dbg", { reason: "RunContainerError", message: "m" }]]);
  const shown = (restartPolicy: string): object | undefined => {
    const given = samplePod({ restartPolicy, ephemeralContainers: [{ name: "dbg" }] });
    const seen = observed([container(given, "c", "running"), container(given, "dbg", "exited 128")]);
    const [{ state, lastState } = {}] =
      computeStatus(given, facts(seen, { startErrors })).ephemeralContainerStatuses ?? [];
    return { state: Object.keys(state ?? {}), before: lastState?.terminated?.exitCode };
  };
  assert.deepEqual(shown("Always"), { state: ["waiting"], before: 128 });
  assert.deepEqual(shown("Never"), { state: ["terminated"], before: undefined });
});

test("a satisfied readiness gate makes a pod ready, and its condition is kept", () => {
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

test("termination messages of a pod total at most twelve kilobytes", () => {
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

test("a condition keeps its transition time until its status changes", () => {
  const first = computeStatus(pod, facts(observed([container(pod, "c", "running")])));
  const later = facts(observed([container(pod, "c", "running")]), {
    old: first,
    now: Date.parse("2030-01-01T01:00:00Z"),
  });
  assert.deepEqual(computeStatus(pod, later), first);
});

test("pod IPs: the node's family first, host network pods have the node's IPs, a stopped sandbox keeps its last", () => {
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

test("after termination no container is waiting or running, and the phase is terminal", () => {
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

test("while containers may run, no terminal phase is published", () => {
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
    "an evicted pod is as ready as its containers while they terminate",
    { reason: "Evicted", message: "m" },
    "True",
  ],
  [
    "a pod past its deadline is not ready while its containers terminate",
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
  ["an unchanged status yields no patch", { ...base }, undefined],
  ["a patch contains changed fields", { ...base, phase: "Failed" }, { phase: "Failed" }],
  ["a patch clears removed fields", { podIPs: base.podIPs, conditions: base.conditions }, { phase: null }],
  [
    "a list patch deletes removed entries",
    { ...base, podIPs: [{ ip: "2" }] },
    { podIPs: [{ ip: "2" }, { ip: "1", $patch: "delete" }], "$setElementOrder/podIPs": [{ ip: "2" }] },
  ],
  [
    "a patch clears the removed reason of a condition",
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

test("if enabled, the PodHasNetwork condition reports sandbox and network", () => {
  const enabled = { reportsNetwork: true };
  const without = observed([], []);
  assert.match(conditions(computeStatus(pod, facts(without, enabled))), /^PodHasNetwork=False Initialized=/);
  const ready = observed([]);
  assert.match(conditions(computeStatus(pod, facts(ready, enabled))), /^PodHasNetwork=True Initialized=/);
  assert.doesNotMatch(conditions(computeStatus(pod, facts(ready))), /PodHasNetwork/);
});

test("the addresses of the node are listed if enabled", () => {
  const hostIps = ["192.0.2.1", "2001:db8::1"];
  const listed = computeStatus(pod, facts(observed([]), { hostIps, reportsHostIps: true }));
  assert.deepEqual([listed.hostIP, listed.hostIPs], [hostIps[0], hostIps.map((ip) => ({ ip }))]);
  assert.equal(computeStatus(pod, facts(observed([]), { hostIps })).hostIPs, undefined);
});
