// Container statuses, from the observed state, the previous status and the last start error.
import { type Container, type ContainerState, type ContainerStatus, type Pod, isSidecar } from "#api";
import { timeOfMillis } from "#base";
import { type ObservedContainer, type ObservedPod, latest } from "../containers/observed.ts";
import { shouldStart } from "../plan/plan.ts";
import { initContainersOf, isDeleted } from "../pod.ts";

/** Why the last attempt to start a container failed. */
export interface StartError {
  readonly reason: string;
  readonly message: string;
}

export interface ContainerStatusFacts {
  /** Runtime name such as `containerd`, as in containerd://id. */
  readonly runtimeName: string;
  readonly observed: ObservedPod;
  readonly old: readonly ContainerStatus[];
  readonly startErrors: ReadonlyMap<string, StartError>;
  readonly kind: "init" | "ordinary" | "ephemeral";
}

const lost = { exitCode: 137, reason: "ContainerStatusUnknown", startedAt: null, finishedAt: null } as const;
export const lostAtTermination: ContainerState = {
  terminated: { ...lost, message: "The container could not be located when the pod was terminated" },
};
const lostAtDeletion: ContainerState = {
  terminated: {
    ...lost,
    message: "The container could not be located when the pod was deleted.  The container used to be Running",
  },
};

export const containerIdText = (runtimeName: string, id: string): string => `${runtimeName}://${id}`;

export function containerStatuses(
  pod: Pod,
  containers: readonly Container[],
  facts: ContainerStatusFacts,
): ContainerStatus[] {
  const statuses = containers.map((container) => containerStatus(pod, container, facts));
  // Init containers keep their order, the others are sorted by name.
  return facts.kind === "init" ? statuses : statuses.toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

function containerStatus(
  pod: Pod,
  container: Container,
  { runtimeName, observed, old, startErrors, kind }: ContainerStatusFacts,
): ContainerStatus {
  const before = old.find(({ name }) => name === container.name);
  const [newest, previous] = observed.containers.filter(({ name }) => name === container.name);
  let status = newest ? observedStatus(newest, before, runtimeName) : missingStatus(pod, container, before);
  // lastState is reported only for containers that have not exited. If the previous container has been
  // removed, its state is taken from the previous status.
  if (newest && newest.state !== "exited")
    status.lastState = previous
      ? observedStatus(previous, undefined, runtimeName).state
      : before?.containerID === status.containerID
        ? (before?.lastState ?? {})
        : {};
  const reason = startErrors.get(container.name);
  const found = latest(observed, container.name);
  const isRestarted = kind === "init" && isSidecar(container);
  const isDone = kind === "init" && !isRestarted && found?.state === "exited" && found.exitCode === 0;
  // Also applies the pod's restart policy to ephemeral containers, though they are never restarted.
  const mayStart = shouldStart(pod, found, isRestarted ? "Always" : undefined);
  if (reason && !isDone && mayStart) {
    status = {
      ...status,
      ...(status.state.terminated && { lastState: status.state }),
      state: { waiting: { reason: reason.reason, ...(reason.message && { message: reason.message }) } },
    };
  }
  return status;
}

const timeOf = (milliseconds: number | undefined): string | null =>
  milliseconds === undefined ? null : timeOfMillis(milliseconds);

function observedStatus(
  container: ObservedContainer,
  before: ContainerStatus | undefined,
  runtimeName: string,
): ContainerStatus {
  const containerID = containerIdText(runtimeName, container.id);
  const status: ContainerStatus = {
    name: container.name,
    state: {},
    lastState: {},
    ready: false,
    // A container created but never started may be removed before its replacement exists: the count never
    // decreases.
    restartCount: Math.max(container.runtimeLabels.restartCount, before?.restartCount ?? 0),
    image: container.image,
    imageID: container.imageId,
    containerID,
  };
  if (container.state === "running") status.state = { running: { startedAt: timeOf(container.startedAt) } };
  else if (container.state === "exited") {
    status.state = {
      terminated: {
        exitCode: container.exitCode,
        ...(container.reason && { reason: container.reason }),
        ...(container.message && { message: container.message }),
        // A container that could not be started has no start time; clients show that as the zero time.
        startedAt: timeOf(container.startedAt ?? 0),
        finishedAt: timeOf(container.finishedAt ?? 0),
        containerID,
      },
    };
  } else if (container.state === "unknown" && before?.state.running) {
    status.state = lostAtTermination;
    status.restartCount = before.restartCount + 1;
  } else status.state = { waiting: {} };
  return status;
}

/** Returns the status of a container that the runtime does not report: not yet created, or removed. */
function missingStatus(pod: Pod, container: Container, before: ContainerStatus | undefined): ContainerStatus {
  if (before?.state.terminated) return { ...before };
  const waiting = {
    waiting: { reason: initContainersOf(pod).length > 0 ? "PodInitializing" : "ContainerCreating" },
  };
  const status: ContainerStatus = {
    name: container.name,
    state: waiting,
    lastState: before?.lastState ?? {},
    ready: false,
    restartCount: before?.restartCount ?? 0,
    image: container.image ?? "",
    imageID: "",
  };
  if (!before?.state.running || status.lastState.terminated) return status;
  return {
    ...status,
    lastState: lostAtDeletion,
    restartCount: status.restartCount + (isDeleted(pod) ? 0 : 1),
  };
}
