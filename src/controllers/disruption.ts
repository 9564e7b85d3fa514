// Pod disruption budgets: counts healthy pods and computes how many disruptions are allowed.
import type { Condition, PodDisruptionBudget } from "#api";
import { timeOfMillis } from "#base";
import { type AnyObject, kinds } from "#client";
import {
  type Controller,
  type ControllerContext,
  queueFor,
  recorderFor,
  selects,
  writeStatus,
} from "#controllerkit";
import { scaledValue } from "./deployment/rollout.ts";
import { type SeenPod, isDeleting, isReady, keyOf, splitKey, timeOf } from "./pods.ts";
import { ownerSizes } from "./owner-sizes.ts";
import { selectorText } from "./selector-text.ts";

type SeenBudget = PodDisruptionBudget & AnyObject;

/** An evicted pod that is not deleted within this time is considered not disrupted any more. */
const evictionMilliseconds = 2 * 60_000;

export interface Expectation {
  readonly expected: number;
  readonly desired: number;
  /** Names of pods without a controller whose scale is known. */
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
    const { object: pod } = event;
    const all = budgets.inNamespace(pod.metadata.namespace ?? "");
    for (const budget of all)
      if (guards(budget, pod) || (event.type === "updated" && guards(budget, event.old)))
        queue.add(keyOf(budget));
    const guarding = all.filter((budget) => guards(budget, pod));
    if (guarding.length > 1) {
      const { namespace, name } = pod.metadata;
      const text = `Pod "${namespace}"/"${name}" matches multiple PodDisruptionBudgets.  Chose "${guarding[0]!.metadata.name}" arbitrarily.`;
      events.event(pod, "Warning", "MultiplePodDisruptionBudgets", text);
    }
  });
  const sizeOfOwners = ownerSizes(context.client, view, (namespace) => {
    for (const budget of budgets.inNamespace(namespace)) queue.add(keyOf(budget));
  });
  return { stopped: queue.stopped };

  function guards({ spec }: SeenBudget, { metadata }: SeenPod): boolean {
    return selects(spec.selector, metadata.labels);
  }

  async function sync(key: string): Promise<{ requeueAfterMilliseconds: number } | void> {
    const [namespace, name] = splitKey(key);
    const budget = budgets.get(namespace, name);
    if (!budget) return;
    const guarded = pods.inNamespace(namespace).filter((pod) => guards(budget, pod));
    if (guarded.length === 0) events.event(budget, "Normal", "NoPods", "No matching pods found");
    let expectation: Expectation;
    try {
      expectation = await expectationOf(budget, guarded);
    } catch (error) {
      return await failSafe(budget, error as Error);
    }
    const { expected, desired, unmanaged } = expectation;
    if (unmanaged.length > 0) {
      const text = `Pods selected by this PodDisruptionBudget (selector: ${selectorText(budget.spec.selector)}) were found to be unmanaged. As a result, the status of the PDB cannot be calculated correctly, which may result in undefined behavior. To account for these pods please set ".spec.minAvailable" field of the PDB to an integer value.`;
      events.event(budget, "Warning", "UnmanagedPods", text);
    }
    const now = clock.now();
    const { disruptedPods, notDeleted, requeueAfter } = stillDisrupted(budget, guarded, now);
    for (const pod of notDeleted) {
      // The namespace appears twice, as in the reference's message.
      const text = `Pod was expected by PDB ${namespace}/${namespace} to be deleted but it wasn't`;
      events.event(pod, "Warning", "NotDeleted", text);
    }
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
      conditions: withCondition(
        budget,
        {
          allowed: allowed > 0,
          reason: allowed > 0 ? "SufficientPods" : "InsufficientPods",
          message: "",
        },
        budget.metadata.generation ?? 0,
        now,
      ),
    });
    if (requeueAfter !== undefined) return { requeueAfterMilliseconds: requeueAfter };
  }

  /** Returns how many pods are expected, and how many of them must stay healthy. */
  async function expectationOf({ spec }: SeenBudget, guarded: readonly SeenPod[]): Promise<Expectation> {
    const { minAvailable, maxUnavailable } = spec;
    if (maxUnavailable !== null && maxUnavailable !== undefined) {
      const { total, unmanaged } = await sizeOfOwners(guarded);
      const desired = Math.max(0, total - scaledValue(maxUnavailable, total, true));
      return { expected: total, desired, unmanaged };
    }
    if (minAvailable === null || minAvailable === undefined)
      return { expected: 0, desired: 0, unmanaged: [] };
    if (typeof minAvailable === "number")
      return { expected: guarded.length, desired: minAvailable, unmanaged: [] };
    const { total, unmanaged } = await sizeOfOwners(guarded);
    return { expected: total, desired: scaledValue(minAvailable, total, true), unmanaged };
  }

  /** Disallows disruptions while the number of expected pods is unknown. */
  async function failSafe(budget: SeenBudget, error: Error): Promise<void> {
    const text = `Failed to calculate the number of expected pods: ${error.message}`;
    events.event(budget, "Warning", "CalculateExpectedPodCountFailed", text);
    const { status } = budget;
    const condition = { allowed: false, reason: "SyncFailed", message: error.message };
    await writeStatus(resource, budget, {
      ...status,
      currentHealthy: status.currentHealthy ?? 0,
      desiredHealthy: status.desiredHealthy ?? 0,
      expectedPods: status.expectedPods ?? 0,
      disruptionsAllowed: 0,
      conditions: withCondition(budget, condition, status.observedGeneration, clock.now()),
    });
  }
}

interface Disrupted {
  /** Evicted pods that have not been deleted yet, with their eviction times. */
  readonly disruptedPods: Record<string, string>;
  /** Evicted pods that should have been deleted by now. */
  readonly notDeleted: readonly SeenPod[];
  readonly requeueAfter: number | undefined;
}

function stillDisrupted({ status }: SeenBudget, guarded: readonly SeenPod[], now: number): Disrupted {
  const disruptedPods: Record<string, string> = {};
  const notDeleted: SeenPod[] = [];
  let requeueAfter: number | undefined;
  for (const [name, since] of Object.entries(status.disruptedPods ?? {})) {
    const pod = guarded.find(({ metadata }) => metadata.name === name);
    const remaining = timeOf(since) + evictionMilliseconds - now;
    if (!pod || isDeleting(pod)) continue;
    if (remaining <= 0) {
      notDeleted.push(pod);
      continue;
    }
    disruptedPods[name] = since;
    requeueAfter = Math.min(requeueAfter ?? Infinity, remaining);
  }
  return { disruptedPods, notDeleted, requeueAfter };
}

function withCondition(
  { status }: SeenBudget,
  { allowed, reason, message }: { allowed: boolean; reason: string; message: string },
  observedGeneration: number | undefined,
  now: number,
): Condition[] {
  const before = status.conditions?.find(({ type }) => type === "DisruptionAllowed");
  const conditionStatus = allowed ? "True" : "False";
  return [
    ...(status.conditions ?? []).filter(({ type }) => type !== "DisruptionAllowed"),
    {
      type: "DisruptionAllowed",
      status: conditionStatus,
      reason,
      message,
      lastTransitionTime: before?.status === conditionStatus ? before.lastTransitionTime : timeOfMillis(now),
      ...(observedGeneration !== undefined && { observedGeneration }),
    },
  ];
}
