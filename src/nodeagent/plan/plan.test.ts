import assert from "node:assert/strict";
import { test } from "node:test";
import type { Pod } from "#api";
import type { ObservedPod } from "../containers/observed.ts";
import { container, observed, samplePod, sandbox } from "../pod.fixture.ts";
import { plan } from "./plan.ts";

const two = samplePod({ containers: [{ name: "c" }, { name: "d" }] });
const withInit = samplePod({ initContainers: [{ name: "i" }, { name: "j" }] });
const never = samplePod({ restartPolicy: "Never" });
const onFailure = samplePod({ restartPolicy: "OnFailure" });
const neverInit = samplePod({ restartPolicy: "Never", initContainers: [{ name: "i" }] });
const changed = samplePod({ containers: [{ name: "c", image: "other" }] });
const withDebug = samplePod({ ephemeralContainers: [{ name: "debug" }] });
const down = sandbox({ ready: false });
const healthy = { failed: () => undefined, isStarted: () => true };
const failing = (id: string, why: "LivenessProbe" | "StartupProbe") => ({
  failed: (name: string) => (name === id ? why : undefined),
  isStarted: () => why !== "StartupProbe",
});
const starting = { ...healthy, isStarted: () => false };

const withSidecars = samplePod({
  restartPolicy: "Never",
  initContainers: [
    { name: "s", image: "i", restartPolicy: "Always", startupProbe: {} },
    { name: "i", image: "i" },
    { name: "t", image: "i", restartPolicy: "Always", startupProbe: {} },
  ],
});

/** Formats a plan in one line: sandbox, stops, starts. */
function formatPlan(pod: Pod, seen: ObservedPod, probes: Parameters<typeof plan>[2] = healthy): string {
  const { stopPod, newSandbox, stop, startInit, start, startEphemeral } = plan(pod, seen, probes);
  return [
    stopPod && "stop pod",
    newSandbox && `sandbox ${newSandbox.attempt}`,
    ...stop.map(({ container: { name }, reason }) => `stop ${name} (${reason})`),
    ...startInit.map(({ name }) => `init ${name}`),
    ...start.map(({ name }) => `start ${name}`),
    ...startEphemeral.map(({ name }) => `debug ${name}`),
  ]
    .filter(Boolean)
    .join(", ");
}

const cases: [
  name: string,
  pod: Pod,
  seen: ObservedPod,
  plan: string,
  probes?: Parameters<typeof plan>[2],
][] = [
  ["a new pod gets a sandbox and its containers", two, observed([], []), "sandbox 0, start c, start d"],
  ["a new pod with init containers starts with the first", withInit, observed([], []), "sandbox 0, init i"],
  [
    "a running pod is left alone",
    two,
    observed([container(two, "c", "running"), container(two, "d", "running")]),
    "",
  ],
  ["a missing container is started", two, observed([container(two, "c", "running")]), "start d"],
  ["a running init container is waited for", withInit, observed([container(withInit, "i", "running")]), ""],
  [
    "the next init container follows one that succeeded",
    withInit,
    observed([container(withInit, "i", "exited 0")]),
    "init j",
  ],
  [
    "a failed init container runs again",
    withInit,
    observed([container(withInit, "i", "exited 1")]),
    "init i",
  ],
  [
    "after the last init container the containers start",
    withInit,
    observed([container(withInit, "j", "exited 0"), container(withInit, "i", "exited 0")]),
    "start c",
  ],
  [
    "removed init containers do not run again while a container runs",
    withInit,
    observed([container(withInit, "c", "running")]),
    "",
  ],
  [
    "a failed init container ends a pod that never restarts",
    neverInit,
    observed([container(neverInit, "i", "exited 1")]),
    "stop pod",
  ],
  [
    "an ended container is restarted by default",
    two,
    observed([container(two, "c", "exited 0"), container(two, "d", "running")]),
    "start c",
  ],
  [
    "an ended container of a pod that never restarts stays",
    never,
    observed([container(never, "c", "exited 1")]),
    "stop pod",
  ],
  [
    "with restartPolicy OnFailure a succeeded container is not restarted",
    onFailure,
    observed([container(onFailure, "c", "exited 0")]),
    "stop pod",
  ],
  [
    "with restartPolicy OnFailure a failed container is restarted",
    onFailure,
    observed([container(onFailure, "c", "exited 2")]),
    "start c",
  ],
  [
    "a container that was created but never started is started again",
    two,
    observed([container(two, "c", "created"), container(two, "d", "running")]),
    "start c",
  ],
  [
    "a container in an unknown state is ended before it is restarted",
    two,
    observed([container(two, "c", "unknown"), container(two, "d", "running")]),
    "stop c (Unknown), start c",
  ],
  [
    "a changed container is restarted regardless of the restart policy",
    { ...changed, spec: { ...changed.spec, restartPolicy: "Never" } },
    observed([container(two, "c", "running")]),
    "stop c (Changed), start c",
  ],
  [
    "a container that fails its liveness probe is restarted",
    two,
    observed([container(two, "c", "running"), container(two, "d", "running")]),
    "stop c (LivenessProbe), start c",
    failing("c-0", "LivenessProbe"),
  ],
  [
    "a container that fails its startup probe is restarted",
    two,
    observed([container(two, "c", "running"), container(two, "d", "running")]),
    "stop d (StartupProbe), start d",
    failing("d-0", "StartupProbe"),
  ],
  [
    "a failed liveness probe ends a pod that never restarts",
    never,
    observed([container(never, "c", "running")]),
    "stop pod, stop c (LivenessProbe)",
    failing("c-0", "LivenessProbe"),
  ],
  [
    "a sandbox that is not ready is replaced with all its containers",
    two,
    observed([container(two, "c", "exited 137")], [down]),
    "stop pod, sandbox 1, start c, start d",
  ],
  [
    "a sandbox that is not ready ends a pod that never restarts",
    never,
    observed([container(never, "c", "exited 137")], [down]),
    "stop pod",
  ],
  [
    "a sandbox that died before any container ran is replaced even if the pod never restarts",
    never,
    observed([], [down]),
    "stop pod, sandbox 1, start c",
  ],
  [
    "with restartPolicy OnFailure a sandbox is not replaced for succeeded containers",
    onFailure,
    observed([container(onFailure, "c", "exited 0")], [down]),
    "stop pod",
  ],
  [
    "two ready sandboxes are replaced by one",
    two,
    observed([], [sandbox({ id: "t", attempt: 3 }), sandbox()]),
    "stop pod, sandbox 4, start c, start d",
  ],
  [
    "a sandbox without an address is replaced",
    two,
    observed([], [sandbox({ ips: [] })]),
    "stop pod, sandbox 1, start c, start d",
  ],
  [
    "a sandbox on the wrong network is replaced",
    two,
    observed([], [sandbox({ hostNetwork: true })]),
    "stop pod, sandbox 1, start c, start d",
  ],
  [
    "an ephemeral container is started",
    withDebug,
    observed([container(withDebug, "c", "running")]),
    "debug debug",
  ],
  [
    "an ephemeral container runs once",
    withDebug,
    observed([container(withDebug, "c", "running"), container(withDebug, "debug", "exited 1")]),
    "",
  ],
  [
    "the next init container follows a sidecar that has started",
    withSidecars,
    observed([container(withSidecars, "s", "running")]),
    "init i",
  ],
  [
    "nothing follows a sidecar before its startup probe passes",
    withSidecars,
    observed([container(withSidecars, "s", "running")]),
    "",
    starting,
  ],
  [
    "a sidecar that fails its startup probe is restarted",
    withSidecars,
    observed([container(withSidecars, "s", "running")]),
    "stop s (StartupProbe), init s",
    failing("s-0", "StartupProbe"),
  ],
  [
    "a sidecar that ended is restarted while an init container runs",
    withSidecars,
    observed([container(withSidecars, "s", "exited 0"), container(withSidecars, "i", "running")]),
    "init s",
  ],
  [
    "containers follow the last sidecar",
    withSidecars,
    observed([
      container(withSidecars, "s", "running"),
      container(withSidecars, "i", "exited 0"),
      container(withSidecars, "t", "running"),
    ]),
    "start c",
  ],
  [
    "containers wait for the last sidecar",
    withSidecars,
    observed([
      container(withSidecars, "s", "running"),
      container(withSidecars, "i", "exited 0"),
      container(withSidecars, "t", "running"),
    ]),
    "",
    starting,
  ],
  [
    "sidecars that ended are restarted in order, regardless of the restart policy",
    withSidecars,
    observed([
      container(withSidecars, "s", "exited 1"),
      container(withSidecars, "i", "exited 0"),
      container(withSidecars, "t", "exited 0"),
      container(withSidecars, "c", "running"),
    ]),
    "init s, init t",
  ],
  [
    "removed sidecars are restarted, removed init containers are not",
    withSidecars,
    observed([container(withSidecars, "c", "running")]),
    "init s, init t",
  ],
  [
    "a sidecar that fails its liveness probe is restarted",
    withSidecars,
    observed([
      container(withSidecars, "s", "running"),
      container(withSidecars, "t", "running"),
      container(withSidecars, "c", "running"),
    ]),
    "stop t (LivenessProbe), init t",
    failing("t-0", "LivenessProbe"),
  ],
  [
    "a pod whose containers have ended ends, although its sidecars run",
    withSidecars,
    observed([
      container(withSidecars, "s", "running"),
      container(withSidecars, "t", "running"),
      container(withSidecars, "c", "exited 0"),
    ]),
    "stop pod",
  ],
  [
    "a failed init container ends a pod that never restarts, although a sidecar runs",
    withSidecars,
    observed([container(withSidecars, "s", "running"), container(withSidecars, "i", "exited 1")]),
    "stop pod",
  ],
  ["a new pod with sidecars starts with the first", withSidecars, observed([], []), "sandbox 0, init s"],
];
for (const [name, pod, seen, expected, probes] of cases)
  test(name, () => assert.equal(formatPlan(pod, seen, probes), expected));
