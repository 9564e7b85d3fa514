// Garbage collector: deletes dependents of deleted owners in the background or foreground, or orphans them.
import type { OwnerReference } from "#api";
import type { AnyObject, Informer, InformerEvent } from "#client";
import {
  type GraphNode,
  type OwnerState,
  blocking,
  decide,
  foregroundFinalizer,
  nodeOf,
  orphanFinalizer,
  ownerGraph,
} from "./owner-graph.ts";
import {
  type Controller,
  type ControllerContext,
  type MetadataClient,
  type ServedResource,
  abortable,
  discover,
  metadataClient,
  queueFor,
  recorderFor,
  startInformer,
} from "#controllerkit";

/** Interval of API discovery, which finds new kinds. */
const discoverEveryMilliseconds = 30_000;
/** Kinds whose objects neither own nor are owned by others. */
const ignored = new Set(["events"]);
const maxAbsentOwners = 1000;
/** Maximum time to wait for a kind to be listed before others proceed without it. */
const syncTimeoutMilliseconds = 30_000;

interface Followed {
  readonly resource: ServedResource;
  readonly objects: MetadataClient;
  readonly cache: Pick<Informer<AnyObject>, "items">;
  /** Resolves when the kind has been listed, or the wait for it timed out. */
  readonly ready: Promise<unknown>;
  readonly stopped: Promise<void>;
  end(): void;
}

export function garbageCollector(context: ControllerContext): Controller {
  const { client, clock, signal, log } = context;
  const graph = ownerGraph();
  const events = recorderFor(context, "garbage-collector-controller");
  const followed = new Map<string, Followed>();
  /** References to owners that the server reported as absent. Bounded; a uid is never reused. */
  const absent = new Set<string>();
  const syncErrors = context.metrics
    .counter({
      name: "garbagecollector_controller_resources_sync_error_total",
      help: "Number of failures to follow the resources that the server offers.",
      stability: "ALPHA",
    })
    .with();
  const queue = queueFor(context, "garbage collector", (uid) =>
    uid === discoveryKey ? refreshResources() : collect(uid),
  );
  queue.add(discoveryKey);
  return {
    stopped: queue.stopped.then(
      async () => void (await Promise.all([...followed.values()].map((each) => each.stopped))),
    ),
  };

  async function refreshResources(): Promise<{ requeueAfterMilliseconds: number }> {
    const { resources, failed } = await discover(client).catch((error: Error) => {
      syncErrors.add();
      throw error;
    });
    const wanted = resources.filter(
      ({ plural, verbs }) =>
        !ignored.has(plural) && ["list", "watch", "delete"].every((verb) => verbs.includes(verb)),
    );
    for (const resource of wanted) {
      const known = followed.get(idOf(resource));
      if (!known) follow(resource);
      else if (known.resource.groupVersion !== resource.groupVersion) followInVersion(resource, known);
    }
    const ids = new Set(wanted.map(idOf));
    // A group whose discovery failed may still exist.
    if (failed.length === 0) for (const [id, each] of followed) if (!ids.has(id)) unfollow(id, each);
    return { requeueAfterMilliseconds: discoverEveryMilliseconds };
  }

  /** Shares the informers of kinds that other controllers follow; of all others only metadata is cached. */
  function follow(resource: ServedResource): void {
    const objects = metadataClient(client, resource);
    const onEvent = ({ type, object }: InformerEvent<AnyObject>): void =>
      type === "deleted" ? onDeleted(object.metadata.uid!) : onChanged(nodeOf(resource, object));
    const shared = context.view.existing(resource.groupVersion, resource.plural);
    if (shared) {
      const end = shared.listen(onEvent);
      followed.set(idOf(resource), {
        resource,
        objects,
        cache: shared.informer,
        ready: withTimeout(shared.informer.synced),
        stopped: Promise.resolve(),
        end,
      });
      return;
    }
    const ending = new AbortController();
    const started = startInformer(
      objects,
      resource.plural,
      {},
      {
        clock,
        signal: AbortSignal.any([signal, ending.signal]),
        log,
      },
    );
    started.listen(onEvent);
    followed.set(idOf(resource), {
      resource,
      objects,
      cache: started.informer,
      ready: withTimeout(started.informer.synced),
      stopped: started.stopped,
      end: () => ending.abort(),
    });
  }

  /**
   * Follows a kind in another version, since the known one may no longer be served. Its dependents are considered
   * again: they could not be found under the version before.
   */
  function followInVersion(resource: ServedResource, { cache, end }: Followed): void {
    end();
    follow(resource);
    const { cache: next, ready } = followed.get(idOf(resource))!;
    void ready.then(() => {
      const present = new Set<string>();
      for (const { metadata } of next.items()) {
        present.add(metadata.uid!);
        if (metadata.ownerReferences?.length) queue.add(metadata.uid!);
      }
      for (const { metadata } of cache.items()) if (!present.has(metadata.uid!)) onDeleted(metadata.uid!);
    });
  }

  async function withTimeout(synced: Promise<void>): Promise<void> {
    const timeout = clock.sleep(syncTimeoutMilliseconds, signal).then(
      () => "timeout",
      () => undefined,
    );
    if ((await Promise.race([synced, timeout])) === "timeout") syncErrors.add();
  }

  /** Treats all objects of a kind that is no longer served as deleted. */
  function unfollow(id: string, { cache, end }: Followed): void {
    end();
    followed.delete(id);
    for (const { metadata } of cache.items()) onDeleted(metadata.uid!);
  }

  function onChanged(node: GraphNode): void {
    const before = graph.get(node.uid);
    graph.put(node);
    const due =
      node.deleting &&
      node.finalizers.some((each) => each === foregroundFinalizer || each === orphanFinalizer);
    const moved =
      before === undefined ||
      JSON.stringify(before.owners) !== JSON.stringify(node.owners) ||
      before.deleting !== node.deleting;
    if (due || (moved && node.owners.length > 0)) queue.add(node.uid);
    // The dependent may have been the last one that its deleting owner waits for.
    if (before && moved) for (const { uid } of before.owners) if (graph.get(uid)?.deleting) queue.add(uid);
  }

  function onDeleted(uid: string): void {
    const node = graph.get(uid);
    graph.remove(uid);
    for (const dependent of graph.dependents(uid)) queue.add(dependent.uid);
    for (const { uid: owner } of node?.owners ?? []) if (graph.get(owner)?.deleting) queue.add(owner);
  }

  async function collect(uid: string): Promise<void> {
    const known = graph.get(uid);
    if (!known) return;
    // Decide nothing before every kind has been listed once.
    await abortable(Promise.all([...followed.values()].map(({ ready }) => ready)), signal);
    const objects = followed.get(idOf(known.resource))?.objects;
    const present = await objects?.get(known.namespace, known.name);
    if (!objects || present?.metadata.uid !== uid) return;
    const node = nodeOf(known.resource, present);
    if (node.deleting && node.finalizers.includes(orphanFinalizer))
      return await orphan(node, present, objects);
    if (node.deleting && node.finalizers.includes(foregroundFinalizer))
      return await deleteDependents(node, present, objects);
    const ownerStates = new Map<string, OwnerState>();
    for (const owner of node.owners) ownerStates.set(owner.uid, await ownerStateOf(owner, node));
    const dependents = graph.dependents(uid);
    const verdict = decide(node, (owner) => ownerStates.get(owner.uid)!, dependents.length > 0);
    if (verdict.action === "disown") await disown(node, present, objects, new Set(verdict.uids));
    if (verdict.action !== "delete") return;
    // A dependent that waits for its own dependents may wait for this object: break the cycle.
    if (verdict.propagation === "Foreground" && dependents.some(isWaiting)) {
      const blocks = present.metadata.ownerReferences?.some(({ blockOwnerDeletion }) => blockOwnerDeletion);
      if (blocks) return await unblock(node, present, objects);
    }
    const deleted = await objects.delete(node.namespace, node.name, {
      uid,
      resourceVersion: present.metadata.resourceVersion!,
      propagation: verdict.propagation,
    });
    if (deleted)
      log.verbose(2, "dependent deleted", {
        kind: node.resource.kind,
        namespace: node.namespace,
        name: node.name,
      });
  }

  async function ownerStateOf(owner: OwnerReference, dependent: GraphNode): Promise<OwnerState> {
    const known = graph.get(owner.uid);
    if (known?.namespace !== undefined && known.namespace !== dependent.namespace) {
      const where = dependent.namespace ?? "";
      const reference = `${owner.apiVersion}/${owner.kind}, namespace: ${where}, name: ${owner.name}, uid: ${owner.uid}`;
      const text = `ownerRef [${reference}] does not exist in namespace "${where}"`;
      events.event(referenceTo(dependent), "Warning", "OwnerRefInvalidNamespace", text);
      // A cluster-scoped dependent is kept, since its owner may be in any namespace.
      return dependent.namespace === undefined ? "present" : "absent";
    }
    if (known) return isWaiting(known) ? "deleting dependents" : "present";
    // The same uid under another name or in another namespace may exist.
    const { apiVersion, kind: ownerKind, name, uid } = owner;
    const reference = JSON.stringify([dependent.namespace, groupOf(apiVersion), ownerKind, name, uid]);
    if (absent.has(reference)) return "absent";
    const found = [...followed.values()].find(
      ({ resource: { groupVersion, kind } }) =>
        kind === owner.kind && groupOf(groupVersion) === groupOf(owner.apiVersion),
    );
    // The owner's kind is not followed, so its existence is unknown: keep the dependent.
    if (!found) return "present";
    // A namespaced object cannot own one in another namespace or a cluster-scoped one.
    if (found.resource.namespaced && !dependent.namespace) return "present";
    const present = await found.objects.get(
      found.resource.namespaced ? dependent.namespace : undefined,
      owner.name,
    );
    if (present?.metadata.uid === owner.uid)
      return isWaiting(nodeOf(found.resource, present)) ? "deleting dependents" : "present";
    absent.add(reference);
    if (absent.size > maxAbsentOwners) absent.delete(absent.values().next().value!);
    return "absent";
  }

  async function orphan(owner: GraphNode, present: AnyObject, objects: MetadataClient): Promise<void> {
    for (const dependent of graph.dependents(owner.uid)) {
      const dependentClient = followed.get(idOf(dependent.resource))?.objects;
      const found = await dependentClient?.get(dependent.namespace, dependent.name);
      if (dependentClient && found?.metadata.uid === dependent.uid)
        await disown(dependent, found, dependentClient, new Set([owner.uid]));
    }
    await withoutFinalizer(owner, present, objects, orphanFinalizer);
  }

  async function deleteDependents(
    owner: GraphNode,
    present: AnyObject,
    objects: MetadataClient,
  ): Promise<void> {
    const dependents = graph.dependents(owner.uid);
    if (blocking(owner.uid, dependents).length === 0)
      await withoutFinalizer(owner, present, objects, foregroundFinalizer);
    for (const { uid } of dependents) queue.add(uid);
  }

  async function unblock(
    { namespace, name, uid }: GraphNode,
    { metadata }: AnyObject,
    objects: MetadataClient,
  ): Promise<void> {
    const ownerReferences = (metadata.ownerReferences ?? []).map((each) => ({
      ...each,
      blockOwnerDeletion: false,
    }));
    await objects.patch(namespace, name, {
      metadata: { uid, resourceVersion: metadata.resourceVersion, ownerReferences },
    });
    queue.add(uid);
  }

  async function disown(
    { namespace, name, uid }: GraphNode,
    { metadata }: AnyObject,
    objects: MetadataClient,
    gone: ReadonlySet<string>,
  ): Promise<void> {
    const ownerReferences = (metadata.ownerReferences ?? []).filter((each) => !gone.has(each.uid));
    if (ownerReferences.length === (metadata.ownerReferences ?? []).length) return;
    await objects.patch(namespace, name, {
      metadata: { uid, resourceVersion: metadata.resourceVersion, ownerReferences },
    });
  }

  async function withoutFinalizer(
    { namespace, name, uid }: GraphNode,
    { metadata }: AnyObject,
    objects: MetadataClient,
    finalizer: string,
  ): Promise<void> {
    const finalizers = (metadata.finalizers ?? []).filter((each) => each !== finalizer);
    await objects.patch(namespace, name, {
      metadata: { uid, resourceVersion: metadata.resourceVersion, finalizers },
    });
  }
}

const discoveryKey = "discovery";
const idOf = ({ groupVersion, plural }: ServedResource): string => `${groupOf(groupVersion)}/${plural}`;
const groupOf = (groupVersion: string): string =>
  groupVersion.includes("/") ? groupVersion.split("/")[0]! : "";
const isWaiting = ({ deleting, finalizers }: GraphNode): boolean =>
  deleting && finalizers.includes(foregroundFinalizer);

/** Returns the object reference that events about a metadata-only object carry. */
const referenceTo = ({ resource, namespace, name, uid }: GraphNode): AnyObject => ({
  apiVersion: resource.groupVersion,
  kind: resource.kind,
  metadata: { name, uid, creationTimestamp: null, ...(namespace !== undefined && { namespace }) },
});
