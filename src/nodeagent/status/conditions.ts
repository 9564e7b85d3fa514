// The pod conditions owned by the node agent.
import { type ContainerStatus, type Pod, type PodCondition, isSidecar, runningContainers } from "#api";
import { initContainersOf } from "../pod.ts";

export type ComputedCondition = Pick<PodCondition, "type" | "status"> & {
  readonly reason?: string;
  readonly message?: string;
};

const owned = new Set(["PodHasNetwork", "PodScheduled", "Ready", "Initialized", "ContainersReady"]);
export const isOwnCondition = (type: string): boolean => owned.has(type);

export function initialized(
  pod: Pod,
  statuses: readonly ContainerStatus[],
  others: readonly ContainerStatus[],
  phase: string,
): ComputedCondition {
  const inits = initContainersOf(pod);
  const isDone = (status: ContainerStatus): boolean =>
    inits.some((each) => each.name === status.name && isSidecar(each))
      ? status.started === true
      : status.ready;
  const { unknown, unready } = classify(inits, statuses, isDone);
  if (phase === "Succeeded" && unknown.length === 0)
    return { type: "Initialized", status: "True", reason: "PodCompleted" };
  // Restarting a sidecar does not make the pod uninitialized again.
  if (inits.some(isSidecar) && others.some(hasStarted)) return { type: "Initialized", status: "True" };
  const message = conditionMessage(unknown, unready, "incomplete");
  return message
    ? { type: "Initialized", status: "False", reason: "ContainersNotInitialized", message }
    : { type: "Initialized", status: "True" };
}

export function containersReady(
  pod: Pod,
  statuses: readonly ContainerStatus[],
  phase: string,
): ComputedCondition {
  const { unknown, unready } = classify(runningContainers(pod.spec), statuses, (status) => status.ready);
  if (phase === "Succeeded" && unknown.length === 0)
    return { type: "ContainersReady", status: "False", reason: "PodCompleted" };
  if (phase === "Failed") return { type: "ContainersReady", status: "False", reason: "PodFailed" };
  const message = conditionMessage(unknown, unready, "unready");
  return message
    ? { type: "ContainersReady", status: "False", reason: "ContainersNotReady", message }
    : { type: "ContainersReady", status: "True" };
}

/** Computes the Ready condition: true if the containers are ready and all readiness gates are satisfied. */
export function ready(
  pod: Pod,
  containers: ComputedCondition,
  others: readonly PodCondition[],
): ComputedCondition {
  if (containers.status !== "True") return { ...containers, type: "Ready" };
  const closed = (pod.spec.readinessGates ?? []).flatMap(({ conditionType }) => {
    const condition = others.find(({ type }) => type === conditionType);
    if (!condition)
      return [
        `corresponding condition of pod readiness gate ${JSON.stringify(conditionType)} does not exist.`,
      ];
    return condition.status === "True"
      ? []
      : [
          `the status of pod readiness gate ${JSON.stringify(conditionType)} is not "True", but ${condition.status}`,
        ];
  });
  return closed.length > 0
    ? { type: "Ready", status: "False", reason: "ReadinessGatesNotReady", message: closed.join(", ") }
    : { type: "Ready", status: "True" };
}

const hasStarted = ({ started, state, lastState }: ContainerStatus): boolean =>
  started === true || state.terminated !== undefined || lastState.terminated !== undefined;

function classify(
  containers: readonly { readonly name: string }[],
  statuses: readonly ContainerStatus[],
  isGood: (status: ContainerStatus) => boolean,
): { readonly unknown: string[]; readonly unready: string[] } {
  const unknown: string[] = [];
  const unready: string[] = [];
  for (const { name } of containers) {
    const status = statuses.find((candidate) => candidate.name === name);
    if (!status) unknown.push(name);
    else if (!isGood(status)) unready.push(name);
  }
  return { unknown, unready };
}

const conditionMessage = (unknown: readonly string[], unready: readonly string[], word: string): string =>
  [
    ...(unknown.length > 0 ? [`containers with unknown status: [${unknown.join(" ")}]`] : []),
    ...(unready.length > 0 ? [`containers with ${word} status: [${unready.join(" ")}]`] : []),
  ].join(", ");
