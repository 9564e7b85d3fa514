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
const well = { failed: () => undefined };
const ill = (id: string, why: "LivenessProbe" | "StartupProbe") => ({
  failed: (asked: string) => (asked === id ? why : undefined),
});

/** What is planned, in a line: sandbox, stops, starts. */
function told(pod: Pod, seen: ObservedPod, probes: Parameters<typeof plan>[2] = well): string {
  const { stopPod, newSandbox, stop, startInit, start, startEphemeral } = plan(pod, seen, probes);
  return [
    stopPod && "stop pod",
    newSandbox && `sandbox ${newSandbox.attempt}`,
    ...stop.map(({ container: { name }, reason }) => `stop ${name} (${reason})`),
    startInit && `init ${startInit.name}`,
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
  ["a new pod with init containers begins with the first", withInit, observed([], []), "sandbox 0, init i"],
  [
    "a pod that runs is left alone",
    two,
    observed([container(two, "c", "running"), container(two, "d", "running")]),
    "",
  ],
  [
    "a missing container is started beside the others",
    two,
    observed([container(two, "c", "running")]),
    "start d",
  ],
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
    "init containers that were removed do not run again beside a running container",
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
    "on failure, success is the end",
    onFailure,
    observed([container(onFailure, "c", "exited 0")]),
    "stop pod",
  ],
  ["on failure, failure is not", onFailure, observed([container(onFailure, "c", "exited 2")]), "start c"],
  [
    "a container that was made and never started is made again",
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
    "a changed container is restarted whatever the policy",
    { ...changed, spec: { ...changed.spec, restartPolicy: "Never" } },
    observed([container(two, "c", "running")]),
    "stop c (Changed), start c",
  ],
  [
    "a container that fails its liveness probe is restarted",
    two,
    observed([container(two, "c", "running"), container(two, "d", "running")]),
    "stop c (LivenessProbe), start c",
    ill("c-0", "LivenessProbe"),
  ],
  [
    "a container that fails its startup probe is restarted",
    two,
    observed([container(two, "c", "running"), container(two, "d", "running")]),
    "stop d (StartupProbe), start d",
    ill("d-0", "StartupProbe"),
  ],
  [
    "a failed liveness probe ends a pod that never restarts",
    never,
    observed([container(never, "c", "running")]),
    "stop pod, stop c (LivenessProbe)",
    ill("c-0", "LivenessProbe"),
  ],
  [
    "a sandbox that is down is replaced with all in it",
    two,
    observed([container(two, "c", "exited 137")], [down]),
    "stop pod, sandbox 1, start c, start d",
  ],
  [
    "a sandbox that is down ends a pod that never restarts",
    never,
    observed([container(never, "c", "exited 137")], [down]),
    "stop pod",
  ],
  [
    "a sandbox that died before anything ran is replaced even then",
    never,
    observed([], [down]),
    "stop pod, sandbox 1, start c",
  ],
  [
    "on failure, a sandbox is not replaced for containers that succeeded",
    onFailure,
    observed([container(onFailure, "c", "exited 0")], [down]),
    "stop pod",
  ],
  [
    "two ready sandboxes are one too many",
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
    "an ephemeral container is added",
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
];
for (const [name, pod, seen, expected, probes] of cases)
  test(name, () => assert.equal(told(pod, seen, probes), expected));
