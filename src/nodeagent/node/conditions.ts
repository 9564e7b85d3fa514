// The node's conditions, and the events for their changes.
import type { NodeCondition } from "#api";
import { timeOfMillis } from "#base";
import type { Dialect } from "#dialect";

export interface NodeHealth {
  readonly memoryPressure: boolean;
  readonly diskPressure: boolean;
  readonly pidPressure: boolean;
  /** Why pods cannot run; empty if the node is ready. */
  readonly problems: readonly string[];
  /** Appended to the message of a ready node. */
  readonly notes?: readonly string[];
}

export interface ConditionsChange {
  readonly conditions: readonly NodeCondition[];
  /** Reasons of the events to record. */
  readonly events: readonly string[];
}

interface Pressure {
  readonly type: string;
  readonly isOn: (health: NodeHealth) => boolean;
  /** Reason, message and event for status True and for status False. */
  readonly on: readonly [reason: string, message: string, event: string];
  readonly off: readonly [reason: string, message: string, event: string];
}

export const memoryPressure = "MemoryPressure";

const pressures: readonly Pressure[] = [
  {
    type: memoryPressure,
    isOn: (health) => health.memoryPressure,
    on: ["HasInsufficientMemory", "has insufficient memory available", "NodeHasInsufficientMemory"],
    off: ["HasSufficientMemory", "has sufficient memory available", "NodeHasSufficientMemory"],
  },
  {
    type: "DiskPressure",
    isOn: (health) => health.diskPressure,
    on: ["HasDiskPressure", "has disk pressure", "NodeHasDiskPressure"],
    off: ["HasNoDiskPressure", "has no disk pressure", "NodeHasNoDiskPressure"],
  },
  {
    type: "PIDPressure",
    isOn: (health) => health.pidPressure,
    on: ["HasInsufficientPID", "has insufficient PID available", "NodeHasInsufficientPID"],
    off: ["HasSufficientPID", "has sufficient PID available", "NodeHasSufficientPID"],
  },
];

/**
 * Returns the updated conditions; those of other components are kept, and a new Ready condition comes last.
 */
export function nextConditions(
  before: readonly NodeCondition[],
  health: NodeHealth,
  now: number,
  dialect: Dialect,
): ConditionsChange {
  const { agent } = dialect.cli;
  const time = timeOfMillis(now);
  const conditions = [...before];
  const events: string[] = [];
  const reasonOf = (word: string): string => dialect.spelling.word(`NodeAgent${word}`);
  const setCondition = (type: string, status: string, reason: string, message: string): boolean => {
    const at = conditions.findIndex((condition) => condition.type === type);
    const old = conditions[at];
    const changed = old?.status !== status;
    const condition: NodeCondition = {
      type,
      status,
      lastHeartbeatTime: time,
      lastTransitionTime: changed ? time : (old?.lastTransitionTime ?? time),
      reason,
      message,
    };
    if (at < 0) conditions.push(condition);
    else conditions[at] = condition;
    return changed;
  };
  for (const { type, isOn, on, off } of pressures) {
    const [reason, message, event] = isOn(health) ? on : off;
    if (setCondition(type, isOn(health) ? "True" : "False", reasonOf(reason), `${agent} ${message}`))
      events.push(event);
  }
  const isReady = health.problems.length === 0;
  const known = before.some(({ type }) => type === "Ready");
  const problems =
    health.problems.length > 1 ? `[${health.problems.join(", ")}]` : (health.problems[0] ?? "");
  const message = isReady
    ? [`${agent} is posting ready status`, ...(health.notes ?? [])].join(". ")
    : problems;
  const changed = setCondition(
    "Ready",
    isReady ? "True" : "False",
    reasonOf(isReady ? "Ready" : "NotReady"),
    message,
  );
  if (changed && known) events.push(isReady ? "NodeReady" : "NodeNotReady");
  return { conditions, events };
}
