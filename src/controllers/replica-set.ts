// ReplicaSet and ReplicationController: keeps the desired number of active pods and reports their counts in
// the status.
import type { PodTemplateSpec, ReplicaSetStatus } from "#api";
import { type HistogramOptions, exponentialBuckets, timeOfMillis } from "#base";
import { type AnyObject, type ResourceKind, kinds } from "#client";
import {
  type Controller,
  type ControllerContext,
  type SharedInformer,
  claim,
  controllerOf,
  expectations,
  isNamespaceTerminating,
  queueFor,
  recorderFor,
  selects,
  selectsMap,
  writeStatus,
} from "#controllerkit";
import { ownedPods, queueOwner } from "./owned-pods.ts";
import { podControl, slowStart } from "./pod-control.ts";
import { compareForDeletion } from "./pod-ranking.ts";
import {
  type SeenPod,
  createdAt,
  isActive,
  isAvailable,
  isReady,
  keyOf,
  podFromTemplate,
  splitKey,
} from "./pods.ts";

/** The fields common to both kinds. */
export interface ReplicaOwner extends AnyObject {
  spec: {
    replicas?: number | null | undefined;
    minReadySeconds?: number | undefined;
    selector?: unknown;
    template?: PodTemplateSpec | null | undefined;
  };
  status: ReplicaSetStatus;
}

interface Variant {
  readonly kind: ResourceKind;
  readonly name: string;
  readonly component: string;
  readonly matches: (owner: ReplicaOwner, pod: SeenPod) => boolean;
}

const replicaSets: Variant = {
  kind: kinds.replicaSets,
  name: "replicaset",
  component: "replicaset-controller",
  matches: ({ spec }, { metadata }) => selects(spec.selector as never, metadata.labels),
};
const replicationControllers: Variant = {
  kind: kinds.replicationControllers,
  name: "replicationmanager",
  component: "replication-controller",
  matches: ({ spec }, { metadata }) => selectsMap(spec.selector as never, metadata.labels),
};

export const replicaSetController = (context: ControllerContext): Controller => start(context, replicaSets);
export const replicationController = (context: ControllerContext): Controller =>
  start(context, replicationControllers);

/** Shared by the controllers of both kinds. */
const deletionAgeRatio: HistogramOptions = {
  name: "replicaset_controller_sorting_deletion_age_ratio",
  help: "Ratio of the age of a ready pod chosen for deletion to that of the youngest ready pod; mostly below 2.",
  buckets: exponentialBuckets(0.25, 2, 6),
  stability: "ALPHA",
};

/** Maximum number of pods created or deleted per sync. */
const burstReplicas = 500;

function start(
  context: ControllerContext,
  { kind, name: queueName, component, matches }: Variant,
): Controller {
  const { client, clock, view, dialect, gates } = context;
  const events = recorderFor(context, component);
  const control = podControl(client, events);
  const expected = expectations(clock);
  const ageRatio = context.metrics.histogram(deletionAgeRatio).with();
  const resource = client.of(kind) as unknown as {
    get(name: string, at: { namespace: string }): Promise<ReplicaOwner>;
    update(object: unknown, at?: object): Promise<ReplicaOwner>;
  };
  const queue = queueFor(context, queueName, sync);
  const owners = view.follow(kind, (event) => {
    if (event.type === "deleted") expected.forget(keyOf(event.object));
    queue.add(keyOf(event.object));
  }) as unknown as SharedInformer<ReplicaOwner>;
  const pods = ownedPods<ReplicaOwner>(view, () => ({
    ownerKind: kind.schema.kind.kind,
    owners,
    matches,
    onCreated: (owner) => expected.creationObserved(keyOf(owner)),
    onDeleted: (owner, pod) => expected.deletionObserved(keyOf(owner), pod.metadata.uid!),
    onOwner: (owner, event) => queueOwner(queue, owner, event),
  }));
  return { stopped: queue.stopped };

  async function sync(key: string): Promise<{ requeueAfterMilliseconds: number } | void> {
    const [namespace, name] = splitKey(key);
    const owner = owners.get(namespace, name);
    if (!owner) return expected.forget(key);
    const mayManage = expected.satisfied(key);
    const active = pods.candidates(owner).filter(isActive);
    const mine = await claim(active, {
      owner,
      matches: (pod) => matches(owner, pod),
      resource: client.of(kinds.pods),
      freshOwner: () => resource.get(name, { namespace }),
    });
    let failure: Error | undefined;
    if (mayManage && !owner.metadata.deletionTimestamp) failure = await manage(key, owner, mine);
    const status = statusOf(owner, mine, failure, clock.now());
    const written = await writeStatus(resource as never, owner as never, status as never);
    if (failure) throw failure;
    const { readyReplicas = 0, availableReplicas = 0 } = (written as ReplicaOwner).status;
    const wanted = owner.spec.replicas ?? 1;
    const seconds = owner.spec.minReadySeconds ?? 0;
    if (seconds > 0 && readyReplicas === wanted && availableReplicas !== wanted)
      return { requeueAfterMilliseconds: seconds * 1000 };
  }

  async function manage(
    key: string,
    owner: ReplicaOwner,
    mine: readonly SeenPod[],
  ): Promise<Error | undefined> {
    const surplus = mine.length - (owner.spec.replicas ?? 1);
    if (surplus < 0) return await create(key, owner, Math.min(burstReplicas, -surplus));
    if (surplus > 0)
      return await remove(key, owner, podsToDelete(owner, mine, Math.min(burstReplicas, surplus)));
    return undefined;
  }

  async function create(key: string, owner: ReplicaOwner, count: number): Promise<Error | undefined> {
    expected.expectCreations(key, count);
    const { succeeded, error } = await slowStart(count, async () => {
      try {
        await control.create(owner, podFromTemplate(owner.spec.template!, owner));
      } catch (failed) {
        if (!isNamespaceTerminating(failed)) throw failed;
      }
    });
    for (let skipped = succeeded; skipped < count; skipped++) expected.creationObserved(key);
    return error;
  }

  async function remove(
    key: string,
    owner: ReplicaOwner,
    victims: readonly SeenPod[],
  ): Promise<Error | undefined> {
    expected.expectDeletions(
      key,
      victims.map(({ metadata }) => metadata.uid!),
    );
    const results = await Promise.allSettled(
      victims.map(async (pod) => {
        try {
          if (!(await control.delete(owner, pod))) expected.deletionObserved(key, pod.metadata.uid!);
        } catch (error) {
          expected.deletionObserved(key, pod.metadata.uid!);
          throw error;
        }
      }),
    );
    return results.find((each) => each.status === "rejected")?.reason as Error | undefined;
  }

  function podsToDelete(owner: ReplicaOwner, mine: readonly SeenPod[], count: number): readonly SeenPod[] {
    if (count >= mine.length) return mine;
    const perNode = new Map<string, number>();
    const siblings = controllerOf(owner) ? owners.controlledBy(controllerOf(owner)!.uid) : [];
    const related = siblings.flatMap((each) => pods.informer.controlledBy(each.metadata.uid!));
    for (const pod of related)
      if (isActive(pod) && pod.spec.nodeName)
        perNode.set(pod.spec.nodeName, (perNode.get(pod.spec.nodeName) ?? 0) + 1);
    const rules = {
      now: clock.now(),
      costAnnotation: gates.enabled("PodDeletionCost")
        ? dialect.names.annotations.podDeletionCost
        : undefined,
      logarithmic: gates.enabled("LogarithmicScaleDown"),
    };
    const victims = mine
      .map((pod) => ({ pod, sameNode: perNode.get(pod.spec.nodeName ?? "") ?? 0 }))
      .toSorted((a, b) => compareForDeletion(a, b, rules))
      .slice(0, count)
      .map(({ pod }) => pod);
    for (const ratio of agesToYoungest(victims, mine, rules.now)) ageRatio.observe(ratio);
    return victims;
  }
}

/** Returns the ratios of the ages of ready victims to that of the youngest ready pod. */
export function agesToYoungest(
  victims: readonly SeenPod[],
  pods: readonly SeenPod[],
  now: number,
): readonly number[] {
  const youngest = Math.min(...pods.filter(isReady).map((pod) => now - createdAt(pod)));
  return victims.filter(isReady).map((pod) => (youngest > 0 ? (now - createdAt(pod)) / youngest : 1));
}

/** Computes the status from the pods, with a ReplicaFailure condition if managing them failed. */
export function statusOf(
  { metadata, spec, status: before }: ReplicaOwner,
  pods: readonly SeenPod[],
  failure: Error | undefined,
  now: number,
): ReplicaSetStatus {
  const wantedLabels = Object.entries(spec.template?.metadata?.labels ?? {});
  const labelled = pods.filter(({ metadata: { labels } }) =>
    wantedLabels.every(([key, value]) => labels?.[key] === value),
  ).length;
  const ready = pods.filter(isReady).length;
  const available = pods.filter((pod) => isAvailable(pod, spec.minReadySeconds ?? 0, now)).length;
  const others = (before.conditions ?? []).filter(({ type }) => type !== "ReplicaFailure");
  const old = (before.conditions ?? []).find(({ type }) => type === "ReplicaFailure");
  const failed = failure && {
    type: "ReplicaFailure",
    status: "True",
    reason: pods.length < (spec.replicas ?? 1) ? "FailedCreate" : "FailedDelete",
    message: failure.message,
    lastTransitionTime: timeOfMillis(now),
  };
  // The first failure is kept until a sync succeeds.
  const conditions = failed ? [...others, old ?? failed] : others;
  return {
    replicas: pods.length,
    ...(labelled > 0 && { fullyLabeledReplicas: labelled }),
    ...(ready > 0 && { readyReplicas: ready }),
    ...(available > 0 && { availableReplicas: available }),
    observedGeneration: metadata.generation ?? 0,
    ...(conditions.length > 0 && { conditions }),
  };
}
