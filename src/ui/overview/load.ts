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
export const maxLoaded = 5000;

/** Objects of one kind. */
export interface Part<T> {
  readonly items: readonly T[];
  /** Whether more exist than were loaded. */
  readonly isPart: boolean;
}

/** Loads objects page by page, up to a limit. */
export async function loadPages<T>(client: Client, path: string, signal: AbortSignal): Promise<Part<T>> {
  const items: T[] = [];
  let next: string | undefined;
  do {
    const list: List<T> = await client.json<List<T>>(path, { limit: pageSize, continue: next }, signal);
    items.push(...list.items);
    next = list.metadata.continue || undefined;
  } while (next !== undefined && items.length < maxLoaded);
  return { items, isPart: next !== undefined };
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
  /** The kinds of which some objects were not checked. */
  readonly unchecked: readonly ("pods" | "nodes")[];
}

export async function loadProblems(scope: Scope, signal: AbortSignal, now: number): Promise<Problems> {
  const { client, timeline, namespace } = scope;
  const [pods, warnings, nodes] = await Promise.all([
    loadPages<Pod>(client, `${pathOf("/api/v1", namespace)}/pods`, signal),
    client.json<Timeline>(
      `${pathOf(timeline, namespace)}/timelines`,
      { type: "Warning", reason: warningReasons, since: "15m", order: "newest", limit: pageSize },
      signal,
    ),
    namespace === "" ? loadPages<Node>(client, "/api/v1/nodes", signal).catch(() => undefined) : undefined,
  ]);
  const list = ranked([
    ...(nodes?.items ?? []).flatMap(nodeProblems),
    ...podProblems(pods.items, now),
    ...warningProblems(warnings.items, new Set(warningReasons)),
  ]);
  return {
    list,
    unchecked: [...(pods.isPart ? ["pods" as const] : []), ...(nodes?.isPart ? ["nodes" as const] : [])],
  };
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

/** Loads namespaces with their warnings of the last hour, the one with the most first; only these if there are many. */
export async function loadNamespaces(
  { client, timeline }: Scope,
  signal: AbortSignal,
): Promise<Part<NamespaceRow>> {
  const [{ items, isPart }, buckets] = await Promise.all([
    loadPages<Namespace>(client, "/api/v1/namespaces", signal),
    client
      .json<BucketList>(
        `${timeline}/buckets`,
        { by: "namespace", type: "Warning", since: "1h", points: 1 },
        signal,
      )
      .catch(() => undefined),
  ]);
  const counts = new Map(buckets?.groups.map(({ by, total }) => [by["namespace"], total]));
  const rows = items
    .map(({ metadata: { name }, status }) => ({
      name,
      phase: status.phase ?? "",
      warnings: counts.get(name) ?? 0,
    }))
    .sort((a, b) => b.warnings - a.warnings || (a.name < b.name ? -1 : 1));
  return { items: rows.slice(0, pageSize), isPart: isPart || rows.length > pageSize };
}
