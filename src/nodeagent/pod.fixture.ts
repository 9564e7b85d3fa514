// Concise constructors of pods and of their observed runtime state, for table tests.
import type { Pod } from "#api";
import type { ObservedContainer, ObservedPod, ObservedSandbox } from "./containers/observed.ts";
import { containerHash } from "./containers/hash.ts";
import { everyContainerOf } from "./pod.ts";

export const samplePod = (spec: object = {}, metadata: object = {}, status: object = {}): Pod =>
  ({
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "a", namespace: "n", uid: "u", ...metadata },
    spec: { containers: [{ name: "c", image: "i" }], restartPolicy: "Always", ...spec },
    status,
  }) as unknown as Pod;

export const sandbox = (more: Partial<ObservedSandbox> = {}): ObservedSandbox => ({
  id: "s",
  ready: true,
  attempt: 0,
  createdAt: 1,
  ips: ["10.1.0.2"],
  hostNetwork: false,
  ...more,
});

/** Returns an observed container in a state: `running`, `exited 0`, `exited 3`, `created`, `unknown`. */
export function container(
  pod: Pod,
  name: string,
  state: string,
  more: Partial<ObservedContainer> & { readonly restarts?: number } = {},
): ObservedContainer {
  const [phase, code = "0"] = state.split(" ") as [ObservedContainer["state"], string?];
  const definition = everyContainerOf(pod).find((candidate) => candidate.name === name);
  const { restarts = 0, ...rest } = more;
  return {
    id: `${name}-${restarts}`,
    name,
    sandboxId: "s",
    state: phase,
    createdAt: 10 + restarts,
    startedAt: 1_000_000,
    finishedAt: phase === "exited" ? 1_005_000 : undefined,
    exitCode: Number(code),
    reason: phase === "exited" ? (code === "0" ? "Completed" : "Error") : "",
    message: "",
    image: "i",
    imageId: "sha256:1",
    logPath: "",
    runtimeLabels: {
      hash: definition ? containerHash(definition) : "",
      restartCount: restarts,
      terminationMessagePath: "",
      terminationMessagePolicy: "",
    },
    ...rest,
  };
}

export const observed = (
  containers: readonly ObservedContainer[],
  sandboxes: readonly ObservedSandbox[] = [sandbox()],
): ObservedPod => ({
  uid: "u",
  name: "a",
  namespace: "n",
  sandboxes,
  containers,
});
