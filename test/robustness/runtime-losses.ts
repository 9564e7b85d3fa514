// Containers ended by the runtime itself: after a kill of the runtime it did not recover them. Determined
// from its own statuses and outage times, not from what the agent reports.
import { type ContainerRuntime, type ContainerStatus, containerState, millisecondsOf } from "#cri";

export interface RuntimeLosses {
  /** Records that the runtime was killed at the first time and ready again at the second. */
  wasAway(from: number, to: number): void;
  /** Reads the statuses of containers that have exited since the last call. */
  look(runtime: ContainerRuntime): Promise<void>;
  /**
   * Reports whether the container was lost; accepts its id with or without the scheme that the API prefixes.
   */
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
        // A container that is removed meanwhile stays unknown, and so does not count as lost.
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
