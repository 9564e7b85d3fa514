// Serves the resource metrics API: current usage of nodes and pods, for `kubectl top` and autoscalers.
// Authorization is done by the API server that aggregates it.
import {
  ApiError,
  type Selector,
  SelectorError,
  badRequest,
  methodNotAllowed,
  notFound,
  parseLabelSelector,
  selector,
} from "#base";
import { type AnyObject, kinds } from "#client";
import type { ClusterView } from "#controllerkit";
import type { Dialect } from "#dialect";
import { type Call, type Reply, parseQuery } from "#http";
import { nodeMetrics, podMetrics } from "./metric-objects.ts";
import type { NodeUsageSource } from "./node-usage-source.ts";

export interface MetricsApiOptions {
  readonly dialect: Dialect;
  readonly view: ClusterView;
  readonly figures: NodeUsageSource;
  readonly now: () => number;
}

export const metricsVersion = "v1beta1";
export const metricsGroup = (dialect: Dialect): string => `metrics.${dialect.wire.groupSuffix}`;

/** Returns the handler of all requests; it never throws. */
export function metricsApi(options: MetricsApiOptions): (call: Call) => Promise<Reply> {
  const { dialect, view, figures, now } = options;
  const nodes = view.follow(kinds.nodes);
  const pods = view.follow(kinds.pods);
  const group = metricsGroup(dialect);
  const groupVersion = `${group}/${metricsVersion}`;

  async function respond(call: Call): Promise<object> {
    if (call.method !== "GET") throw methodNotAllowed();
    const [root, requestedGroup, version, ...rest] = call.path.split("/").slice(1).map(decodeURIComponent);
    if (root !== "apis" || requestedGroup !== group) throw unknownPath();
    if (version === undefined) return discoveredGroup(group, groupVersion);
    if (version !== metricsVersion) throw unknownPath();
    if (rest.length === 0) return discoveredResources(groupVersion);
    const isNamespaced = rest[0] === "namespaces";
    const namespace = isNamespaced ? rest[1] : undefined;
    const [resource, name, ...more] = isNamespaced ? rest.slice(2) : rest;
    if (more.length > 0) throw unknownPath();
    await view.synced();
    if (resource === "nodes" && !isNamespaced) return await answerNodes(name, call.search);
    if (resource === "pods" && (isNamespaced || name === undefined))
      return await answerPods(namespace, name, call.search);
    throw unknownPath();
  }

  async function answerNodes(name: string | undefined, search: string): Promise<object> {
    if (name === undefined)
      return list("NodeMetricsList", await nodeMetrics(selected(nodes.items(), search), figures, now()));
    const node = nodes.get(undefined, name);
    const [found] = node ? await nodeMetrics([node], figures, now()) : [];
    if (!found) throw notFound({ group, resource: "nodes" }, name);
    return { kind: "NodeMetrics", apiVersion: groupVersion, ...found };
  }

  async function answerPods(
    namespace: string | undefined,
    name: string | undefined,
    search: string,
  ): Promise<object> {
    if (name === undefined) {
      const candidates = namespace === undefined ? pods.items() : pods.inNamespace(namespace);
      return list("PodMetricsList", await podMetrics(selected(candidates, search), figures, now()));
    }
    const pod = pods.get(namespace, name);
    const [found] = pod ? await podMetrics([pod], figures, now()) : [];
    if (!found) throw notFound({ group, resource: "pods" }, `${namespace}/${name}`);
    return { kind: "PodMetrics", apiVersion: groupVersion, ...found };
  }

  const list = (kind: string, items: readonly object[]): object => ({
    kind,
    apiVersion: groupVersion,
    metadata: {},
    items,
  });

  return async (call) => {
    try {
      return reply(200, await respond(call));
    } catch (error) {
      const known =
        error instanceof ApiError ? error : new ApiError(500, "InternalError", (error as Error).message);
      return reply(known.code, statusOf(known));
    }
  };
}

function selected<T extends AnyObject>(objects: Iterable<T>, search: string): T[] {
  const { matches } = selectorIn(search);
  const keyOf = ({ metadata }: T): string => `${metadata.namespace ?? ""}/${metadata.name}`;
  return [...objects]
    .filter(({ metadata: { labels = {} } }) => matches({ labels: labels ?? {}, fields: {} }))
    .toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
}

function selectorIn(search: string): Selector {
  try {
    return selector(parseLabelSelector(parseQuery(search).get("labelSelector") ?? ""), []);
  } catch (error) {
    if (error instanceof SelectorError) throw badRequest(error.message);
    throw error;
  }
}

const discoveredGroup = (name: string, groupVersion: string): object => ({
  kind: "APIGroup",
  apiVersion: "v1",
  name,
  versions: [{ groupVersion, version: metricsVersion }],
  preferredVersion: { groupVersion, version: metricsVersion },
});

const discoveredResources = (groupVersion: string): object => ({
  kind: "APIResourceList",
  apiVersion: "v1",
  groupVersion,
  resources: [
    { name: "nodes", singularName: "", namespaced: false, kind: "NodeMetrics", verbs: ["get", "list"] },
    { name: "pods", singularName: "", namespaced: true, kind: "PodMetrics", verbs: ["get", "list"] },
  ],
});

const unknownPath = (): ApiError =>
  new ApiError(404, "NotFound", "the server could not find the requested resource", {});

const statusOf = ({ message, reason, details, code }: ApiError): object => ({
  kind: "Status",
  apiVersion: "v1",
  metadata: {},
  status: "Failure",
  message,
  reason,
  ...(details && { details }),
  code,
});

const reply = (status: number, body: object): Reply => ({
  status,
  headers: { "content-type": "application/json" },
  body: Buffer.from(JSON.stringify(body)),
});
