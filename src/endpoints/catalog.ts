// All APIs served under /api and /apis, indexed by group, version and resource.
import { type Dialect, groupName } from "#dialect";
import { type Endpoint, type Resource, type Verb, allVerbs } from "#registry";
import type { ApiCall } from "./api-call.ts";
import type { Reply } from "#http";
import type { Message } from "#schema";
import { builtInPriorities, customPriorities } from "./priorities.ts";
import type { Serves } from "./served-apis.ts";
import type { Target } from "./target.ts";

/**
 * A resource path with a dedicated handler instead of the generic verbs: reviews, bindings, logs, proxies.
 */
export interface VirtualResource {
  /** `pods/log`, `subjectaccessreviews`. */
  readonly path: string;
  readonly kind: string;
  /** The published declaration of a kind that is created, if it depends on the server. */
  readonly schema?: Message;
  readonly namespaced: boolean;
  readonly singular?: string;
  readonly shortNames?: readonly string[];
  /** Verbs as listed in discovery. */
  readonly verbs: readonly string[];
  /** Set if the kind belongs to another group than the path. */
  readonly kindGroup?: { readonly group: string; readonly version: string };
  handle(call: ApiCall): Promise<Reply>;
}

/** A version served by an extension API server. */
export interface RemoteVersion {
  readonly group: string;
  readonly version: string;
  readonly groupPriority: number;
  readonly versionPriority: number;
  readonly available: boolean;
  /** The resources as listed by the server's discovery. */
  resources(): readonly Record<string, unknown>[];
  /** Reports whether its discovery could be read. */
  discovered(): boolean;
  /** The server's description of its API, if known. */
  description?(): RemoteDescription | undefined;
}

export interface RemoteDescription {
  /** The OpenAPI 2 document. */
  readonly v2?: Readonly<Record<string, unknown>>;
  /** Paths of its OpenAPI 3 documents by name: `apis/example.com/v1`. */
  readonly v3?: ReadonlyMap<string, string>;
  /** Its aggregated discovery of the version, and whether that could be read. */
  readonly discovered?: {
    readonly resources: readonly Readonly<Record<string, unknown>>[];
    readonly fresh: boolean;
  };
}

export interface GroupVersion {
  /** Set if an extension API server serves the version: only what that reports is known about it. */
  readonly remote?: RemoteVersion;
  /** The group on the wire; empty for the core group. */
  readonly group: string;
  readonly version: string;
  readonly groupVersion: string;
  /** The group without the product's suffix. */
  readonly neutral: string;
  readonly endpoints: ReadonlyMap<string, Endpoint>;
  readonly virtual: ReadonlyMap<string, VirtualResource>;
}

export interface VirtualGroup {
  readonly group: string;
  readonly branded: boolean;
  readonly version: string;
  readonly endpoints: readonly VirtualResource[];
}

export interface Catalog {
  /** Incremented whenever the set of served APIs changes. */
  readonly generation: number;
  /** Reports whether the group is built in; others are added and removed with custom resource definitions. */
  isBuiltIn(group: string): boolean;
  readonly versions: readonly GroupVersion[];
  find(group: string, version: string): GroupVersion | undefined;
  /** The groups in discovery order, each with its versions, preferred first. */
  groups(): readonly { readonly name: string; readonly versions: readonly GroupVersion[] }[];
}

/** Reports whether a resource or subresource is served. */
export function isServed(
  catalog: Catalog,
  { group, version, resource, subresource }: Pick<Target, "group" | "version" | "resource" | "subresource">,
): boolean {
  const found = catalog.find(group, version);
  if (found?.virtual.has(subresource === "" ? resource : `${resource}/${subresource}`)) return true;
  const strategy = found?.endpoints.get(resource)?.resource.strategy;
  if (!strategy || subresource === "") return strategy !== undefined;
  return (
    (subresource === "scale" && strategy.scale !== undefined) ||
    Object.hasOwn(strategy.subresources ?? {}, subresource)
  );
}

/** Reports whether any resource of a version is served: `apps/v1`, or `v1` for the core group. */
export function servesVersion(catalog: Catalog, version: string): boolean {
  const cut = version.indexOf("/");
  return catalog.find(version.slice(0, Math.max(cut, 0)), version.slice(cut + 1)) !== undefined;
}

// The group of API services precedes all groups that API services can define.
const aggregationGroup = "apiregistration";

/** The priority by which groups are ordered for clients. */
const groupPriority = (neutral: string, version: string): number =>
  neutral === aggregationGroup ? Infinity : builtInPriorities(neutral, version).groupPriorityMinimum;

const byRank = ([a, one]: readonly [string, number], [b, other]: readonly [string, number]): number =>
  one === other ? (a < b ? -1 : 1) : other - one;

export function catalog(
  resources: readonly Resource[],
  specials: readonly VirtualGroup[],
  dialect: Dialect,
  serves: Serves = () => true,
): Catalog {
  const versions = new Map<
    string,
    {
      group: string;
      neutral: string;
      version: string;
      endpoints: Map<string, Endpoint>;
      virtual: Map<string, VirtualResource>;
    }
  >();
  const at = (neutral: string, branded: boolean, version: string) => {
    const group = groupName(dialect, { group: neutral, branded });
    const id = `${group}/${version}`;
    let known = versions.get(id);
    if (!known)
      versions.set(id, (known = { group, neutral, version, endpoints: new Map(), virtual: new Map() }));
    return known;
  };
  for (const resource of resources) {
    for (const endpoint of resource.endpoints) {
      if (!serves(endpoint.group, endpoint.version, resource.strategy.resource)) continue;
      at(endpoint.schema.kind.group, endpoint.schema.kind.branded, endpoint.version).endpoints.set(
        resource.strategy.resource,
        endpoint,
      );
    }
  }
  for (const special of specials) {
    const group = groupName(dialect, special);
    for (const endpoint of special.endpoints) {
      if (serves(group, special.version, endpoint.path.split("/", 1)[0]!))
        at(special.group, special.branded, special.version).virtual.set(endpoint.path, endpoint);
    }
  }
  const list: (GroupVersion & { neutral: string })[] = [...versions.values()].map((item) => ({
    ...item,
    groupVersion: item.group ? `${item.group}/${item.version}` : item.version,
  }));
  const groups = [...new Set(list.filter(({ group }) => group !== "").map(({ group }) => group))].map(
    (name) => {
      const own = list
        .filter(({ group }) => group === name)
        .sort((a, b) => compareVersions(a.version, b.version));
      return { name, priority: groupPriority(own[0]!.neutral, own[0]!.version), versions: own };
    },
  );
  groups.sort((a, b) => byRank([a.name, a.priority], [b.name, b.priority]));
  const names = new Set(list.map(({ group }) => group));
  return {
    generation: 0,
    isBuiltIn: (group) => names.has(group),
    versions: list,
    find: finderIn(list),
    groups: () => groups,
  };
}

/** Called for every request: looking up two short names is faster than building a combined key. */
function finderIn(versions: readonly GroupVersion[]): Catalog["find"] {
  const byGroup = new Map<string, Map<string, GroupVersion>>();
  for (const item of versions)
    byGroup.getOrInsertComputed(item.group, () => new Map<string, GroupVersion>()).set(item.version, item);
  return (group, version) => byGroup.get(group)?.get(version);
}

/** APIs added by custom resource definitions. */
export interface CustomEndpoints {
  generation(): number;
  served(): readonly Endpoint[];
}

/** APIs added by extension API servers. */
export interface RemoteVersions {
  generation(): number;
  remote(): readonly RemoteVersion[];
}

/**
 * Returns a catalog that follows custom resource definitions. It is rebuilt on the first access after a
 * change.
 */
export function dynamicCatalog(base: Catalog, custom: CustomEndpoints, remote: RemoteVersions): Catalog {
  let made = { generation: -1, catalog: base };
  const current = (): Catalog => {
    const generation = custom.generation() + remote.generation();
    if (generation !== made.generation)
      made = { generation, catalog: extended(base, custom, remote, made.catalog) };
    return made.catalog;
  };
  return {
    get generation() {
      return custom.generation() + remote.generation();
    },
    get versions() {
      return current().versions;
    },
    isBuiltIn: (group) => base.isBuiltIn(group),
    find: (group, version) => current().find(group, version),
    groups: () => current().groups(),
  };
}

/**
 * Builds a catalog, reusing the versions that have not changed, so that data derived from them stays valid.
 */
function extended(base: Catalog, custom: CustomEndpoints, remote: RemoteVersions, before: Catalog): Catalog {
  const byId = new Map(base.versions.map((item) => [`${item.group}/${item.version}`, item]));
  const own = new Map<string, Map<string, Endpoint>>();
  for (const endpoint of custom.served()) {
    const { group, version, resource } = endpoint;
    const id = `${group}/${version}`;
    // Built-in versions are not extended.
    if (base.find(group, version)) continue;
    let endpoints = own.get(id);
    if (!endpoints) {
      own.set(id, (endpoints = new Map()));
      byId.set(id, { group, version, groupVersion: id, neutral: group, virtual: new Map(), endpoints });
    }
    endpoints.set(resource.strategy.resource, endpoint);
  }
  for (const [id, endpoints] of own) {
    const { group, version } = byId.get(id)!;
    const known = before.find(group, version);
    if (known && sameEndpoints(known.endpoints, endpoints)) byId.set(id, known);
  }
  const versions = [...byId.values()];
  const rank = new Map<string, number>();
  const ranked = (group: string, priority: number): void =>
    void rank.set(group, Math.max(rank.get(group) ?? 0, priority));
  for (const { group, neutral, version } of base.versions)
    if (group !== "") ranked(group, groupPriority(neutral, version));
  for (const id of own.keys()) ranked(byId.get(id)!.group, customPriorities.groupPriorityMinimum);
  for (const found of remote.remote()) {
    const { group, version } = found;
    ranked(group, found.groupPriority);
    const item: GroupVersion = {
      group,
      version,
      groupVersion: `${group}/${version}`,
      neutral: group,
      endpoints: new Map(),
      virtual: new Map(),
      remote: found,
    };
    const at = versions.findIndex((known) => known.group === group && known.version === version);
    if (at < 0) versions.push(item);
    else versions[at] = item;
  }
  const names = [...rank].sort(byRank).map(([name]) => name);
  const perGroup = new Map<string, GroupVersion[]>();
  for (const version of versions) {
    const known = perGroup.get(version.group);
    if (known) known.push(version);
    else perGroup.set(version.group, [version]);
  }
  const priorityOf = ({ remote: found, group, neutral, version }: GroupVersion): number =>
    found?.versionPriority ??
    (own.has(`${group}/${version}`) ? customPriorities : builtInPriorities(neutral, version)).versionPriority;
  const groups = names.map((name) => ({
    name,
    versions: perGroup
      .get(name)!
      .sort((a, b) => priorityOf(b) - priorityOf(a) || compareVersions(a.version, b.version)),
  }));
  return {
    generation: custom.generation() + remote.generation(),
    isBuiltIn: (group) => base.isBuiltIn(group),
    versions,
    find: finderIn(versions),
    groups: () => groups,
  };
}

const sameEndpoints = (one: ReadonlyMap<string, Endpoint>, other: ReadonlyMap<string, Endpoint>): boolean =>
  one.size === other.size && [...one].every(([name, endpoint]) => other.get(name) === endpoint);

/** Compares versions: stable ones first, then higher ones: v2, v1, v1beta2, v1alpha1. */
export function compareVersions(a: string, b: string): number {
  const parse = (text: string): [number, number, number] => {
    const match = /^v(\d+)(?:(alpha|beta)(\d+))?$/.exec(text);
    if (!match) return [0, 0, 0];
    return [
      match[2] === undefined ? 3 : match[2] === "beta" ? 2 : 1,
      Number(match[1]),
      Number(match[3] ?? 0),
    ];
  };
  const [x, y] = [parse(a), parse(b)];
  return y[0] - x[0] || y[1] - x[1] || y[2] - x[2] || (a < b ? -1 : 1);
}

export const verbsOf = (endpoint: Endpoint): readonly Verb[] => endpoint.resource.strategy.verbs ?? allVerbs;
