// The steps of a deployment sync: find or create the new replica set, scale, roll, recreate, clean up, and
// write the status.
import { isDeepStrictEqual } from "node:util";
import type { Deployment, DeploymentStatus, ReplicaSet } from "#api";
import type { Clock } from "#base";
import type { AnyObject, EventRecorder, ResourceClient } from "#client";
import {
  controllerReference,
  ignoreReasons,
  isAlreadyExists,
  isControlledBy,
  isNamespaceTerminating,
  withoutUndefined,
  writeStatus,
} from "#controllerkit";
import type { Dialect } from "#dialect";
import { timeOf } from "../pods.ts";
import { equalIgnoringHash, hashLabel, hashOf } from "../template-hash.ts";
import {
  condition,
  countedStatus,
  hasProgressDeadline,
  isComplete,
  progressing,
  rolloutStatus,
  withCondition,
} from "./conditions.ts";
import {
  annotatedNumber,
  newSetAnnotations,
  revisionAfter,
  revisionOf,
  sizeAnnotations,
} from "./revisions.ts";
import { rollbackTarget, rolledBack } from "./rollback.ts";
import {
  type SeenDeployment,
  type SeenReplicaSet,
  byAge,
  newSetSize,
  proportionalSizes,
  replicasOf,
  shrinkOldSets,
} from "./rollout.ts";

export interface StepDeps {
  readonly deployments: ResourceClient<Deployment & AnyObject>;
  readonly sets: ResourceClient<ReplicaSet & AnyObject>;
  readonly clock: Clock;
  readonly dialect: Dialect;
  readonly events: EventRecorder;
}

type Requeue = { readonly requeueAfterMilliseconds: number } | void;

/** A deployment and its sets, including the writes made so far. */
interface State {
  deployment: SeenDeployment;
  newSet: SeenReplicaSet | undefined;
  oldSets: readonly SeenReplicaSet[];
}

export function rolloutSteps({ deployments, sets, clock, dialect, events }: StepDeps) {
  const { deploymentRevision, deploymentDesiredReplicas, deploymentMaxReplicas } = dialect.names.annotations;
  const allOf = ({ newSet, oldSets }: State): SeenReplicaSet[] => [...oldSets, ...(newSet ? [newSet] : [])];
  const active = (all: readonly SeenReplicaSet[]): SeenReplicaSet[] =>
    all.filter((set) => replicasOf(set) > 0);

  async function sync(
    deployment: SeenDeployment,
    mine: readonly SeenReplicaSet[],
    hasPods: (set: SeenReplicaSet) => boolean,
  ): Promise<Requeue> {
    const newSet = mine.find((set) =>
      equalIgnoringHash(set.spec.template, deployment.spec.template, hashLabel),
    );
    const state: State = { deployment, newSet, oldSets: mine.filter((set) => set !== newSet) };
    if (deployment.metadata.deletionTimestamp) return await writeCounted(state);
    await markPaused(state);
    if (deployment.spec.paused) {
      await syncExistingSet(state);
      await scale(state);
      if (rollbackTarget(deployment, dialect) === undefined) await cleanUp(state);
      return await writeCounted(state);
    }
    const target = rollbackTarget(deployment, dialect);
    if (target !== undefined) return await rollBack(state, target);
    await syncExistingSet(state);
    const isScaled = active(allOf(state)).some((set) => {
      const desired = annotatedNumber(set, deploymentDesiredReplicas);
      return desired !== undefined && desired !== replicasOf(deployment);
    });
    if (isScaled) {
      await scale(state);
      return await writeCounted(state);
    }
    return deployment.spec.strategy.type === "Recreate"
      ? await recreate(state, hasPods)
      : await rollingUpdate(state);
  }

  async function rollBack(state: State, target: bigint): Promise<void> {
    await syncExistingSet(state);
    await ensureNewSet(state);
    const { deployment, event } = rolledBack(state.deployment, allOf(state), target, dialect);
    await deployments.update(deployment);
    events.event(state.deployment, event.type, event.reason, event.text);
  }

  async function rollingUpdate(state: State): Promise<Requeue> {
    await ensureNewSet(state);
    const newSet = state.newSet!;
    const { deployment } = state;
    const wanted = replicasOf(deployment);
    const size =
      replicasOf(newSet) > wanted ? wanted : newSetSize(deployment, allOf(state), replicasOf(newSet));
    if (replicasOf(newSet) !== wanted && (await resize(state, newSet, size)))
      return await writeRollout(state);
    const smaller = shrinkOldSets(deployment, active(state.oldSets), newSet);
    for (const [set, count] of smaller) await resize(state, set, count);
    if (smaller.size === 0 && isComplete(deployment, deployment.status)) await cleanUp(state);
    return await writeRollout(state);
  }

  async function recreate(state: State, hasPods: (set: SeenReplicaSet) => boolean): Promise<Requeue> {
    const running = active(state.oldSets);
    for (const set of running) await resize(state, set, 0);
    if (running.length > 0 || state.oldSets.some(hasPods)) return await writeRollout(state);
    await ensureNewSet(state);
    await resize(state, state.newSet!, replicasOf(state.deployment));
    if (isComplete(state.deployment, state.deployment.status)) await cleanUp(state);
    return await writeRollout(state);
  }

  async function markPaused(state: State): Promise<void> {
    const { deployment } = state;
    const current = progressing(deployment.status);
    if (!hasProgressDeadline(deployment) || current?.reason === "ProgressDeadlineExceeded") return;
    const wasPaused = current?.reason === "DeploymentPaused";
    if (Boolean(deployment.spec.paused) === wasPaused) return;
    const [reason, text] = deployment.spec.paused
      ? ["DeploymentPaused", "Deployment is paused"]
      : ["DeploymentResumed", "Deployment is resumed"];
    const next = condition("Progressing", "Unknown", reason, text, clock.now());
    await write(state, withCondition(deployment.status, next));
  }

  const nextRevision = ({ oldSets }: State): bigint => revisionAfter(oldSets, dialect);

  /** Updates the annotations of the existing new set and the revision of the deployment. */
  async function syncExistingSet(state: State): Promise<void> {
    const { deployment, newSet } = state;
    if (!newSet) return;
    const before = newSet.metadata.annotations ?? {};
    const annotations = newSetAnnotations(deployment, before, nextRevision(state), dialect);
    const minReadySeconds = deployment.spec.minReadySeconds;
    if (
      !isDeepStrictEqual(before, annotations) ||
      (newSet.spec.minReadySeconds ?? 0) !== (minReadySeconds ?? 0)
    ) {
      const metadata = { ...newSet.metadata, annotations };
      const { minReadySeconds: _, ...spec } = newSet.spec;
      state.newSet = await sets.update({
        ...newSet,
        metadata,
        spec: { ...spec, ...(minReadySeconds !== undefined && { minReadySeconds }) },
      });
      return;
    }
    const status =
      hasProgressDeadline(deployment) && !progressing(deployment.status)
        ? withCondition(
            deployment.status,
            condition(
              "Progressing",
              "True",
              "FoundNewReplicaSet",
              `Found new replica set "${newSet.metadata.name}"`,
              clock.now(),
            ),
          )
        : deployment.status;
    await write(state, status, annotations[deploymentRevision]);
  }

  async function ensureNewSet(state: State): Promise<void> {
    const { deployment } = state;
    if (state.newSet) return;
    const template = withoutUndefined(deployment.spec.template);
    const hash = hashOf(template, deployment.status.collisionCount);
    const labels = { ...template.metadata.labels, [hashLabel]: hash };
    const size = newSetSize(deployment, state.oldSets, 0);
    const revision = nextRevision(state);
    const { minReadySeconds, selector } = deployment.spec;
    const name = `${deployment.metadata.name}-${hash}`;
    const namespace = deployment.metadata.namespace!;
    try {
      state.newSet = await sets.create({
        metadata: {
          name,
          namespace,
          labels,
          annotations: {
            ...newSetAnnotations(deployment, {}, revision, dialect),
            ...sizeAnnotations(deployment, dialect),
          },
          ownerReferences: [controllerReference(deployment)],
        },
        spec: {
          replicas: size,
          ...(minReadySeconds && { minReadySeconds }),
          selector: { ...selector, matchLabels: { ...selector?.matchLabels, [hashLabel]: hash } },
          template: { ...template, metadata: { ...template.metadata, labels } },
        },
      });
    } catch (error) {
      if (isNamespaceTerminating(error)) throw error;
      if (!isAlreadyExists(error)) return await failCreate(state, name, error as Error);
      const present = await sets.get(name, { namespace });
      const isOurs =
        isControlledBy(present, deployment.metadata.uid) &&
        equalIgnoringHash(present.spec.template, deployment.spec.template, hashLabel);
      if (!isOurs) {
        const collisionCount = (deployment.status.collisionCount ?? 0) + 1;
        await write(state, { ...deployment.status, collisionCount });
        throw error;
      }
      state.newSet = present;
      return await write(state, deployment.status, String(revision));
    }
    if (size > 0) scalingEvent(deployment, `Scaled up replica set ${name} to ${size}`);
    const status = hasProgressDeadline(deployment)
      ? withCondition(
          deployment.status,
          condition(
            "Progressing",
            "True",
            "NewReplicaSetCreated",
            `Created new replica set "${name}"`,
            clock.now(),
          ),
        )
      : deployment.status;
    await write(state, status, String(revision));
  }

  async function failCreate(state: State, name: string, error: Error): Promise<never> {
    const text = `Failed to create new replica set "${name}": ${error.message}`;
    const { deployment } = state;
    if (hasProgressDeadline(deployment)) {
      const next = condition("Progressing", "False", "ReplicaSetCreateError", text, clock.now());
      await ignoreReasons(["Conflict", "NotFound"], write(state, withCondition(deployment.status, next)));
    }
    events.event(deployment, "Warning", "ReplicaSetCreateError", text);
    throw error;
  }

  async function scale(state: State): Promise<void> {
    const { deployment, newSet, oldSets } = state;
    const running = active(allOf(state));
    const wanted = replicasOf(deployment);
    if (running.length <= 1) {
      const only = running[0] ?? newSet ?? oldSets.toSorted(byAge).at(-1);
      if (only && replicasOf(only) !== wanted) await resize(state, only, wanted);
      return;
    }
    const isSaturated =
      newSet &&
      replicasOf(newSet) === wanted &&
      annotatedNumber(newSet, deploymentDesiredReplicas) === wanted &&
      newSet.status.availableReplicas === wanted;
    if (isSaturated) for (const set of active(oldSets)) await resize(state, set, 0);
    else if (deployment.spec.strategy.type !== "Recreate") {
      const sizes = proportionalSizes(deployment, running, (set) =>
        annotatedNumber(set, deploymentMaxReplicas),
      );
      for (const [set, size] of sizes) await writeSize(state, set, size);
    }
  }

  /** Scales a set unless it has that size already; reports whether its size changed. */
  async function resize(state: State, set: SeenReplicaSet, size: number): Promise<boolean> {
    return replicasOf(set) !== size && (await writeSize(state, set, size));
  }

  /** Scales a set and records the deployment's size in its annotations; reports whether its size changed. */
  async function writeSize(state: State, set: SeenReplicaSet, size: number): Promise<boolean> {
    const before = replicasOf(set);
    const annotations = { ...set.metadata.annotations, ...sizeAnnotations(state.deployment, dialect) };
    if (before === size && isDeepStrictEqual(annotations, { ...set.metadata.annotations })) return false;
    const updated = await sets.update({
      ...set,
      metadata: { ...set.metadata, annotations },
      spec: { ...set.spec, replicas: size },
    });
    if (state.newSet === set) state.newSet = updated;
    else state.oldSets = state.oldSets.map((each) => (each === set ? updated : each));
    if (before === size) return false;
    const direction = before < size ? "up" : "down";
    const { name } = set.metadata;
    scalingEvent(state.deployment, `Scaled ${direction} replica set ${name} to ${size} from ${before}`);
    return true;
  }

  const scalingEvent = (deployment: SeenDeployment, text: string): void =>
    events.event(deployment, "Normal", "ScalingReplicaSet", text);

  /** Deletes the oldest empty sets beyond the history limit. */
  async function cleanUp({ deployment, oldSets }: State): Promise<void> {
    const limit = deployment.spec.revisionHistoryLimit;
    if (limit === null || limit === undefined || limit === 2 ** 31 - 1) return;
    const alive = oldSets
      .filter(({ metadata }) => !metadata.deletionTimestamp)
      .toSorted((a, b) => Number(revisionOf(a, dialect) - revisionOf(b, dialect)) || byAge(a, b));
    for (const { metadata, spec, status } of alive.slice(0, Math.max(0, alive.length - limit))) {
      const isBusy =
        status.replicas !== 0 ||
        spec.replicas !== 0 ||
        (metadata.generation ?? 0) > (status.observedGeneration ?? 0);
      if (isBusy) continue;
      const { name, namespace, uid } = metadata;
      await ignoreReasons(["NotFound"], sets.delete(name!, { namespace: namespace!, uid: uid! }));
    }
  }

  async function writeCounted(state: State): Promise<void> {
    await write(state, countedStatus(state.deployment, allOf(state), state.newSet, clock.now()));
  }

  async function writeRollout(state: State): Promise<Requeue> {
    const before = state.deployment;
    await write(state, rolloutStatus(before, allOf(state), state.newSet, clock.now()));
    if (state.deployment !== before) return;
    const { deployment } = state;
    const current = progressing(deployment.status);
    if (!hasProgressDeadline(deployment) || !current || current.reason === "ProgressDeadlineExceeded") return;
    if (isComplete(deployment, deployment.status)) return;
    const remaining =
      timeOf(current.lastUpdateTime) + deployment.spec.progressDeadlineSeconds! * 1000 - clock.now();
    return { requeueAfterMilliseconds: Math.max(0, remaining) + 1000 };
  }

  /** Writes the status, and the revision annotation if it changed. */
  async function write(state: State, status: DeploymentStatus, revision?: string): Promise<void> {
    const { deployment } = state;
    const { annotations } = deployment.metadata;
    if (revision === undefined || annotations?.[deploymentRevision] === revision)
      state.deployment = await writeStatus(deployments, deployment, status);
    else
      state.deployment = await deployments.update(
        {
          ...deployment,
          metadata: {
            ...deployment.metadata,
            annotations: { ...annotations, [deploymentRevision]: revision },
          },
          status,
        },
        { subresource: "status" },
      );
  }

  return { sync };
}
