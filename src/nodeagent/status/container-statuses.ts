// What the status says of each container: from what the runtime shows, what was said before, and why it could
// not be started.
import { type Container, type ContainerState, type ContainerStatus, type Pod, isSidecar } from "#api";
import { timeOfMillis } from "#base";
import { type ObservedContainer, type ObservedPod, latest } from "../containers/observed.ts";
import { shouldStart } from "../plan/plan.ts";
import { initContainersOf, isDeleted } from "../pod.ts";

/** Why a container was not started the last time it was tried. */
export interface StartError {
  readonly reason: string;
  readonly message: string;
}

export interface ContainerStatusFacts {
  /** `containerd`, as in containerd://id. */
  readonly runtimeName: string;
  readonly observed: ObservedPod;
  readonly old: readonly ContainerStatus[];
  readonly trouble: ReadonlyMap<string, StartError>;
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
  // Init containers stay in their order, the others are told by name.
  return facts.kind === "init" ? statuses : statuses.toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

function containerStatus(
  pod: Pod,
  container: Container,
  { runtimeName, observed, old, trouble, kind }: ContainerStatusFacts,
): ContainerStatus {
  const before = old.find(({ name }) => name === container.name);
  const [newest, previous] = observed.containers.filter(({ name }) => name === container.name);
  let status = newest ? seen(newest, before, runtimeName) : unseen(pod, container, before);
  // Of a container that ended only its own end is told, of one that runs the end before; one that was removed
  // since is known from before.
  if (newest && newest.state !== "exited")
    status.lastState = previous
      ? seen(previous, undefined, runtimeName).state
      : before?.containerID === status.containerID
        ? (before?.lastState ?? {})
        : {};
  const reason = trouble.get(container.name);
  const found = latest(observed, container.name);
  const isRestarted = kind === "init" && isSidecar(container);
  const isDone = kind === "init" && !isRestarted && found?.state === "exited" && found.exitCode === 0;
  // By the pod's policy for ephemeral containers, too, though none is ever started again.
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

function seen(
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
    // One that was made and never began may be gone before its place is taken: nothing that was told is taken
    // back.
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
        // One that could not even be started has no time of its start; clients read that as the beginning of
        // all time.
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

/** A container that the runtime does not know: not made yet, or gone. */
function unseen(pod: Pod, container: Container, before: ContainerStatus | undefined): ContainerStatus {
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
