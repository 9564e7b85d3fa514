// StatefulSet: creates, updates and deletes pods with sticky names and storage in order.
import type { Pod, PodTemplateSpec, StatefulSetStatus } from "#api";
import { type Draft, kinds } from "#client";
import {
  type Controller,
  type ControllerContext,
  claim,
  ignoreReasons,
  isAlreadyExists,
  queueFor,
  recorderFor,
  selects,
  writeStatus,
} from "#controllerkit";
import {
  type SeenRevision,
  controllerHistory,
  hasData,
  nextNumber,
  templateData,
  templateOf,
} from "../controller-history.ts";
import { scaledValue } from "../deployment/rollout.ts";
import { ownedPods, queueOwner } from "../owned-pods.ts";
import { slowStart } from "../pod-control.ts";
import { type SeenPod, isAvailable, isDeleting, isReady, keyOf, splitKey } from "../pods.ts";
import { statefulClaims } from "./claims.ts";
import {
  type SeenStatefulSet,
  identityMatches,
  isInRange,
  newPod,
  ordinalOf,
  parentAndOrdinal,
  revisionOf,
  sizeOf,
  startOf,
  storageMatches,
  withClaims,
} from "./identity.ts";

interface Revisions {
  readonly current: SeenRevision;
  readonly update: SeenRevision;
  readonly collisions: number;
}

/** A replica: an existing pod, or the draft of a missing one. */
type Replica =
  | { readonly state: "present"; readonly pod: SeenPod }
  | { readonly state: "missing"; readonly draft: Draft<Pod> & { spec: Pod["spec"] } };

const isRunningAndReady = (pod: SeenPod): boolean => pod.status.phase === "Running" && isReady(pod);
const isHealthy = (pod: SeenPod): boolean => isRunningAndReady(pod) && !isDeleting(pod);

export function statefulSetController(context: ControllerContext): Controller {
  const { client, clock, view, dialect, gates } = context;
  const events = recorderFor(context, "statefulset-controller");
  const resource = client.of(kinds.statefulSets);
  const podClient = client.of(kinds.pods);
  const history = controllerHistory(client, view);
  const claims = statefulClaims(context, events, gates.enabled("StatefulSetAutoDeletePVC"));
  const queue = queueFor(context, "statefulset", sync);
  const sets = view.follow(kinds.statefulSets, ({ object }) => queue.add(keyOf(object)));
  const pods = ownedPods<SeenStatefulSet>(view, () => ({
    ownerKind: "StatefulSet",
    owners: sets,
    matches: (set, { metadata }) => selects(set.spec.selector, metadata.labels),
    onOwner: (set, event) => queueOwner(queue, set, event),
  }));
  return { stopped: queue.stopped };

  async function sync(key: string): Promise<{ requeueAfterMilliseconds: number } | void> {
    const [namespace, name] = splitKey(key);
    const seen = sets.get(namespace, name);
    if (!seen) return;
    const set = gates.enabled("StatefulSetStartOrdinal") ? seen : withoutStart(seen);
    const freshOwner = () => resource.get(name, { namespace });
    const isMember = (pod: SeenPod): boolean => parentAndOrdinal(pod.metadata.name!)[0] === name;
    const mine = await claim(pods.candidates(set).filter(isMember), {
      owner: set,
      matches: (pod) => selects(set.spec.selector, pod.metadata.labels) && isMember(pod),
      resource: podClient,
      freshOwner,
    });
    const all = await history.list(set, freshOwner);
    const revisions = await findRevisions(set, all);
    const { status, failure } = await update(set, revisions, mine);
    await writeStatus(resource, set, completed(set, status));
    if (failure) throw failure;
    await truncate(set, all, revisions, mine);
    const seconds = set.spec.minReadySeconds ?? 0;
    const { readyReplicas = 0, availableReplicas } = status;
    if (seconds > 0 && readyReplicas === sizeOf(set) && availableReplicas !== sizeOf(set))
      return { requeueAfterMilliseconds: seconds * 1000 };
  }

  async function findRevisions(set: SeenStatefulSet, all: readonly SeenRevision[]): Promise<Revisions> {
    const data = templateData(set);
    const equal = all.findLast((each) => hasData(each, data));
    let collisions = set.status.collisionCount ?? 0;
    let update: SeenRevision;
    if (equal) update = equal === all.at(-1) ? equal : await history.renumber(equal, nextNumber(all));
    else {
      const created = await history.create(set, nextNumber(all), collisions, {
        ...(set.metadata.annotations && { annotations: set.metadata.annotations }),
      });
      ({ revision: update, collisions } = created);
    }
    const current = all.find(({ metadata }) => metadata.name === set.status.currentRevision) ?? update;
    return { current, update, collisions };
  }

  async function truncate(
    set: SeenStatefulSet,
    all: readonly SeenRevision[],
    { current, update }: Revisions,
    mine: readonly SeenPod[],
  ): Promise<void> {
    const live = new Set([current.metadata.name, update.metadata.name, ...mine.map(revisionOf)]);
    const unused = all.filter(({ metadata }) => !live.has(metadata.name));
    const surplus = unused.length - (set.spec.revisionHistoryLimit ?? 10);
    for (const revision of unused.slice(0, Math.max(0, surplus))) await history.delete(revision);
  }

  /** Takes one step towards the desired pods; the status counts the pods as they are afterwards. */
  async function update(
    set: SeenStatefulSet,
    revisions: Revisions,
    mine: readonly SeenPod[],
  ): Promise<{ readonly status: StatefulSetStatus; readonly failure?: Error }> {
    const step = planStep(set, revisions, mine);
    const isOrdered = set.spec.podManagementPolicy !== "Parallel";
    const status = (): StatefulSetStatus =>
      statusOf(set, revisions, [...step.replicas.flatMap(presentPod), ...step.condemned], clock.now());
    if (set.metadata.deletionTimestamp) return { status: statusOf(set, revisions, mine, clock.now()) };
    try {
      if (await runAll(step.replicas.length, isOrdered, (index) => syncReplica(set, step, index, isOrdered)))
        return { status: status() };
      await runAll(step.condemned.length, isOrdered, async (index) => {
        if (!claims.match(set, step.condemned[index]!)) await claims.setOwners(set, step.condemned[index]!);
        return false;
      });
      if (
        await runAll(step.condemned.length, isOrdered, (index) => syncCondemned(set, step, index, isOrdered))
      )
        return { status: status() };
    } catch (error) {
      return { status: status(), failure: error as Error };
    }
    const counted = status();
    if (set.spec.updateStrategy.type === "OnDelete") return { status: counted };
    try {
      const replace = gates.enabled("MaxUnavailableStatefulSet") ? replaceSeveral : replaceOutdated;
      return { status: { ...counted, ...(await replace(set, step, revisions, counted)) } };
    } catch (error) {
      return { status: counted, failure: error as Error };
    }
  }

  function planStep(set: SeenStatefulSet, revisions: Revisions, mine: readonly SeenPod[]): Step {
    const byOrdinal = new Map(mine.map((pod) => [ordinalOf(pod), pod]));
    const replicas = Array.from({ length: sizeOf(set) }, (_, index): Replica => {
      const pod = byOrdinal.get(startOf(set) + index);
      return pod ? { state: "present", pod } : missing(set, revisions, startOf(set) + index);
    });
    const condemned = mine
      .filter((pod) => ordinalOf(pod) >= 0 && !isInRange(set, ordinalOf(pod)))
      .toSorted((a, b) => ordinalOf(b) - ordinalOf(a));
    const firstUnhealthy =
      replicas.flatMap(presentPod).find((pod) => !isHealthy(pod)) ??
      (replicas.some(({ state: is }) => is === "missing")
        ? undefined
        : condemned.toReversed().find((pod) => !isHealthy(pod)));
    return { replicas, condemned, firstUnhealthy, revisions };
  }

  /**
   * Returns the draft of a missing pod. Pods below the partition, or not yet updated, are recreated in the
   * current revision.
   */
  function missing(set: SeenStatefulSet, { current, update }: Revisions, ordinal: number): Replica {
    const { type, rollingUpdate } = set.spec.updateStrategy;
    const isRolling = type !== "OnDelete";
    const below = rollingUpdate
      ? ordinal < startOf(set) + (rollingUpdate.partition ?? 0)
      : isRolling && ordinal < startOf(set) + (set.status.currentReplicas ?? 0);
    const revision = below ? current : update;
    const template = templateOf<PodTemplateSpec>(revision);
    const labels = gates.enabled("PodIndexLabel") && { [dialect.names.labels.podIndex]: String(ordinal) };
    const identity = { revision: revision.metadata.name!, ordinal, ...(labels && { labels }) };
    return { state: "missing", draft: newPod(set, template, identity, dialect) };
  }

  /** Reports whether the next replica must wait for this one. */
  async function syncReplica(
    set: SeenStatefulSet,
    step: Step,
    index: number,
    isOrdered: boolean,
  ): Promise<boolean> {
    let replica = step.replicas[index]!;
    if (replica.state === "present") {
      const { phase } = replica.pod.status;
      if (phase === "Failed" || phase === "Succeeded") {
        const [type, reason, word] =
          phase === "Failed"
            ? (["Warning", "RecreatingFailedPod", "failed"] as const)
            : (["Normal", "RecreatingTerminatedPod", "terminated"] as const);
        const { name } = replica.pod.metadata;
        events.event(set, type, reason, `StatefulSet ${keyOf(set)} is recreating ${word} Pod ${name}`);
        await deletePod(set, replica.pod);
        replica = step.replicas[index] = missing(set, step.revisions, startOf(set) + index);
      }
    }
    if (replica.state === "missing") {
      if (claims.isStale(set, replica.draft.metadata.name!)) return true;
      const pod = await createPod(set, replica.draft);
      step.replicas[index] = replica = { state: "present", pod };
      if (isOrdered) return true;
    }
    const { pod } = replica;
    if (pod.status.phase === "Pending") {
      await claims.create(set, pod);
      await claims.setOwners(set, pod);
    }
    const isBehind =
      isDeleting(pod) ||
      !isRunningAndReady(pod) ||
      !isAvailable(pod, set.spec.minReadySeconds ?? 0, clock.now());
    if (isOrdered && isBehind) return true;
    if (!identityMatches(set, pod, dialect) || !storageMatches(set, pod) || !claims.match(set, pod))
      await repair(set, pod);
    return false;
  }

  async function syncCondemned(
    set: SeenStatefulSet,
    { condemned, firstUnhealthy }: Step,
    index: number,
    isOrdered: boolean,
  ): Promise<boolean> {
    const pod = condemned[index]!;
    if (isDeleting(pod)) return isOrdered;
    const isBehind = !isRunningAndReady(pod) || !isAvailable(pod, set.spec.minReadySeconds ?? 0, clock.now());
    if (isOrdered && isBehind && pod !== firstUnhealthy) return true;
    await deletePod(set, pod);
    return true;
  }

  /** Deletes outdated pods from the last one on, while no more than maxUnavailable pods are unavailable. */
  async function replaceSeveral(
    set: SeenStatefulSet,
    { replicas }: Step,
    { update: wanted }: Revisions,
    status: StatefulSetStatus,
  ): Promise<Partial<StatefulSetStatus>> {
    const { partition, maxUnavailable } = set.spec.updateStrategy.rollingUpdate ?? {};
    const present = replicas.flatMap(presentPod);
    const unavailable = replicas.length - present.filter(isHealthy).length;
    let allowed = maxUnavailablePods(maxUnavailable, sizeOf(set)) - unavailable;
    let currentReplicas = status.currentReplicas ?? 0;
    for (let index = replicas.length - 1; index >= (partition ?? 0) && allowed > 0; index--) {
      const replica = replicas[index]!;
      if (replica.state === "missing") continue;
      if (revisionOf(replica.pod) === wanted.metadata.name || isDeleting(replica.pod)) continue;
      await deletePod(set, replica.pod);
      allowed--;
      currentReplicas--;
    }
    return { currentReplicas };
  }

  /** Deletes the last outdated pod once all pods above it are healthy. */
  async function replaceOutdated(
    set: SeenStatefulSet,
    { replicas }: Step,
    { update: wanted }: Revisions,
    status: StatefulSetStatus,
  ): Promise<Partial<StatefulSetStatus>> {
    const partition = set.spec.updateStrategy.rollingUpdate?.partition ?? 0;
    for (let index = replicas.length - 1; index >= partition; index--) {
      const replica = replicas[index]!;
      if (replica.state === "missing") return {};
      const { pod } = replica;
      if (revisionOf(pod) !== wanted.metadata.name && !isDeleting(pod)) {
        await deletePod(set, pod);
        return { currentReplicas: (status.currentReplicas ?? 0) - 1 };
      }
      if (!isHealthy(pod)) return {};
    }
    return {};
  }

  async function createPod(set: SeenStatefulSet, draft: Draft<Pod>): Promise<SeenPod> {
    const { name } = draft.metadata;
    const text = `create Pod ${name} in StatefulSet ${set.metadata.name}`;
    try {
      await claims.create(set, draft as never);
      const pod = await podClient.create(draft);
      await claims.setOwners(set, pod);
      events.event(set, "Normal", "SuccessfulCreate", `${text} successful`);
      return pod;
    } catch (error) {
      if (!isAlreadyExists(error))
        events.event(set, "Warning", "FailedCreate", `${text} failed error: ${(error as Error).message}`);
      throw error;
    }
  }

  async function deletePod(set: SeenStatefulSet, { metadata }: SeenPod): Promise<void> {
    const { name, namespace, uid } = metadata;
    const text = `delete Pod ${name} in StatefulSet ${set.metadata.name}`;
    try {
      await ignoreReasons(["NotFound"], podClient.delete(name!, { namespace: namespace!, uid: uid! }));
      events.event(set, "Normal", "SuccessfulDelete", `${text} successful`);
    } catch (error) {
      events.event(set, "Warning", "FailedDelete", `${text} failed error: ${(error as Error).message}`);
      throw error;
    }
  }

  async function repair(set: SeenStatefulSet, pod: SeenPod): Promise<void> {
    const text = `update Pod ${pod.metadata.name} in StatefulSet ${set.metadata.name}`;
    const labels = {
      ...pod.metadata.labels,
      [dialect.names.labels.statefulSetPodName]: pod.metadata.name!,
    };
    try {
      if (!storageMatches(set, pod)) await claims.create(set, pod);
      const volumes = storageMatches(set, pod)
        ? pod.spec.volumes
        : withClaims(set, ordinalOf(pod), pod.spec.volumes);
      if (!claims.match(set, pod)) await claims.setOwners(set, pod);
      await podClient.update({
        ...pod,
        metadata: { ...pod.metadata, labels },
        spec: { ...pod.spec, ...(volumes && { volumes }) },
      });
      events.event(set, "Normal", "SuccessfulUpdate", `${text} successful`);
    } catch (error) {
      events.event(set, "Warning", "FailedUpdate", `${text} failed error: ${(error as Error).message}`);
      throw error;
    }
  }
}

interface Step {
  readonly replicas: Replica[];
  /** Pods outside the range of ordinals, highest ordinal first. */
  readonly condemned: readonly SeenPod[];
  readonly firstUnhealthy: SeenPod | undefined;
  readonly revisions: Revisions;
}

/** Returns the maximum number of unavailable pods, at least one. */
const maxUnavailablePods = (given: number | string | null | undefined, size: number): number =>
  Math.max(1, scaledValue(given ?? 1, size, false));

function withoutStart(set: SeenStatefulSet): SeenStatefulSet {
  const { ordinals: _, ...spec } = set.spec;
  return { ...set, spec };
}

const presentPod = (replica: Replica): SeenPod[] => (replica.state === "present" ? [replica.pod] : []);

/** Runs in order until a call reports that the rest must wait, or in growing batches. */
async function runAll(
  count: number,
  isOrdered: boolean,
  run: (index: number) => Promise<boolean>,
): Promise<boolean> {
  if (!isOrdered) {
    const { error } = await slowStart(count, run);
    if (error) throw error;
    return false;
  }
  for (let index = 0; index < count; index++) if (await run(index)) return true;
  return false;
}

export function statusOf(
  set: SeenStatefulSet,
  { current, update, collisions }: Revisions,
  pods: readonly SeenPod[],
  now: number,
): StatefulSetStatus {
  const created = pods.filter(({ status }) => status.phase);
  const ready = pods.filter(isRunningAndReady);
  const ofRevision = (revision: SeenRevision): number =>
    created.filter((pod) => !isDeleting(pod) && revisionOf(pod) === revision.metadata.name).length;
  const available = ready.filter((pod) => isAvailable(pod, set.spec.minReadySeconds ?? 0, now)).length;
  return {
    observedGeneration: set.metadata.generation ?? 0,
    replicas: created.length,
    readyReplicas: ready.length,
    currentReplicas: ofRevision(current),
    updatedReplicas: ofRevision(update),
    currentRevision: current.metadata.name!,
    updateRevision: update.metadata.name!,
    collisionCount: collisions,
    availableReplicas: available,
  };
}

/** Completes the status: a finished update makes the update revision current, and zero counts are omitted. */
function completed(set: SeenStatefulSet, status: StatefulSetStatus): StatefulSetStatus {
  const { replicas, readyReplicas = 0, updatedReplicas = 0 } = status;
  const isRolling = set.spec.updateStrategy.type !== "OnDelete";
  const isDone =
    isRolling && [updatedReplicas, readyReplicas, replicas].every((count) => count === sizeOf(set));
  const done: StatefulSetStatus = isDone
    ? { ...status, currentReplicas: updatedReplicas, currentRevision: status.updateRevision! }
    : status;
  const { readyReplicas: ready, currentReplicas, updatedReplicas: updated, conditions: _, ...rest } = done;
  return {
    ...rest,
    ...(ready && { readyReplicas: ready }),
    ...(currentReplicas && { currentReplicas }),
    ...(updated && { updatedReplicas: updated }),
    ...(set.status.conditions && { conditions: set.status.conditions }),
  };
}
