// Resets the DisruptionTarget condition of pods that were not deleted after an eviction or preemption was
// announced.
import { timeOfMillis } from "#base";
import { kinds } from "#client";
import { type Controller, type ControllerContext, patchObject, queueFor } from "#controllerkit";
import { type SeenPod, conditionOf, isDeleting, isFinished, keyOf, splitKey, timeOf } from "./pods.ts";

const staleMilliseconds = 2 * 60_000;

export function staleDisruptionsController(context: ControllerContext): Controller {
  const { client, clock, view, dialect } = context;
  const byAgent = `TerminationBy${dialect.spelling.word("NodeAgent")}`;
  const queue = queueFor(context, "stale disruptions", sync);
  const pods = view.follow(kinds.pods, ({ type, object }) => {
    const remaining = type === "deleted" ? undefined : millisecondsLeft(object);
    if (remaining !== undefined) queue.addAfter(keyOf(object), remaining);
  });
  return { stopped: queue.stopped };

  /**
   * Returns the time until the condition is stale; undefined if it never becomes stale, as when set by a node
   * agent.
   */
  function millisecondsLeft(pod: SeenPod): number | undefined {
    const condition = conditionOf(pod.status.conditions, "DisruptionTarget");
    if (condition?.status !== "True" || condition.reason === byAgent) return undefined;
    if (isDeleting(pod) || isFinished(pod)) return undefined;
    return Math.max(0, timeOf(condition.lastTransitionTime) + staleMilliseconds - clock.now());
  }

  async function sync(key: string): Promise<{ requeueAfterMilliseconds: number } | void> {
    const pod = pods.get(...splitKey(key));
    const remaining = pod && millisecondsLeft(pod);
    if (!pod || remaining === undefined) return;
    if (remaining > 0) return { requeueAfterMilliseconds: remaining };
    const condition = {
      type: "DisruptionTarget",
      status: "False",
      reason: null,
      message: null,
      lastTransitionTime: timeOfMillis(clock.now()),
    };
    await patchObject(
      client.of(kinds.pods),
      pod,
      { status: { conditions: [condition] } },
      { subresource: "status", type: "strategic", ifUnchanged: true },
    );
  }
}
