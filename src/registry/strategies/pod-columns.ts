// Table columns of pods, including the status summarized as one word.
import {
  type ContainerStateTerminated,
  type ContainerStatus,
  type Pod,
  type TableRowCondition,
  isSidecar,
  runningContainers,
} from "#api";
import type { Column } from "../strategy.ts";
import { ageColumn, ago, nameColumn } from "./cells/columns.ts";
import { orNone } from "./cells/text.ts";

interface Shown {
  readonly ready: number;
  readonly reason: string;
  readonly restarts: number;
  readonly lastRestart: string | undefined;
}

const unreachable = "NodeLost";

function shown(pod: Pod): Shown {
  const { status, metadata } = pod;
  let reason = status.reason || status.phase || "";
  if (
    status.conditions?.some(
      (condition) => condition.type === "PodScheduled" && condition.reason === "SchedulingGated",
    )
  )
    reason = "SchedulingGated";
  const init = initializing(pod);
  const main = init ? { ...init, ready: 0 } : running(pod, reason);
  if (metadata.deletionTimestamp) reason = status.reason === unreachable ? "Unknown" : "Terminating";
  else reason = main.reason;
  // Once the main containers run, restarted init containers contribute the time of the last restart, but not
  // their count.
  const considered = init
    ? (status.initContainerStatuses ?? []).slice(0, init.upTo + 1)
    : [...(status.initContainerStatuses ?? []), ...(status.containerStatuses ?? [])];
  return { ready: main.ready, reason, restarts: main.restarts, lastRestart: latestEnd(considered) };
}

function latestEnd(statuses: readonly ContainerStatus[]): string | undefined {
  const times = statuses.flatMap(({ lastState }) => lastState.terminated?.finishedAt ?? []);
  return times.length ? times.reduce((a, b) => (Date.parse(a) < Date.parse(b) ? b : a)) : undefined;
}

const endedText = ({ reason, signal, exitCode }: ContainerStateTerminated): string =>
  reason || (signal ? `Signal:${signal}` : `ExitCode:${exitCode}`);

/** Returns the first init container that has not finished, if any. */
function initializing({
  spec,
  status,
}: Pod): { readonly reason: string; readonly restarts: number; readonly upTo: number } | undefined {
  let restarts = 0;
  const sidecars = sidecarNames(spec);
  for (const [position, { name, restartCount, state, started }] of (
    status.initContainerStatuses ?? []
  ).entries()) {
    restarts += restartCount;
    if (state.terminated?.exitCode === 0 || (started && sidecars.has(name))) continue;
    const waiting = state.waiting?.reason;
    const what = state.terminated
      ? endedText(state.terminated)
      : waiting && waiting !== "PodInitializing"
        ? waiting
        : `${position}/${spec.initContainers?.length ?? 0}`;
    return { reason: `Init:${what}`, restarts, upTo: position };
  }
  return undefined;
}

function running(
  { spec, status }: Pod,
  otherwise: string,
): { readonly ready: number; readonly reason: string; readonly restarts: number } {
  let [ready, restarts, reason] = [0, 0, otherwise];
  const sidecars = sidecarNames(spec);
  for (const { name, restartCount, state, ready: isReady } of status.initContainerStatuses ?? []) {
    if (!sidecars.has(name)) continue;
    restarts += restartCount;
    if (isReady && state.running) ready++;
  }
  for (const { restartCount, state, ready: isReady } of (status.containerStatuses ?? []).toReversed()) {
    restarts += restartCount;
    if (state.waiting?.reason) reason = state.waiting.reason;
    else if (state.terminated) reason = endedText(state.terminated);
    else if (isReady && state.running) ready++;
  }
  if (reason === "Completed" && ready > 0)
    reason = status.conditions?.some(({ type, status: is }) => type === "Ready" && is === "True")
      ? "Running"
      : "NotReady";
  return { ready, restarts, reason };
}

const sidecarNames = ({ initContainers }: Pod["spec"]): ReadonlySet<string> =>
  new Set(initContainers?.filter(isSidecar).map(({ name }) => name));

function gatesText({ spec, status }: Pod): string {
  const gates = spec.readinessGates ?? [];
  const open = gates.filter(
    ({ conditionType }) => status.conditions?.find(({ type }) => type === conditionType)?.status === "True",
  );
  return gates.length ? `${open.length}/${gates.length}` : "<none>";
}

export const podTableColumns: readonly Column<Pod>[] = [
  nameColumn,
  {
    name: "Ready",
    type: "string",
    doc: "Number of ready containers and of all containers.",
    cell: (pod) => `${shown(pod).ready}/${runningContainers(pod.spec).length}`,
  },
  {
    name: "Status",
    type: "string",
    doc: "Aggregate status of the containers of the pod.",
    cell: (pod) => shown(pod).reason,
  },
  {
    name: "Restarts",
    type: "string",
    doc: "Number of container restarts, and time since the last one.",
    cell: (pod, now) => {
      const { restarts, lastRestart } = shown(pod);
      return lastRestart ? `${restarts} (${ago(lastRestart, now)} ago)` : String(restarts);
    },
  },
  ageColumn,
  {
    name: "IP",
    type: "string",
    priority: 1,
    doc: "IP address of the pod.",
    cell: ({ status }) => orNone(status.podIPs?.[0]?.ip),
  },
  {
    name: "Node",
    type: "string",
    priority: 1,
    doc: "Node the pod runs on.",
    cell: ({ spec }) => orNone(spec.nodeName),
  },
  {
    name: "Nominated Node",
    type: "string",
    priority: 1,
    doc: "Node on which pods are preempted for this pod.",
    cell: ({ status }) => orNone(status.nominatedNodeName),
  },
  {
    name: "Readiness Gates",
    type: "string",
    priority: 1,
    doc: "Number of fulfilled and of all readiness gates.",
    cell: gatesText,
  },
];

/** Marks the rows of finished pods, so that clients can hide them. */
export function podRowConditions({ status: { phase } }: Pod): readonly TableRowCondition[] | undefined {
  if (phase !== "Succeeded" && phase !== "Failed") return undefined;
  return [
    {
      type: "Completed",
      status: "True",
      reason: phase,
      message:
        phase === "Succeeded"
          ? "All containers of the pod have ended well."
          : "A container of the pod has failed.",
    },
  ];
}
