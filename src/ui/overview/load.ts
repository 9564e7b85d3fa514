// Loads the data of the overview in separate requests: a user who may not see one part still sees the others.
import type { Client } from "../api/client.ts";
import type { BucketList, List, Namespace, Node, NodeUse, Pod, Timeline } from "../api/wire.ts";
import { pathOf } from "../timeline/request.ts";
import { type Problem, nodeProblems, podProblems, ranked, warningProblems } from "./problems.ts";

export interface Scope {
  readonly client: Client;
  /** The path of the timeline group. */
  readonly timeline: string;
  /** Empty for the whole cluster. */
  readonly namespace: string;
}

const pageSize = 500;
export const maxPods = 5000;

export interface Pods {
  readonly pods: readonly Pod[];
  /** Whether more pods exist than were loaded. */
  readonly isPart: boolean;
}

export async function loadPods({ client, namespace }: Scope, signal: AbortSignal): Promise<Pods> {
  const pods: Pod[] = [];
  let next: string | undefined;
  do {
    const list: List<Pod> = await client.json<List<Pod>>(
      `${pathOf("/api/v1", namespace)}/pods`,
      { limit: pageSize, continue: next },
      signal,
    );
    pods.push(...list.items);
    next = list.metadata.continue || undefined;
  } while (next !== undefined && pods.length < maxPods);
  return { pods, isPart: next !== undefined };
}

/** Event reasons of problems that the state of objects does not show, or only briefly. */
const warningReasons = [
  "Unhealthy",
  "Evicted",
  "Preempted",
  "FailedMount",
  "FailedCreate",
  "OOMKilling",
  "SystemOOM",
];

export interface Problems {
  readonly list: readonly Problem[];
  /** Whether some pods were not checked. */
  readonly isPart: boolean;
}

export async function loadProblems(scope: Scope, signal: AbortSignal, now: number): Promise<Problems> {
  const { client, timeline, namespace } = scope;
  const [{ pods, isPart }, warnings, nodes] = await Promise.all([
    loadPods(scope, signal),
    client.json<Timeline>(
      `${pathOf(timeline, namespace)}/timelines`,
      { type: "Warning", reason: warningReasons, since: "15m", order: "newest", limit: pageSize },
      signal,
    ),
    namespace === "" ? loadNodes(scope, signal).catch(() => undefined) : undefined,
  ]);
  const list = ranked([
    ...(nodes?.nodes ?? []).flatMap(nodeProblems),
    ...podProblems(pods, now),
    ...warningProblems(warnings.items, new Set(warningReasons)),
  ]);
  return { list, isPart };
}

export interface Nodes {
  readonly nodes: readonly Node[];
  readonly isPart: boolean;
  /** By node name; empty without a metrics API. */
  readonly use: ReadonlyMap<string, NodeUse>;
}

export async function loadNodes({ client }: Scope, signal: AbortSignal): Promise<Nodes> {
  const [{ items, metadata }, use] = await Promise.all([
    client.json<List<Node>>("/api/v1/nodes", { limit: pageSize }, signal),
    nodeUse(client, signal).catch(() => []),
  ]);
  const isPart = Boolean(metadata.continue);
  return { nodes: items, isPart, use: new Map(use.map((each) => [each.metadata.name, each])) };
}

interface Groups {
  readonly groups: readonly {
    readonly name: string;
    readonly preferredVersion: { readonly groupVersion: string };
  }[];
}

async function nodeUse(client: Client, signal: AbortSignal): Promise<readonly NodeUse[]> {
  const { groups } = await client.json<Groups>("/apis", {}, signal);
  const metrics = groups.find(({ name }) => name.startsWith("metrics."));
  if (!metrics) return [];
  const path = `/apis/${metrics.preferredVersion.groupVersion}/nodes`;
  return (await client.json<List<NodeUse>>(path, {}, signal)).items;
}

export interface NamespaceRow {
  readonly name: string;
  readonly phase: string;
  readonly warnings: number;
}

/** Loads namespaces with their warnings of the last hour, the one with the most first. */
export async function loadNamespaces(
  { client, timeline }: Scope,
  signal: AbortSignal,
): Promise<readonly NamespaceRow[]> {
  const [{ items }, buckets] = await Promise.all([
    client.json<List<Namespace>>("/api/v1/namespaces", { limit: pageSize }, signal),
    client
      .json<BucketList>(
        `${timeline}/buckets`,
        { by: "namespace", type: "Warning", since: "1h", points: 1 },
        signal,
      )
      .catch(() => undefined),
  ]);
  const counts = new Map(buckets?.groups.map(({ by, total }) => [by["namespace"], total]));
  return items
    .map(({ metadata: { name }, status }) => ({
      name,
      phase: status.phase ?? "",
      warnings: counts.get(name) ?? 0,
    }))
    .sort((a, b) => b.warnings - a.warnings || (a.name < b.name ? -1 : 1));
}
