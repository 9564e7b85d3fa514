// Annotates nodes with how long agents may cache secrets and config maps: longer in larger clusters.
import { kinds } from "#client";
import {
  type Controller,
  type ControllerContext,
  ignoreReasons,
  patchObject,
  queueFor,
} from "#controllerkit";

/** Thresholds with hysteresis: the next step above `up` nodes, the previous one below `down`. */
const steps = [
  { down: 0, up: 100, seconds: 0 },
  { down: 90, up: 500, seconds: 15 },
  { down: 450, up: 1000, seconds: 30 },
  { down: 900, up: 2000, seconds: 60 },
  { down: 1800, up: Infinity, seconds: 300 },
] as const;

/** Returns the step for a number of nodes, given the current step. */
export function stepFor(nodes: number, current: number): number {
  let step = current;
  while (nodes > steps[step]!.up) step++;
  while (nodes < steps[step]!.down) step--;
  return step;
}

export function nodeTtlController(context: ControllerContext): Controller {
  const { client, view, dialect } = context;
  const annotation = dialect.names.annotations.nodeTtl;
  const queue = queueFor(context, "ttlcontroller", sync);
  let count = 0;
  let step = 0;
  const nodes = view.follow(kinds.nodes, ({ type, object }) => {
    if (type === "added") count++;
    if (type === "deleted") count--;
    const before = step;
    step = stepFor(count, step);
    if (step !== before) for (const { metadata } of nodes.items()) queue.add(metadata.name!);
    else if (type !== "deleted") queue.add(object.metadata.name!);
  });
  return { stopped: queue.stopped };

  async function sync(name: string): Promise<void> {
    const node = nodes.get(undefined, name);
    const seconds = String(steps[step]!.seconds);
    if (!node || node.metadata.annotations?.[annotation] === seconds) return;
    const patch = { metadata: { annotations: { [annotation]: seconds } } };
    await ignoreReasons(["NotFound"], patchObject(client.of(kinds.nodes), node, patch));
  }
}
