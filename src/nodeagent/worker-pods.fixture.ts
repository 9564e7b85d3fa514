// Concise constructors of pods and one-line summaries of their states, for tests of the pod workers.
import type { Harness } from "./harness.fixture.ts";

export const podOf = (name: string, container: object = {}, spec: object = {}): object => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name },
  spec: {
    containers: [{ name: "main", image: "busybox:1", command: ["sleep", "100000"], ...container }],
    ...spec,
  },
});
export const states = (h: Harness, uid: string): string =>
  [...(h.status(uid).initContainerStatuses ?? []), ...(h.status(uid).containerStatuses ?? [])]
    .map(
      ({ name, state, restartCount }) =>
        `${name}:${state.running ? "running" : state.terminated ? `${state.terminated.reason}(${state.terminated.exitCode})` : state.waiting?.reason}:${restartCount}`,
    )
    .join(" ");
export const condition = (h: Harness, uid: string, type: string): string =>
  h.status(uid).conditions?.find((found) => found.type === type)?.status ?? "";
export const made = (h: Harness): string[] =>
  h.runtime.calls
    .map(({ method }) => method)
    .filter((method) => /^(Run|Create|Start|Stop|Remove|Exec)/.test(method));
