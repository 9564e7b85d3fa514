// Counts what a namespace uses of its quotas, and writes it to their status.
import { isDeepStrictEqual } from "node:util";
import {
  type QuotaAmounts,
  type ResourceQuota,
  type ScopedResourceSelectorRequirement,
  quotaEvaluator,
  quotaMath,
} from "#api";
import { type AnyObject, type ResourceKind, kinds } from "#client";
import {
  type Controller,
  type ControllerContext,
  discover,
  ignoreReasons,
  metadataClient,
  queueFor,
  withoutUndefined,
} from "#controllerkit";
import { groupName } from "#dialect";
import { isFinished, keyOf, splitKey } from "./pods.ts";

type SeenQuota = ResourceQuota & AnyObject;

/** Everything is counted anew this often. */
const resyncMilliseconds = 5 * 60_000;
const typed: readonly ResourceKind[] = Object.values(kinds).filter(
  (kind) => kind.namespaced && !("below" in kind),
);

export function resourceQuotaController(context: ControllerContext): Controller {
  const { client, clock, view, dialect } = context;
  const resource = client.of(kinds.resourceQuotas);
  const queue = queueFor(context, "resourcequota_primary", sync);
  const quotas = view.follow(kinds.resourceQuotas, ({ type, object }) => {
    if (type !== "deleted") queue.add(keyOf(object));
  });
  const recount = (namespace: string | undefined): void => {
    for (const quota of quotas.inNamespace(namespace ?? "")) queue.add(keyOf(quota));
  };
  view.follow(kinds.pods, (event) => {
    const hasEnded = event.type === "updated" && isFinished(event.object) && !isFinished(event.old);
    if (event.type === "deleted" || hasEnded) recount(event.object.metadata.namespace);
  });
  for (const kind of [kinds.services, kinds.persistentVolumeClaims] as readonly ResourceKind[])
    view.follow(kind, ({ object }) => recount(object.metadata.namespace));
  /** Kinds that some quota counts, followed from then on. */
  const counted = new Set<ResourceKind>();
  return { stopped: queue.stopped };

  async function sync(key: string): Promise<{ againInMilliseconds: number } | void> {
    const [namespace, name] = splitKey(key);
    const quota = quotas.get(namespace, name);
    if (!quota) return;
    const hard = quota.spec.hard ?? {};
    const used = await usageOf(quota, Object.keys(hard));
    const status = { hard, used: quotaMath.written(used) };
    if (!isDeepStrictEqual(withoutUndefined(quota.status), withoutUndefined(status)))
      await ignoreReasons(["NotFound"], resource.update({ ...quota, status }, { subresource: "status" }));
    return { againInMilliseconds: resyncMilliseconds };
  }

  async function usageOf(quota: SeenQuota, names: readonly string[]): Promise<QuotaAmounts> {
    const { namespace } = quota.metadata;
    const scopes: ScopedResourceSelectorRequirement[] = [
      ...(quota.spec.scopes ?? []).map((scopeName) => ({ scopeName, operator: "Exists" })),
      ...(quota.spec.scopeSelector?.matchExpressions ?? []),
    ];
    let total: QuotaAmounts = quotaMath.amountsOf(Object.fromEntries(names.map((name) => [name, "0"])));
    const done = new Set<string>();
    for (const kind of typed) {
      const group = groupName(dialect, kind.schema.kind);
      const evaluator = quotaEvaluator({ group, resource: kind.plural }, dialect, () => clock.now());
      const own = names.filter((each) => evaluator.counts(each));
      if (own.every((each) => done.has(each))) continue;
      const objects = await objectsOf(kind, namespace!);
      for (const each of own) done.add(each);
      for (const object of objects) {
        if (!scopes.every((scope) => evaluator.inScope?.(scope, object) ?? false)) continue;
        total = quotaMath.sumOf(
          total,
          quotaMath.only(evaluator.usage(object), (each) => own.includes(each)),
        );
      }
    }
    const rest = names.filter((each) => each.startsWith("count/") && !done.has(each));
    return rest.length === 0 ? total : quotaMath.sumOf(total, await countOthers(namespace!, rest));
  }

  async function objectsOf(kind: ResourceKind, namespace: string): Promise<readonly AnyObject[]> {
    const informer = view.follow(
      kind,
      counted.has(kind) ? undefined : ({ object }) => recount(object.metadata.namespace),
    );
    counted.add(kind);
    await informer.synced;
    return informer.inNamespace(namespace);
  }

  /** Kinds that nobody here knows are counted by asking for them. */
  async function countOthers(namespace: string, names: readonly string[]): Promise<QuotaAmounts> {
    const { resources } = await discover(client);
    const counts: Record<string, string> = {};
    for (const served of resources) {
      const group = served.groupVersion.includes("/") ? `.${served.groupVersion.split("/")[0]}` : "";
      const name = `count/${served.plural}${group}`;
      if (!names.includes(name) || !served.namespaced) continue;
      counts[name] = String((await metadataClient(client, served).list({ namespace })).items.length);
    }
    return quotaMath.amountsOf(counts);
  }
}
