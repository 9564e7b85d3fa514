// Enforces node allocatable: limits on the group of all pods, and on the groups of reserved resources.
import type { Clock, Log } from "#base";
import { sharesOf } from "../plan/amounts.ts";
import type { EventRecorder } from "../interfaces.ts";
import type { CgroupLimits, CgroupTree } from "./cgroup-tree.ts";
import { milli, whole } from "./pod-cgroups.ts";

export interface NodeLimitsOptions {
  readonly tree: CgroupTree;
  readonly clock: Clock;
  readonly log: Log;
  readonly events: EventRecorder;
  readonly nodeName: string;
}

type Amounts = Readonly<Record<string, string>>;

const retryMilliseconds = 60_000;

export interface NodeLimits {
  /**
   * Limits all pods together to these amounts. Existing pods may use more: the kernel rejects the limit until
   * they do not, so it is retried.
   */
  limitPods(group: string, amounts: Amounts, signal: AbortSignal): Promise<void>;
  /** Limits an existing group to its reservation; `what` names it, as in "system reserved". */
  limitReserved(what: string, group: string, amounts: Amounts): Promise<void>;
}

export function nodeLimits({ tree, clock, log, events, nodeName }: NodeLimitsOptions): NodeLimits {
  const node = { kind: "Node", name: nodeName, uid: nodeName };
  const done = (message: string): void => events.event(node, "Normal", "NodeAllocatableEnforced", message);
  const failed = (message: string): void =>
    events.event(node, "Warning", "FailedNodeAllocatableEnforcement", message);
  return {
    limitPods: async (group, amounts, signal) => {
      while (!signal.aborted) {
        try {
          await tree.limit(group, limitsOf(amounts));
          done("Updated Node Allocatable limit across pods");
          return;
        } catch (error) {
          const { message } = error as Error;
          log.warn("failed to enforce node allocatable limits; will retry", {
            group,
            error: message,
          });
          const names = group.split("/").filter((name) => name !== "");
          failed(
            `Failed to update Node Allocatable Limits [${names.map((name) => JSON.stringify(name)).join(" ")}]: ${message}`,
          );
        }
        await clock.sleep(retryMilliseconds, signal).catch(() => undefined);
      }
    },
    limitReserved: async (what, group, amounts) => {
      try {
        if (!(await tree.exists(group)))
          throw new Error(
            `the control group ${group} does not exist, so that its reservation cannot be enforced`,
          );
        await tree.limit(group, limitsOf(amounts));
      } catch (error) {
        const title = what.replace(/\b[a-z]/g, (letter) => letter.toUpperCase());
        failed(
          `Failed to enforce ${title} Cgroup Limits on ${JSON.stringify(group)}: ${(error as Error).message}`,
        );
        throw error;
      }
      done(`Updated limits on ${what} cgroup ${group}`);
    },
  };
}

/** Converts resource amounts of a node to cgroup limits. */
export function limitsOf(amounts: Amounts): CgroupLimits {
  const [milliCpu, memory, pids] = [milli(amounts["cpu"]), whole(amounts["memory"]), whole(amounts["pid"])];
  return {
    ...(milliCpu > 0 && { cpuShares: sharesOf(milliCpu) }),
    ...(memory > 0 && { memoryBytes: memory }),
    ...(pids > 0 && { pids }),
  };
}
