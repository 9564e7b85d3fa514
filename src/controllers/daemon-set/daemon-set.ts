// DaemonSet: runs one pod on every matching node.
import { isDeepStrictEqual } from "node:util";
import type { DaemonSetStatus } from "#api";
import { kinds } from "#client";
import {
  type Controller,
  type ControllerContext,
  claim,
  expectations,
  isNamespaceTerminating,
  queueFor,
  recorderFor,
  selects,
  writeStatus,
} from "#controllerkit";
import { type SeenRevision, controllerHistory, hasData, templateData } from "../controller-history.ts";
import { ownedPods, queueOwner } from "../owned-pods.ts";
import { podControl, slowStart } from "../pod-control.ts";
import {
  type SeenPod,
  isAvailable,
  isDeleting,
  isFinished,
  isReady,
  keyOf,
  podFromTemplate,
  splitKey,
} from "../pods.ts";
import {
  type SeenDaemonSet,
  type SeenNode,
  fitnessOf,
  generationAnnotation,
  hashLabel,
  targetNode,
  templateFor,
} from "./nodes.ts";
import { byAgeAndPhase, isUpdated, planUpdate, surgeOf } from "./update.ts";

const burstReplicas = 250;
const initialBackoff = 1000;
const maxBackoff = 15 * 60_000;

type PodsByNode = ReadonlyMap<string, readonly SeenPod[]>;

export function daemonSetController(context: ControllerContext): Controller {
  const { client, clock, view, dialect } = context;
  const events = recorderFor(context, "daemonset-controller");
  const control = podControl(client, events);
  const resource = client.of(kinds.daemonSets);
  const history = controllerHistory(client, view);
  const expected = expectations(clock);
  /**
   * Replacement backoff of failed pods, by set and node: the time of the last replacement and the current
   * delay.
   */
  const backoffs = new Map<string, { readonly at: number; readonly milliseconds: number }>();
  const queue = queueFor(context, "daemonset", sync);
  const sets = view.follow(kinds.daemonSets, (event) => {
    if (event.type === "deleted") expected.forget(keyOf(event.object));
    queue.add(keyOf(event.object));
  });
  const nodes = view.follow(kinds.nodes, (event) => {
    for (const set of sets.items()) {
      const now = fitnessOf(event.object, set, dialect);
      const before = event.type === "updated" ? fitnessOf(event.old, set, dialect) : undefined;
      if (event.type === "deleted" || (before ? !isDeepStrictEqual(now, before) : now.shouldRun))
        queue.add(keyOf(set));
    }
  });
  const pods = ownedPods<SeenDaemonSet>(view, () => ({
    ownerKind: "DaemonSet",
    owners: sets,
    matches: (set, { metadata }) => selects(set.spec.selector, metadata.labels),
    onCreated: (set) => expected.creationObserved(keyOf(set)),
    onDeleted: (set, pod) => expected.deletionObserved(keyOf(set), pod.metadata.uid!),
    onOwner: (set, event) => queueOwner(queue, set, event),
  }));
  return { stopped: queue.stopped };

  async function sync(key: string): Promise<{ requeueAfterMilliseconds: number } | void> {
    const [namespace, name] = splitKey(key);
    const set = sets.get(namespace, name);
    if (!set) return expected.forget(key);
    if (set.metadata.deletionTimestamp) return;
    const { matchLabels, matchExpressions } = set.spec.selector ?? {};
    if (!Object.keys(matchLabels ?? {}).length && !matchExpressions?.length) {
      const text = "This daemon set is selecting all pods. A non-empty selector is required.";
      events.event(set, "Warning", "SelectingAll", text);
      return;
    }
    const { current, old, collisions } = await revisionsOf(set);
    const hash = current.metadata.labels?.[hashLabel] ?? "";
    let failure: Error | undefined;
    const isSettled = expected.satisfied(key);
    if (isSettled) {
      try {
        await manage(key, set, hash, await podsOf(set));
        if (set.spec.updateStrategy.type === "RollingUpdate" && expected.satisfied(key))
          await rollingUpdate(key, set, hash);
        await cleanUp(set, old);
      } catch (error) {
        failure = error as Error;
      }
    }
    const status = statusOf(set, hash, await podsOf(set), collisions);
    // A generation that was not processed is not reported as observed.
    const { observedGeneration } = isSettled ? status : set.status;
    await writeStatus(resource, set, { ...status, observedGeneration: observedGeneration ?? 0 });
    if (failure) throw failure;
    const seconds = set.spec.minReadySeconds ?? 0;
    if (seconds > 0 && status.numberReady !== (status.numberAvailable ?? 0))
      return { requeueAfterMilliseconds: seconds * 1000 };
  }

  async function revisionsOf(set: SeenDaemonSet): Promise<{
    readonly current: SeenRevision;
    readonly old: readonly SeenRevision[];
    readonly collisions: number | undefined;
  }> {
    const { name, namespace } = set.metadata;
    const all = await history.list(set, () => resource.get(name!, { namespace: namespace! }));
    const data = templateData(set);
    const old = all.filter((each) => !hasData(each, data));
    const number = Math.max(0, ...old.map(({ revision }) => revision ?? 0)) + 1;
    const equal = all.findLast((each) => hasData(each, data));
    const known = set.status.collisionCount ?? undefined;
    if (equal)
      return {
        current: (equal.revision ?? 0) < number ? await history.renumber(equal, number) : equal,
        old,
        collisions: known,
      };
    const created = await history.create(set, number, known ?? 0, {
      hashLabel,
      ...(set.metadata.annotations && { annotations: set.metadata.annotations }),
    });
    const { collisions } = created;
    return { current: created.revision, old, collisions: collisions > 0 ? collisions : known };
  }

  /**
   * Returns pods by the node they run on or are assigned to, without finished pods that are being deleted.
   */
  async function podsOf(set: SeenDaemonSet): Promise<PodsByNode> {
    const { name, namespace } = set.metadata;
    const mine = await claim(pods.candidates(set), {
      owner: set,
      matches: ({ metadata }) => selects(set.spec.selector, metadata.labels),
      resource: client.of(kinds.pods),
      freshOwner: () => resource.get(name!, { namespace: namespace! }),
    });
    const byNode = new Map<string, SeenPod[]>();
    for (const pod of mine) {
      const node = targetNode(pod);
      if (node === undefined || (isFinished(pod) && isDeleting(pod))) continue;
      if (!byNode.has(node)) byNode.set(node, []);
      byNode.get(node)!.push(pod);
    }
    return byNode;
  }

  async function manage(key: string, set: SeenDaemonSet, hash: string, byNode: PodsByNode): Promise<void> {
    const createOn: string[] = [];
    const remove: SeenPod[] = [];
    for (const node of nodes.items()) {
      const { shouldRun, mayStay } = fitnessOf(node, set, dialect);
      const podsOnNode = byNode.get(node.metadata.name!);
      if (shouldRun && !podsOnNode) createOn.push(node.metadata.name!);
      else if (mayStay) {
        const running = unfinishedPods(key, set, node, podsOnNode ?? [], remove);
        if (running.length === 0 && shouldRun && surgeOf(set, 1) > 0) createOn.push(node.metadata.name!);
        remove.push(...surplusOf(set, hash, running));
      } else remove.push(...(podsOnNode ?? []).filter((pod) => !isDeleting(pod)));
    }
    for (const [node, podsOnNode] of byNode)
      if (!nodes.get(undefined, node))
        remove.push(...podsOnNode.filter((pod) => !pod.spec.nodeName && !isDeleting(pod)));
    await apply(key, set, hash, createOn, remove);
  }

  /**
   * Returns the unfinished pods of a node. Finished pods are added to `remove`, failed ones subject to
   * backoff.
   */
  function unfinishedPods(
    key: string,
    set: SeenDaemonSet,
    node: SeenNode,
    podsOnNode: readonly SeenPod[],
    remove: SeenPod[],
  ): SeenPod[] {
    const running: SeenPod[] = [];
    for (const pod of podsOnNode) {
      if (isDeleting(pod)) continue;
      const description = `daemon pod ${keyOf(pod)} on node ${node.metadata.name}`;
      if (pod.status.phase === "Failed") {
        const delay = remainingBackoff(`${set.metadata.uid}/${node.metadata.name}`);
        if (delay > 0) {
          queue.addAfter(key, delay);
          continue;
        }
        events.event(set, "Warning", "FailedDaemonPod", `Found failed ${description}, will try to kill it`);
        remove.push(pod);
      } else if (pod.status.phase === "Succeeded") {
        events.event(
          set,
          "Normal",
          "SucceededDaemonPod",
          `Found succeeded ${description}, will try to delete it`,
        );
        remove.push(pod);
      } else running.push(pod);
    }
    return running;
  }

  /** Returns the remaining backoff; 0 allows a replacement now and doubles the delay of the next one. */
  function remainingBackoff(key: string): number {
    const now = clock.monotonic();
    const before = backoffs.get(key);
    if (before && now - before.at < before.milliseconds) return before.at + before.milliseconds - now;
    const isLongAgo = !before || now - before.at > 2 * maxBackoff;
    const milliseconds = isLongAgo ? initialBackoff : Math.min(maxBackoff, before.milliseconds * 2);
    backoffs.delete(key);
    backoffs.set(key, { at: now, milliseconds });
    if (backoffs.size > 10_000) backoffs.delete(backoffs.keys().next().value!);
    return 0;
  }

  function surplusOf(set: SeenDaemonSet, hash: string, running: readonly SeenPod[]): readonly SeenPod[] {
    const sorted = running.toSorted(byAgeAndPhase);
    if (surgeOf(set, 1) === 0) return sorted.slice(1);
    if (sorted.length <= 1) return [];
    const newest = sorted.find(({ metadata }) => metadata.labels?.[hashLabel] === hash);
    const oldest = sorted.find(({ metadata }) => metadata.labels?.[hashLabel] !== hash);
    const surplus = sorted.filter((pod) => pod !== newest && pod !== oldest);
    if (newest && oldest) {
      const isReplaced = isAvailable(newest, set.spec.minReadySeconds ?? 0, clock.now());
      if (!isReady(oldest) || isReplaced) surplus.push(oldest);
    }
    return surplus;
  }

  async function rollingUpdate(key: string, set: SeenDaemonSet, hash: string): Promise<void> {
    const wanted = [...nodes.items()].filter((node) => fitnessOf(node, set, dialect).shouldRun);
    const wantedNames = new Set(wanted.map(({ metadata }) => metadata.name!));
    const podsByNode = new Map(await podsOf(set));
    // A node whose pod was just deleted counts as unavailable.
    for (const name of wantedNames) if (!podsByNode.has(name)) podsByNode.set(name, []);
    const shouldRun = (name: string): boolean => wantedNames.has(name);
    const facts = { set, hash, podsByNode, desired: wantedNames.size, shouldRun, now: clock.now() };
    const { remove, createOn } = planUpdate(facts);
    await apply(key, set, hash, createOn, remove);
  }

  async function apply(
    key: string,
    set: SeenDaemonSet,
    hash: string,
    createOn: readonly string[],
    remove: readonly SeenPod[],
  ): Promise<void> {
    const creating = createOn.slice(0, burstReplicas);
    const removing = remove.slice(0, burstReplicas);
    if (creating.length + removing.length === 0) return;
    expected.expect(
      key,
      creating.length,
      removing.map(({ metadata }) => metadata.uid!),
    );
    const generation = set.metadata.annotations?.[generationAnnotation];
    const { succeeded, error } = await slowStart(creating.length, async (index) => {
      try {
        const template = templateFor(set, creating[index]!, hash, generation, dialect);
        await control.create(set, podFromTemplate(template, set));
      } catch (failed) {
        if (!isNamespaceTerminating(failed)) throw failed;
      }
    });
    for (let skipped = succeeded; skipped < creating.length; skipped++) expected.creationObserved(key);
    const results = await Promise.allSettled(
      removing.map(async (pod) => {
        try {
          if (!(await control.delete(set, pod))) expected.deletionObserved(key, pod.metadata.uid!);
        } catch (failed) {
          expected.deletionObserved(key, pod.metadata.uid!);
          throw failed;
        }
      }),
    );
    const failure =
      error ?? (results.find((each) => each.status === "rejected")?.reason as Error | undefined);
    if (failure) throw failure;
  }

  async function cleanUp(set: SeenDaemonSet, old: readonly SeenRevision[]): Promise<void> {
    const surplus = old.length - (set.spec.revisionHistoryLimit ?? 10);
    if (surplus <= 0) return;
    const live = new Set(
      pods.informer.controlledBy(set.metadata.uid!).map(({ metadata }) => metadata.labels?.[hashLabel]),
    );
    const unused = old.filter(({ metadata }) => !live.has(metadata.labels?.[hashLabel]));
    for (const revision of unused.slice(0, surplus)) await history.delete(revision);
  }

  function statusOf(
    set: SeenDaemonSet,
    hash: string,
    byNode: PodsByNode,
    collisions: number | undefined,
  ): DaemonSetStatus {
    const counts = { desired: 0, current: 0, misscheduled: 0, ready: 0, updated: 0, available: 0 };
    for (const node of nodes.items()) {
      const podsOnNode = byNode.get(node.metadata.name!)?.toSorted(byAgeAndPhase) ?? [];
      const pod = podsOnNode[0];
      if (!fitnessOf(node, set, dialect).shouldRun) {
        if (pod) counts.misscheduled++;
        continue;
      }
      counts.desired++;
      if (!pod) continue;
      counts.current++;
      if (isReady(pod)) counts.ready++;
      if (isAvailable(pod, set.spec.minReadySeconds ?? 0, clock.now())) counts.available++;
      if (isUpdated(pod, set, hash)) counts.updated++;
    }
    const { conditions } = set.status;
    return {
      currentNumberScheduled: counts.current,
      numberMisscheduled: counts.misscheduled,
      desiredNumberScheduled: counts.desired,
      numberReady: counts.ready,
      observedGeneration: set.metadata.generation ?? 0,
      ...(counts.updated > 0 && { updatedNumberScheduled: counts.updated }),
      ...(counts.available > 0 && { numberAvailable: counts.available }),
      ...(counts.desired > counts.available && { numberUnavailable: counts.desired - counts.available }),
      ...(collisions !== undefined && { collisionCount: collisions }),
      ...(conditions && { conditions }),
    };
  }
}
