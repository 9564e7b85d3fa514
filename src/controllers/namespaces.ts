// Namespace lifecycle: deletes the content of terminating namespaces, reports progress, and finalizes them
// when they are empty.
import { isDeepStrictEqual } from "node:util";
import type { Namespace } from "#api";
import { timeOfMillis } from "#base";
import { type AnyObject, kinds } from "#client";
import {
  type Controller,
  type ControllerContext,
  type Discovered,
  type ServedResource,
  discover,
  ignoreReasons,
  metadataClient,
  queueFor,
  replaceObject,
  resourceText,
} from "#controllerkit";
import { timeOf } from "./pods.ts";

type Condition = NonNullable<Namespace["status"]["conditions"]>[number];

/** The result of one attempt to delete a namespace's content. */
export interface CleanupResult {
  readonly undiscovered: readonly string[];
  readonly failures: readonly string[];
  /** Number of remaining objects by resource. */
  readonly remaining: ReadonlyMap<string, number>;
  /** Number of remaining objects by finalizer. */
  readonly held: ReadonlyMap<string, number>;
}

const formatCounts = (counts: ReadonlyMap<string, number>, infix: string): string =>
  [...counts]
    .map(([name, count]) => `${name} ${infix} ${count} resource instances`)
    .toSorted()
    .join(", ");

/** Returns the conditions of a terminating namespace; transition times change only with the conditions. */
export function conditionsFor(found: CleanupResult, before: readonly Condition[], now: string): Condition[] {
  const { undiscovered, failures, remaining, held } = found;
  const facts: [type: string, wrong: boolean, reason: string, message: string, okReason: string, okMessage: string][] = [
    ["NamespaceDeletionDiscoveryFailure", undiscovered.length > 0, "DiscoveryFailed", `Discovery failed for some groups, ${undiscovered.length} failing: ${undiscovered.join(", ")}`, "ResourcesDiscovered", "All resources successfully discovered"],
    ["NamespaceDeletionGroupVersionParsingFailure", false, "", "", "ParsedGroupVersions", "All legacy types successfully parsed"],
    ["NamespaceDeletionContentFailure", failures.length > 0, "ContentDeletionFailed", `Failed to delete all resource types, ${failures.length} remaining: ${failures.join(", ")}`, "ContentDeleted", "All content successfully deleted, may be waiting on finalization"],
    ["NamespaceContentRemaining", remaining.size > 0, "SomeResourcesRemain", `Some resources are remaining: ${formatCounts(remaining, "has")}`, "ContentRemoved", "All content successfully removed"],
    ["NamespaceFinalizersRemaining", held.size > 0, "SomeFinalizersRemain", `Some content in the namespace has finalizers remaining: ${formatCounts(held, "in")}`, "ContentHasNoFinalizers", "All content-preserving finalizers finished"],
  ]; // prettier-ignore
  const updated = facts.map(([type, wrong, reason, message, okReason, okMessage]): Condition => {
    const old = before.find((each) => each.type === type);
    const next = {
      type,
      status: wrong ? "True" : "False",
      reason: wrong ? reason : okReason,
      message: wrong ? message : okMessage,
    };
    return old?.status === next.status && old.reason === next.reason && old.message === next.message
      ? old
      : { ...next, lastTransitionTime: now };
  });
  return [...before.filter(({ type }) => !facts.some(([known]) => known === type)), ...updated];
}

/** Retry interval while content remains: graceful deletion takes time. */
const retryMilliseconds = 1000;
/**
 * Delay after the deletion before content is deleted: other API servers must have observed it and reject new
 * objects.
 */
const graceMilliseconds = 5000;

export function namespaceController(context: ControllerContext, grace = graceMilliseconds): Controller {
  const { client, clock, dialect } = context;
  const finalizerName = dialect.data.namespaceFinalizer;
  const queue = queueFor(context, "namespaces", work);
  const namespaces = context.view.follow(kinds.namespaces, ({ type, object }) => {
    if (type !== "deleted" && object.metadata.deletionTimestamp) queue.add(object.metadata.name!);
  });
  return { stopped: queue.stopped };

  async function work(name: string): Promise<{ requeueAfterMilliseconds: number } | void> {
    const namespace = namespaces.get(undefined, name);
    if (!namespace?.metadata.deletionTimestamp || !namespace.spec.finalizers?.includes(finalizerName)) return;
    const age = clock.now() - timeOf(namespace.metadata.deletionTimestamp);
    // The age is negative if this machine's clock is behind that of the API server.
    if (age < grace) return { requeueAfterMilliseconds: Math.min(grace, grace - age) };
    const found = await cleanUp(name, age);
    const isEmpty =
      found.remaining.size === 0 && found.failures.length === 0 && found.undiscovered.length === 0;
    const before = namespace.status.conditions ?? [];
    const conditions = conditionsFor(found, before, timeOfMillis(clock.now()));
    // A namespace that is finalized immediately needs no conditions.
    if (!isEmpty && !isDeepStrictEqual(conditions, before))
      await ignoreReasons(
        ["NotFound"],
        replaceObject(client.of(kinds.namespaces), namespace, { status: { conditions } }, "status"),
      );
    if (!isEmpty) return { requeueAfterMilliseconds: retryMilliseconds };
    await ignoreReasons(["NotFound"], finalize(name, namespace.metadata.uid));
  }

  async function finalize(name: string, uid: string | undefined): Promise<void> {
    const present = await client.of(kinds.namespaces).get(name);
    if (present.metadata.uid !== uid || !present.spec.finalizers?.includes(finalizerName)) return;
    const spec = {
      ...present.spec,
      finalizers: present.spec.finalizers.filter((each) => each !== finalizerName),
    };
    await client.of(kinds.namespaces).update({ ...present, spec }, { subresource: "finalize" });
  }

  async function cleanUp(namespace: string, age: number): Promise<CleanupResult> {
    const { resources, failed: undiscovered }: Discovered = await discover(client);
    const failures: string[] = [];
    const remaining = new Map<string, number>();
    const held = new Map<string, number>();
    const mine = resources.filter(
      ({ namespaced, verbs }) => namespaced && verbs.includes("list") && verbs.includes("delete"),
    );
    await Promise.all(
      mine.map(async (resource) => {
        try {
          const isPods = resource.plural === "pods" && resource.groupVersion === "v1";
          const isInTime = isPods && age < (await longestGrace(namespace)) * 1000;
          const objects = await deleteAllOf(resource, namespace);
          if (objects.length > 0) remaining.set(resourceText(resource), objects.length);
          const isExpected = isInTime || objects.some(({ metadata }) => metadata.finalizers?.length);
          if (objects.length > 0 && !isExpected)
            failures.push(
              `unexpected items still remain in namespace: ${namespace} for gvr: ${gvrText(resource)}`,
            );
          for (const { metadata } of objects)
            for (const finalizer of metadata.finalizers ?? [])
              held.set(finalizer, (held.get(finalizer) ?? 0) + 1);
        } catch (error) {
          failures.push(`${resourceText(resource)}: ${(error as Error).message}`);
        }
      }),
    );
    return { undiscovered, failures, remaining, held };
  }

  /** Returns the longest termination grace period of the pods that are still running, in seconds. */
  async function longestGrace(namespace: string): Promise<number> {
    const { items } = await client.of(kinds.pods).list({ namespace });
    const running = items.filter(({ status }) => status.phase !== "Succeeded" && status.phase !== "Failed");
    return Math.max(0, ...running.map(({ spec }) => spec.terminationGracePeriodSeconds ?? 0));
  }

  /** Deletes all objects of a resource and returns those that remain. */
  async function deleteAllOf(resource: ServedResource, namespace: string): Promise<readonly AnyObject[]> {
    const objects = metadataClient(client, resource);
    const { items } = await objects.list({ namespace });
    const alive = items.filter(({ metadata }) => !metadata.deletionTimestamp);
    if (alive.length === 0) return items;
    if (resource.verbs.includes("deletecollection")) await objects.deleteAll(namespace);
    else
      await Promise.all(
        alive.map(({ metadata }) => objects.delete(namespace, metadata.name!, { uid: metadata.uid! })),
      );
    return (await objects.list({ namespace })).items;
  }
}

/** Formats a resource like `/v1, Resource=pods`, as the original does. */
function gvrText({ groupVersion, plural }: ServedResource): string {
  const [group, version] = groupVersion.includes("/") ? groupVersion.split("/") : ["", groupVersion];
  return `${group}/${version}, Resource=${plural}`;
}
