// Resource quota: computes the usage of a namespace and writes it to the status of its quotas.
import { isDeepStrictEqual } from "node:util";
import {
  type QuotaAmounts,
  type ResourceQuota,
  type ScopedResourceSelectorRequirement,
  quotaEvaluator,
  quotaMath,
} from "#api";
import { compareQuantity } from "#base";
import { type AnyObject, type InformerEvent, type ResourceKind, kinds } from "#client";
import {
  type Controller,
  type ControllerContext,
  ignoreReasons,
  queueFor,
  withoutUndefined,
} from "#controllerkit";
import { groupName } from "#dialect";
import { discoveryMilliseconds, objectCounts } from "./object-counts.ts";
import { type SeenPod, isFinished, keyOf, splitKey } from "./pods.ts";

type SeenQuota = ResourceQuota & AnyObject;

/** Interval at which all usage is recomputed. */
const resyncMilliseconds = 5 * 60_000;
const countableKinds: readonly ResourceKind[] = Object.values(kinds).filter(
  (kind) => kind.namespaced && !("below" in kind),
);

const largerOf = (amounts: QuotaAmounts, others: QuotaAmounts): QuotaAmounts =>
  new Map(
    [...amounts].map(([name, amount]) => {
      const other = others.get(name);
      return [name, other && compareQuantity(other, amount) > 0 ? other : amount];
    }),
  );

/** Reports whether an update may free quota: a finished pod, or a changed service or claim spec. */
function mayFree(old: AnyObject, now: AnyObject): boolean {
  if (now.kind === "Pod") return isFinished(now as SeenPod) && !isFinished(old as SeenPod);
  if (now.kind === "Service" || now.kind === "PersistentVolumeClaim")
    return !isDeepStrictEqual((old as { spec?: unknown }).spec, (now as { spec?: unknown }).spec);
  return false;
}

export function resourceQuotaController(context: ControllerContext): Controller {
  const { client, clock, view, dialect } = context;
  const resource = client.of(kinds.resourceQuotas);
  const queue = queueFor(context, "resourcequota_primary", sync);
  /**
   * Quotas whose usage may decrease, because something was freed or the last full recount is too long ago.
   */
  const recounts = new Map<string, { lastAt: number; wanted: boolean }>();
  const quotas = view.follow(kinds.resourceQuotas, (event) => {
    const key = keyOf(event.object);
    if (event.type === "deleted") recounts.delete(key);
    else if (event.type === "added" || !isDeepStrictEqual(event.old.spec, event.object.spec))
      recountQuota(key, true);
    else return;
    otherObjects.retain(new Set([...quotas.items()].flatMap(({ spec }) => Object.keys(spec.hard ?? {}))));
  });
  const recountQuota = (key: string, isFreed: boolean): void => {
    if (isFreed) recounts.set(key, { lastAt: 0, wanted: true });
    queue.add(key);
  };
  const onChange = (event: InformerEvent<AnyObject>): void => {
    const isFreed =
      event.type === "deleted" || (event.type === "updated" && mayFree(event.old, event.object));
    if (!isFreed && event.type !== "added") return;
    for (const quota of quotas.inNamespace(event.object.metadata.namespace ?? ""))
      recountQuota(keyOf(quota), isFreed);
  };
  // Objects of other kinds are only charged by admission until they are deleted.
  const otherObjects = objectCounts(context, (event) => {
    if (event.type === "deleted") onChange(event);
  });
  /** Kinds that some quota counts; they are followed from then on. */
  const followedKinds = new Set<ResourceKind>();
  return { stopped: queue.stopped };

  async function sync(key: string): Promise<{ requeueAfterMilliseconds: number } | void> {
    const [namespace, name] = splitKey(key);
    const quota = quotas.get(namespace, name);
    if (!quota) return;
    const hard = quota.spec.hard ?? {};
    const recount = recounts.get(key);
    const isLowering = !recount || recount.wanted || clock.monotonic() - recount.lastAt >= resyncMilliseconds;
    if (isLowering) recounts.set(key, { lastAt: clock.monotonic(), wanted: false });
    let requeueAfterMilliseconds = resyncMilliseconds;
    try {
      const { counted, unknown } = await usageOf(quota, Object.keys(hard));
      if (unknown.length > 0) {
        requeueAfterMilliseconds = discoveryMilliseconds;
        recounts.set(key, { lastAt: 0, wanted: true });
      }
      // Admission raises usage before the new object is observed here; do not revert that.
      const used = isLowering ? counted : largerOf(counted, quotaMath.amountsOf(quota.status.used ?? {}));
      const status = { hard, used: quotaMath.written(used) };
      if (!isDeepStrictEqual(withoutUndefined(quota.status), withoutUndefined(status)))
        await ignoreReasons(["NotFound"], resource.update({ ...quota, status }, { subresource: "status" }));
    } catch (error) {
      if (isLowering) recounts.set(key, { lastAt: 0, wanted: true });
      throw error;
    }
    return { requeueAfterMilliseconds };
  }

  /** Returns the usage, and the names of resources that are not served, which may be defined later. */
  async function usageOf(
    quota: SeenQuota,
    names: readonly string[],
  ): Promise<{ readonly counted: QuotaAmounts; readonly unknown: readonly string[] }> {
    const { namespace } = quota.metadata;
    const scopes: ScopedResourceSelectorRequirement[] = [
      ...(quota.spec.scopes ?? []).map((scopeName) => ({ scopeName, operator: "Exists" })),
      ...(quota.spec.scopeSelector?.matchExpressions ?? []),
    ];
    let total: QuotaAmounts = quotaMath.amountsOf(Object.fromEntries(names.map((name) => [name, "0"])));
    const evaluated = new Set<string>();
    for (const kind of countableKinds) {
      const group = groupName(dialect, kind.schema.kind);
      const evaluator = quotaEvaluator({ group, resource: kind.plural }, dialect, () => clock.now());
      const counted = names.filter((each) => evaluator.counts(each));
      if (counted.every((each) => evaluated.has(each))) continue;
      const objects = await objectsOf(kind, namespace!);
      for (const each of counted) evaluated.add(each);
      for (const object of objects) {
        if (!scopes.every((scope) => evaluator.inScope?.(scope, object) ?? false)) continue;
        total = quotaMath.sumOf(
          total,
          quotaMath.only(evaluator.usage(object), (each) => counted.includes(each)),
        );
      }
    }
    const remaining = names.filter((each) => each.startsWith("count/") && !evaluated.has(each));
    if (remaining.length === 0) return { counted: total, unknown: [] };
    const counts = await otherObjects.of(namespace!, remaining);
    const amounts = Object.fromEntries([...counts].map(([name, count]) => [name, String(count)]));
    return {
      counted: quotaMath.sumOf(total, quotaMath.amountsOf(amounts)),
      unknown: remaining.filter((each) => !counts.has(each)),
    };
  }

  async function objectsOf(kind: ResourceKind, namespace: string): Promise<readonly AnyObject[]> {
    const informer = view.follow(kind, followedKinds.has(kind) ? undefined : onChange);
    followedKinds.add(kind);
    await informer.synced;
    return informer.inNamespace(namespace);
  }
}
