// The debug dumps of flow control, as tables with kube-apiserver's columns.
import type { PriorityLevel } from "./level.ts";
import type { Queue } from "./queue-set.ts";

const levelColumns = [
  "PriorityLevelName",
  "ActiveQueues",
  "IsIdle",
  "IsQuiescing",
  "WaitingRequests",
  "ExecutingRequests",
  "DispatchedRequests",
  "RejectedRequests",
  "TimedoutRequests",
  "CancelledRequests",
];
const queueColumns = [
  "PriorityLevelName",
  "Index",
  "PendingRequests",
  "ExecutingRequests",
  "SeatsInUse",
  "NextDispatchR",
  "InitialSeatsSum",
  "MaxSeatsSum",
  "TotalWorkSum",
];
const requestColumns = [
  "PriorityLevelName",
  "FlowSchemaName",
  "QueueIndex",
  "RequestIndexInQueue",
  "FlowDistingsher",
  "ArriveTime",
  "InitialSeats",
  "FinalSeats",
  "AdditionalLatency",
];
const detailColumns = [
  "UserName",
  "Verb",
  "APIPath",
  "Namespace",
  "Name",
  "APIVersion",
  "Resource",
  "SubResource",
];

type Row = readonly (string | number | boolean)[];

export function dumpLevels(levels: readonly PriorityLevel[]): string {
  return table([
    levelColumns,
    ...byName(levels).map(({ name, queues, quiescing }): Row =>
      queues
        ? [
            name,
            queues.queues.filter(({ requests }) => requests.length > 0).length,
            queues.isIdle,
            quiescing,
            queues.waiting,
            queues.executing,
            queues.dispatched,
            queues.rejected,
            queues.timedOut,
            queues.cancelled,
          ]
        : none(name, levelColumns),
    ),
  ]);
}

export function dumpQueues(levels: readonly PriorityLevel[]): string {
  const row = (name: string, queue: Queue): Row => [
    name,
    queue.index,
    queue.requests.length,
    queue.executing,
    queue.seatsInUse,
    seatSeconds(queue.nextDispatchR),
    queue.initialSeatsSum,
    queue.maxSeatsSum,
    seatSeconds(queue.workSum),
  ];
  return table([
    queueColumns,
    ...byName(levels).flatMap(({ name, queues }) =>
      queues ? queues.queues.map((queue) => row(name, queue)) : [none(name, queueColumns)],
    ),
  ]);
}

export function dumpRequests(levels: readonly PriorityLevel[], details: boolean): string {
  const rows: Row[] = [details ? [...requestColumns, ...detailColumns] : requestColumns];
  for (const { name, queues } of byName(levels))
    for (const queue of queues?.queues ?? [])
      queue.requests.forEach(({ flow, distinguisher, arrivalTime, estimate, digest }, index) =>
        rows.push([
          name,
          flow.name,
          queue.index,
          index,
          distinguisher,
          new Date(arrivalTime).toISOString(),
          estimate.initialSeats,
          estimate.finalSeats,
          `${estimate.additionalMilliseconds / 1000}s`,
          ...(details
            ? [
                digest.userName,
                digest.verb,
                digest.path,
                digest.namespace,
                digest.name,
                digest.group ? `${digest.group}/${digest.version}` : digest.version,
                digest.resource,
                digest.subresource,
              ]
            : []),
        ]),
      );
  return table(rows);
}

const byName = (levels: readonly PriorityLevel[]): PriorityLevel[] =>
  levels.toSorted((a, b) => (a.name < b.name ? -1 : 1));
const none = (name: string, columns: readonly string[]): Row => [
  name,
  ...columns.slice(1).map(() => "<none>"),
];

/** Formats seat-milliseconds as kube-apiserver formats seat-seconds. */
const seatSeconds = (milliseconds: number): string => `${(milliseconds / 1000).toFixed(8)}ss`;

/** Formats a table with columns of at least eight characters, separated by a comma and spaces. */
function table(rows: readonly Row[]): string {
  const widths = rows[0]!.map((_, column) =>
    rows.reduce((width, row) => Math.max(width, String(row[column]).length + 2), 8),
  );
  const last = widths.length - 1;
  return rows
    .map((row) =>
      row
        .map((cell, column) => (column === last ? String(cell) : `${cell},`.padEnd(widths[column]!)))
        .join(""),
    )
    .join("\n")
    .concat("\n");
}
