// Detects containers killed by the kernel for memory. The event is attached to the node: the pod's status
// carries the reason as well, but only until the container ends once more.
import type { ContainerStatus, Pod, PodStatus } from "#api";
import { containersOf, initContainersOf, keyOf } from "../pod.ts";

/** The reason of the events and of the container terminations they report. */
export const memoryKill = "OOMKilled";

/** Returns a message for each container killed since the previous status. */
export function memoryKills(pod: Pod, now: PodStatus, before: PodStatus): string[] {
  const killed = killsOf(now);
  if (killed.length === 0) return [];
  const known = new Set(killsOf(before).map(({ id }) => id));
  return killed.flatMap(({ name, id }) => {
    if (known.has(id)) return [];
    const container = [...containersOf(pod), ...initContainersOf(pod)].find((each) => each.name === name);
    const limit = container?.resources?.limits?.["memory"];
    const allowed = limit === undefined ? "; it has no memory limit of its own" : ` (memory limit ${limit})`;
    return [`Container ${name} of pod ${keyOf(pod)} was killed by the kernel: out of memory${allowed}`];
  });
}

const killsOf = ({ containerStatuses, initContainerStatuses }: PodStatus): { name: string; id: string }[] =>
  [...(containerStatuses ?? []), ...(initContainerStatuses ?? [])].flatMap((status) =>
    endsOf(status).flatMap((end) =>
      end?.reason === memoryKill ? [{ name: status.name, id: end.containerID ?? "" }] : [],
    ),
  );

const endsOf = ({ state, lastState }: ContainerStatus) => [state.terminated, lastState.terminated];
