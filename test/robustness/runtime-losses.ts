// Containers that the runtime itself has ended: killed while they ran, it did not find them again when it came
// back. Its own statuses and the times at which it was away say so; what the agent tells is not asked.
import { type ContainerRuntime, type ContainerStatus, containerState, millisecondsOf } from "#cri";

export interface RuntimeLosses {
  /** The runtime was killed at the first time, and ready again at the second. */
  wasAway(from: number, to: number): void;
  /** Reads the statuses of containers that have ended since the last look. */
  look(runtime: ContainerRuntime): Promise<void>;
  /** Whether the container, with or without the scheme that the API puts before its id, was lost. */
  has(containerId: string): boolean;
  count(): number;
}

export function runtimeLosses(): RuntimeLosses {
  const outages: { readonly from: number; readonly to: number }[] = [];
  const ended = new Map<string, ContainerStatus>();
  const isLost = ({ exitCode, reason, finishedAt }: ContainerStatus): boolean => {
    if (exitCode !== 255 || reason !== "Unknown") return false;
    const at = millisecondsOf(finishedAt) ?? 0;
    return outages.some(({ from, to }) => from <= at && at <= to);
  };
  return {
    wasAway: (from, to) => void outages.push({ from, to }),
    look: async (runtime) => {
      for (const { id } of await runtime.listContainers({ state: { state: containerState.exited } })) {
        if (ended.has(id)) continue;
        // One that is removed meanwhile stays unknown, and so does not count as lost.
        const known = await runtime.containerStatus(id).catch(() => undefined);
        if (known) ended.set(id, known.status);
      }
    },
    has: (containerId) => {
      const status = ended.get(containerId.replace(/^.*:\/\//, ""));
      return status !== undefined && isLost(status);
    },
    count: () => [...ended.values()].filter(isLost).length,
  };
}
