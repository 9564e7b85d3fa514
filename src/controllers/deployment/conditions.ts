// Status and conditions of a deployment.
import type { Deployment, DeploymentCondition, DeploymentStatus } from "#api";
import { timeOfMillis } from "#base";
import { timeOf } from "../pods.ts";
import { type SeenDeployment, type SeenReplicaSet, maxUnavailable, replicasOf, sum } from "./rollout.ts";

export const hasProgressDeadline = ({ spec }: Deployment): boolean =>
  typeof spec.progressDeadlineSeconds === "number" && spec.progressDeadlineSeconds !== 2 ** 31 - 1;

export const progressing = ({ conditions }: DeploymentStatus): DeploymentCondition | undefined =>
  conditions?.find(({ type }) => type === "Progressing");

export const condition = (
  type: string,
  status: string,
  reason: string,
  message: string,
  now: number,
): DeploymentCondition => ({
  type,
  status,
  reason,
  message,
  lastUpdateTime: timeOfMillis(now),
  lastTransitionTime: timeOfMillis(now),
});

/** Sets a condition, unless the present one has the same status and reason. */
export function withCondition(status: DeploymentStatus, next: DeploymentCondition): DeploymentStatus {
  const before = status.conditions?.find(({ type }) => type === next.type);
  if (before?.status === next.status && before.reason === next.reason) return status;
  const lastTransitionTime =
    before?.status === next.status ? before.lastTransitionTime : next.lastTransitionTime;
  return {
    ...withoutCondition(status, next.type),
    conditions: [
      ...(status.conditions ?? []).filter(({ type }) => type !== next.type),
      { ...next, lastTransitionTime },
    ],
  };
}

export function withoutCondition(status: DeploymentStatus, type: string): DeploymentStatus {
  const { conditions = [], ...rest } = status;
  const remaining = conditions.filter((each) => each.type !== type);
  return remaining.length > 0 ? { ...rest, conditions: remaining } : rest;
}

/** Computes the counts and the Available condition. */
export function countedStatus(
  deployment: SeenDeployment,
  all: readonly SeenReplicaSet[],
  newSet: SeenReplicaSet | undefined,
  now: number,
): DeploymentStatus {
  const available = sum(all, ({ status }) => status.availableReplicas);
  const counts = {
    replicas: sum(all, ({ status }) => status.replicas),
    updatedReplicas: newSet?.status.replicas ?? 0,
    readyReplicas: sum(all, ({ status }) => status.readyReplicas),
    availableReplicas: available,
    unavailableReplicas: Math.max(0, sum(all, replicasOf) - available),
  };
  const { conditions, collisionCount } = deployment.status;
  const status: DeploymentStatus = {
    observedGeneration: deployment.metadata.generation ?? 0,
    ...Object.fromEntries(Object.entries(counts).filter(([, count]) => count > 0)),
    ...(conditions && { conditions }),
    ...(typeof collisionCount === "number" && { collisionCount }),
  };
  const isAvailable = available >= replicasOf(deployment) - maxUnavailable(deployment);
  return withCondition(
    status,
    isAvailable
      ? condition(
          "Available",
          "True",
          "MinimumReplicasAvailable",
          "Deployment has minimum availability.",
          now,
        )
      : condition(
          "Available",
          "False",
          "MinimumReplicasUnavailable",
          "Deployment does not have minimum availability.",
          now,
        ),
  );
}

export const isComplete = (deployment: SeenDeployment, status: DeploymentStatus): boolean =>
  (status.updatedReplicas ?? 0) === replicasOf(deployment) &&
  (status.replicas ?? 0) === replicasOf(deployment) &&
  (status.availableReplicas ?? 0) === replicasOf(deployment) &&
  (status.observedGeneration ?? 0) >= (deployment.metadata.generation ?? 0);

function isProgressing({ status: old }: Deployment, next: DeploymentStatus): boolean {
  const oldPods = ({ replicas = 0, updatedReplicas = 0 }: DeploymentStatus): number =>
    replicas - updatedReplicas;
  return (
    (next.updatedReplicas ?? 0) > (old.updatedReplicas ?? 0) ||
    oldPods(next) < oldPods(old) ||
    (next.readyReplicas ?? 0) > (old.readyReplicas ?? 0) ||
    (next.availableReplicas ?? 0) > (old.availableReplicas ?? 0)
  );
}

function isTimedOut(deployment: SeenDeployment, status: DeploymentStatus, now: number): boolean {
  const current = progressing(status);
  if (!current || current.reason === "NewReplicaSetAvailable") return false;
  if (current.reason === "ProgressDeadlineExceeded") return true;
  return timeOf(current.lastUpdateTime) + deployment.spec.progressDeadlineSeconds! * 1000 < now;
}

/** Computes the complete status during a rollout. */
export function rolloutStatus(
  deployment: SeenDeployment,
  all: readonly SeenReplicaSet[],
  newSet: SeenReplicaSet | undefined,
  now: number,
): DeploymentStatus {
  let status = countedStatus(deployment, all, newSet, now);
  const subject = newSet
    ? `ReplicaSet "${newSet.metadata.name}"`
    : `Deployment "${deployment.metadata.name}"`;
  const current = progressing(deployment.status);
  const wasComplete =
    (status.replicas ?? 0) === (status.updatedReplicas ?? 0) && current?.reason === "NewReplicaSetAvailable";
  if (!hasProgressDeadline(deployment)) status = withoutCondition(status, "Progressing");
  else if (!wasComplete) {
    if (isComplete(deployment, status))
      status = withCondition(
        status,
        condition(
          "Progressing",
          "True",
          "NewReplicaSetAvailable",
          `${subject} has successfully progressed.`,
          now,
        ),
      );
    else if (isProgressing(deployment, status)) {
      const next = condition("Progressing", "True", "ReplicaSetUpdated", `${subject} is progressing.`, now);
      status = withCondition(withoutCondition(status, "Progressing"), {
        ...next,
        ...(current?.status === "True" && { lastTransitionTime: current.lastTransitionTime }),
      });
    } else if (isTimedOut(deployment, status, now))
      status = withCondition(
        status,
        condition(
          "Progressing",
          "False",
          "ProgressDeadlineExceeded",
          `${subject} has timed out progressing.`,
          now,
        ),
      );
  }
  const failure = [...(newSet ? [newSet] : []), ...all]
    .flatMap((set) => set.status.conditions ?? [])
    .find(({ type }) => type === "ReplicaFailure");
  if (!failure) return withoutCondition(status, "ReplicaFailure");
  const { lastTransitionTime } = failure;
  return withCondition(status, {
    ...condition("ReplicaFailure", failure.status, failure.reason ?? "", failure.message ?? "", now),
    lastUpdateTime: lastTransitionTime,
    lastTransitionTime,
  });
}
