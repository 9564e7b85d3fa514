// Wires priority and fairness to this server: seats from the settings, object counts from the caches, and the
// debug dumps.
import { type Clock, type Metrics, minorOf } from "#base";
import type { CustomEndpoints, PathHandler } from "#endpoints";
import { FlowControl, dumpLevels, dumpQueues, dumpRequests } from "#fairness";
import { type Endpoint, type Resource, mandatoryFlowSchemas, mandatoryLevelsOf } from "#registry";
import type { ApiserverSettings } from "../options/settings.ts";

export interface ServerFlowControlOptions {
  readonly settings: Pick<
    ApiserverSettings,
    "release" | "maxRequestsInflight" | "maxMutatingRequestsInflight" | "requestTimeout"
  >;
  readonly resources: readonly Resource[];
  /** Endpoints of custom resource definitions. */
  readonly defined: CustomEndpoints;
  readonly clock: Clock;
  readonly metrics: Metrics;
}

export function serverFlowControl({
  settings,
  resources,
  defined,
  clock,
  metrics,
}: ServerFlowControlOptions): FlowControl {
  return new FlowControl({
    clock,
    metrics,
    serverSeats: settings.maxRequestsInflight + settings.maxMutatingRequestsInflight,
    maxWaitMilliseconds: settings.requestTimeout / 4,
    objectCount: objectCounter(resources, defined),
    mandatory: { levels: mandatoryLevelsOf(minorOf(settings.release)), schemas: mandatoryFlowSchemas },
  });
}

type CountObjects = (group: string, resource: string) => number | undefined;

/** Returns the number of objects of a resource; lists of many objects take more seats. */
export function objectCounter(resources: readonly Resource[], defined: CustomEndpoints): CountObjects {
  const builtIn = byName(resources.flatMap(({ endpoints }) => endpoints));
  let known = { generation: -1, custom: builtIn };
  return (group, resource) => {
    const name = `${group}/${resource}`;
    const generation = defined.generation();
    if (!builtIn.has(name) && known.generation !== generation)
      known = { generation, custom: byName(defined.served()) };
    return (builtIn.get(name) ?? known.custom.get(name))?.source.count();
  };
}

const byName = (endpoints: readonly Endpoint[]): ReadonlyMap<string, Resource> =>
  new Map(endpoints.map(({ group, resource }) => [`${group}/${resource.strategy.resource}`, resource]));

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
