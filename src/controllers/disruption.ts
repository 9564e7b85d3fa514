// Disruption budgets: how many of the pods they guard are healthy, and how many may be evicted now.
import type { Condition, PodDisruptionBudget } from "#api";
import { timeOfMillis } from "#base";
import { type AnyObject, type ResourceKind, kinds } from "#client";
import {
  type Controller,
  type ControllerContext,
  type SharedInformer,
  controllerOf,
  queueFor,
  recorderFor,
  selects,
  writeStatus,
} from "#controllerkit";
import { scaledValue } from "./deployment/rollout.ts";
import { type SeenPod, isDeleting, isFinished, isReady, keyOf, splitKey, timeOf } from "./pods.ts";
import { selectorText } from "./selector-text.ts";

type SeenBudget = PodDisruptionBudget & AnyObject;

/** An evicted pod that was not deleted by then will not be. */
const evictionMilliseconds = 2 * 60_000;

export interface Expectation {
  readonly expected: number;
  readonly desired: number;
  /** Names of pods that belong to nobody whose size is known. */
  readonly unmanaged: readonly string[];
}

export function disruptionController(context: ControllerContext): Controller {
  const { clock, view } = context;
  const events = recorderFor(context, "controllermanager");
  const resource = context.client.of(kinds.podDisruptionBudgets);
  const queue = queueFor(context, "disruption", sync);
  const budgets = view.follow(kinds.podDisruptionBudgets, ({ type, object }) => {
    if (type !== "deleted") queue.add(keyOf(object));
  });
  const pods = view.follow(kinds.pods, (event) => {
    for (const budget of budgets.inNamespace(event.object.metadata.namespace ?? ""))
      if (guards(budget, event.object) || (event.type === "updated" && guards(budget, event.old)))
        queue.add(keyOf(budget));
  });
  const sized = (kind: ResourceKind): SharedInformer<AnyObject> =>
    view.follow(kind, ({ object }) => {
      for (const budget of budgets.inNamespace(object.metadata.namespace ?? "")) queue.add(keyOf(budget));
    });
  const owners: Readonly<Record<string, SharedInformer<AnyObject>>> = {
    Deployment: sized(kinds.deployments),
    ReplicaSet: sized(kinds.replicaSets),
    StatefulSet: sized(kinds.statefulSets),
    ReplicationController: sized(kinds.replicationControllers),
  };
  return { stopped: queue.stopped };

  function guards({ spec }: SeenBudget, { metadata }: SeenPod): boolean {
    return selects(spec.selector, metadata.labels);
  }

  async function sync(key: string): Promise<{ againInMilliseconds: number } | void> {
    const [namespace, name] = splitKey(key);
    const budget = budgets.get(namespace, name);
    if (!budget) return;
    const guarded = pods.inNamespace(namespace).filter((pod) => guards(budget, pod) && !isFinished(pod));
    if (guarded.length === 0) events.event(budget, "Normal", "NoPods", "No matching pods found");
    const { expected, desired, unmanaged } = expectationOf(budget, guarded);
    if (unmanaged.length > 0) {
      const text = `Pods selected by this PodDisruptionBudget (selector: ${selectorText(budget.spec.selector)}) were found to be unmanaged. As a result, the status of the PDB cannot be calculated correctly, which may result in undefined behavior. To account for these pods please set ".spec.minAvailable" field of the PDB to an integer value.`;
      events.event(budget, "Warning", "UnmanagedPods", text);
    }
    const now = clock.now();
    const { disruptedPods, again } = stillDisrupted(budget, guarded, now);
    const healthy = guarded.filter(
      (pod) => isReady(pod) && !isDeleting(pod) && !disruptedPods[pod.metadata.name!],
    ).length;
    const allowed = expected <= 0 ? 0 : Math.max(0, healthy - desired);
    await writeStatus(resource, budget, {
      ...(Object.keys(disruptedPods).length > 0 && { disruptedPods }),
      currentHealthy: healthy,
      desiredHealthy: desired,
      disruptionsAllowed: allowed,
      expectedPods: expected,
      observedGeneration: budget.metadata.generation ?? 0,
      conditions: withCondition(budget, allowed > 0, now),
    });
    if (again !== undefined) return { againInMilliseconds: again };
  }

  /** How many pods there should be, and how many of them must stay. */
  function expectationOf({ spec }: SeenBudget, guarded: readonly SeenPod[]): Expectation {
    const { minAvailable, maxUnavailable } = spec;
    if (maxUnavailable !== null && maxUnavailable !== undefined) {
      const { total, unmanaged } = sizeOfOwners(guarded);
      const desired = Math.max(0, total - scaledValue(maxUnavailable, total, true));
      return { expected: total, desired, unmanaged };
    }
    if (minAvailable === null || minAvailable === undefined)
      return { expected: 0, desired: 0, unmanaged: [] };
    if (typeof minAvailable === "number")
      return { expected: guarded.length, desired: minAvailable, unmanaged: [] };
    const { total, unmanaged } = sizeOfOwners(guarded);
    return { expected: total, desired: scaledValue(minAvailable, total, true), unmanaged };
  }

  function sizeOfOwners(guarded: readonly SeenPod[]): { total: number; unmanaged: string[] } {
    const sizes = new Map<string, number>();
    const unmanaged: string[] = [];
    for (const pod of guarded) {
      const owner = scaleOwner(pod);
      if (owner)
        sizes.set(
          owner.metadata.uid!,
          (owner as unknown as { spec: { replicas?: number } }).spec.replicas ?? 1,
        );
      else unmanaged.push(pod.metadata.name!);
    }
    return { total: [...sizes.values()].reduce((sum, size) => sum + size, 0), unmanaged };
  }

  /** The topmost owner that has a size. */
  function scaleOwner(pod: SeenPod): AnyObject | undefined {
    const find = (object: AnyObject): AnyObject | undefined => {
      const reference = controllerOf(object);
      const found = reference && owners[reference.kind]?.get(object.metadata.namespace, reference.name);
      return found?.metadata.uid === reference?.uid ? found : undefined;
    };
    const owner = find(pod);
    return owner && (find(owner) ?? owner);
  }
}

function stillDisrupted(
  { status }: SeenBudget,
  guarded: readonly SeenPod[],
  now: number,
): { readonly disruptedPods: Record<string, string>; readonly again: number | undefined } {
  const disruptedPods: Record<string, string> = {};
  let again: number | undefined;
  for (const [name, since] of Object.entries(status.disruptedPods ?? {})) {
    const pod = guarded.find(({ metadata }) => metadata.name === name);
    const left = timeOf(since) + evictionMilliseconds - now;
    if (!pod || isDeleting(pod) || left <= 0) continue;
    disruptedPods[name] = since;
    again = Math.min(again ?? Infinity, left);
  }
  return { disruptedPods, again };
}

function withCondition({ metadata, status }: SeenBudget, isAllowed: boolean, now: number): Condition[] {
  const before = status.conditions?.find(({ type }) => type === "DisruptionAllowed");
  const is = isAllowed ? "True" : "False";
  return [
    ...(status.conditions ?? []).filter(({ type }) => type !== "DisruptionAllowed"),
    {
      type: "DisruptionAllowed",
      status: is,
      reason: isAllowed ? "SufficientPods" : "InsufficientPods",
      message: "",
      lastTransitionTime: before?.status === is ? before.lastTransitionTime : timeOfMillis(now),
      observedGeneration: metadata.generation ?? 0,
    },
  ];
}
