// Priority and fairness as this server has it: seats from the settings, object counts from the caches, and the
// debug dumps.
import type { Clock, Metrics } from "#base";
import type { PathHandler } from "#endpoints";
import { FlowControl, dumpLevels, dumpQueues, dumpRequests } from "#fairness";
import { type Resource, mandatoryFlowSchemas, mandatoryPriorityLevels } from "#registry";
import type { ApiserverSettings } from "../options/settings.ts";

export interface ServerFlowControlOptions {
  readonly settings: Pick<
    ApiserverSettings,
    "maxRequestsInflight" | "maxMutatingRequestsInflight" | "requestTimeout"
  >;
  readonly resources: readonly Resource[];
  readonly clock: Clock;
  readonly metrics: Metrics;
}

export function serverFlowControl({
  settings,
  resources,
  clock,
  metrics,
}: ServerFlowControlOptions): FlowControl {
  const byName = new Map(
    resources.flatMap((resource) =>
      resource.endpoints.map(({ group }) => [`${group}/${resource.strategy.resource}`, resource] as const),
    ),
  );
  return new FlowControl({
    clock,
    metrics,
    serverSeats: settings.maxRequestsInflight + settings.maxMutatingRequestsInflight,
    maxWaitMilliseconds: settings.requestTimeout / 4,
    objectCount: (group, resource) => byName.get(`${group}/${resource}`)?.source.count(),
    mandatory: { levels: mandatoryPriorityLevels, schemas: mandatoryFlowSchemas },
  });
}

const dumpPrefix = "/debug/api_priority_and_fairness/";

export function flowControlDumps(flowControl: FlowControl): PathHandler {
  return ({ target: { path }, query }) => {
    if (!path.startsWith(dumpPrefix)) return undefined;
    const { levels } = flowControl;
    const dumps: Readonly<Record<string, () => string>> = {
      dump_priority_levels: () => dumpLevels(levels),
      dump_queues: () => dumpQueues(levels),
      dump_requests: () => dumpRequests(levels, (query.get("includeRequestDetails") ?? "") !== ""),
    };
    const dump = new Map(Object.entries(dumps)).get(path.slice(dumpPrefix.length));
    return (
      dump && {
        status: 200,
        headers: { "content-type": "text/plain; charset=utf-8" },
        body: Buffer.from(dump()),
      }
    );
  };
}
