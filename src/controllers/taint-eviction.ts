// NoExecute taint manager: deletes pods that do not tolerate a taint of their node, immediately or after the
// tolerated time.
import { type Node, type Pod, type Taint, tolerates } from "#api";
import { timeOfMillis } from "#base";
import { type AnyObject, kinds } from "#client";
import {
  type Controller,
  type ControllerContext,
  ignoreReasons,
  queueFor,
  recorderFor,
} from "#controllerkit";

const noExecute = "NoExecute";

/** Returns for how many seconds the pod tolerates the taints; undefined means forever. */
export function tolerableSeconds(
  { spec }: Pick<Pod, "spec">,
  taints: readonly Taint[] | undefined,
): number | undefined {
  let shortest = Infinity;
  for (const taint of taints ?? []) {
    if (taint.effect !== noExecute) continue;
    const found = spec.tolerations?.find((each) => tolerates(each, taint));
    if (!found) return 0;
    shortest = Math.min(shortest, Math.max(0, found.tolerationSeconds ?? Infinity));
  }
  return shortest === Infinity ? undefined : shortest;
}

const evictingTaints = ({ spec }: Node): string =>
  JSON.stringify(
    (spec.taints ?? []).filter(({ effect }) => effect === noExecute).map(({ key, value }) => [key, value]),
  );
const keyOf = ({ metadata }: Pod): string => `${metadata.namespace}/${metadata.name}`;

export function taintEvictionController(context: ControllerContext): Controller {
  const { client, clock, view, log, gates } = context;
  const events = recorderFor(context, "taint-controller");
  /** The time since when a pod is scheduled for deletion, by uid. */
  const scheduledAt = new Map<string, number>();
  const queue = queueFor(context, "taint eviction", work);
  const pods = view.follow(kinds.pods, ({ type, object }) => {
    if (type === "deleted") scheduledAt.delete(object.metadata.uid!);
    else if (object.spec.nodeName) queue.add(keyOf(object));
  });
  const nodes = view.follow(kinds.nodes, (event) => {
    if (
      event.type === "deleted" ||
      (event.type === "updated" && evictingTaints(event.old) === evictingTaints(event.object))
    )
      return;
    for (const pod of pods.items())
      if (pod.spec.nodeName === event.object.metadata.name) queue.add(keyOf(pod));
  });
  return { stopped: queue.stopped };

  async function work(key: string): Promise<{ requeueAfterMilliseconds: number } | void> {
    const [namespace = "", name = ""] = key.split("/");
    const pod = pods.get(namespace, name);
    if (!pod) return;
    const uid = pod.metadata.uid!;
    const seconds = pod.metadata.deletionTimestamp
      ? undefined
      : tolerableSeconds(pod, nodes.get(undefined, pod.spec.nodeName ?? "")?.spec.taints);
    if (seconds === undefined) {
      if (scheduledAt.delete(uid) && !pod.metadata.deletionTimestamp)
        recordEvent(pod, `Cancelling deletion of Pod ${key}`);
      return;
    }
    if (!scheduledAt.has(uid)) scheduledAt.set(uid, clock.monotonic());
    const remaining = scheduledAt.get(uid)! + seconds * 1000 - clock.monotonic();
    if (remaining > 0) return { requeueAfterMilliseconds: remaining };
    recordEvent(pod, `Marking for deletion Pod ${key}`);
    if (gates.enabled("PodDisruptionConditions")) await markDisrupted(pod);
    await ignoreReasons(["NotFound", "Conflict"], client.of(kinds.pods).delete(name, { namespace, uid }));
    scheduledAt.delete(uid);
    log.info("pod evicted from a tainted node", { pod: key, node: pod.spec.nodeName });
  }

  function recordEvent(pod: Pod & AnyObject, note: string): void {
    events.event(pod, "Normal", "TaintManagerEviction", note);
  }

  /** Marks the pod as disrupted, so that its owner does not count it as failed on its own. */
  async function markDisrupted({ metadata }: Pod): Promise<void> {
    const condition = {
      type: "DisruptionTarget",
      status: "True",
      reason: "DeletionByTaintManager",
      message: "Taint manager: deleting due to NoExecute taint",
      lastProbeTime: null,
      lastTransitionTime: timeOfMillis(clock.now()),
    };
    const patch = { metadata: { uid: metadata.uid }, status: { conditions: [condition] } };
    await ignoreReasons(
      ["NotFound", "Conflict"],
      client
        .of(kinds.pods)
        .patch(metadata.name!, "strategic", patch, { namespace: metadata.namespace!, subresource: "status" }),
    );
  }
}
