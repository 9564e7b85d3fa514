// The kinds the server serves, indexed by all their names.
import type { Resource } from "#registry";
import { type CachedObject, DirectSource, uidOf } from "#watchcache";
import { type ObjectName, isNodeByName } from "./lane.ts";

export interface ServedKind {
  readonly group: string;
  readonly kind: string;
  /** The plural, `deployments`. */
  readonly plural: string;
  /** The resource with its group, such as `deployments.apps`. */
  readonly groupResource: string;
  readonly resource: Resource;
  /** Whether its objects are cached in memory. */
  readonly cached: boolean;
}

/** Kinds defined while the server runs. */
export interface DefinedKinds {
  /** A counter that increases with every change of the kinds. */
  generation(): number;
  served(): readonly { readonly resource: Resource }[];
}

export class Kinds {
  readonly #builtIn: readonly Resource[];
  readonly #defined: DefinedKinds | undefined;
  #generation = -1;
  #byKind = new Map<string, ServedKind>();
  #byResource = new Map<string, ServedKind>();
  #byWord = new Map<string, Set<string>>();

  constructor(builtIn: readonly Resource[] = [], defined?: DefinedKinds) {
    this.#builtIn = builtIn;
    this.#defined = defined;
    this.refresh();
  }

  /** Picks up added and removed kinds; returns a counter that increases when there are any. */
  refresh(): number {
    const generation = this.#defined?.generation() ?? 0;
    if (generation === this.#generation) return generation;
    this.#generation = generation;
    const known = new Map(this.#byResource.values().map((served) => [served.resource, served]));
    this.#byKind = new Map();
    this.#byResource = new Map();
    this.#byWord = new Map();
    const defined = new Set(this.#defined?.served().map(({ resource }) => resource));
    for (const resource of [...this.#builtIn, ...defined]) this.#add(resource, known.get(resource));
    return generation;
  }

  /** Returns the revision up to which the built-in kinds are cached. */
  revision(): number {
    return this.#builtIn[0]?.source.revision() ?? 0;
  }

  has(served: ServedKind): boolean {
    return this.#byResource.get(served.groupResource) === served;
  }

  #add(resource: Resource, known: ServedKind | undefined): void {
    const { strategy, groupResource } = resource;
    for (const { group, kind } of resource.endpoints) {
      if (this.#byKind.has(`${kind}.${group}`)) continue;
      const first = this.#byResource.get(groupResource) ?? known;
      const served: ServedKind =
        first?.group === group && first.kind === kind
          ? first
          : {
              group,
              kind,
              plural: strategy.resource,
              groupResource,
              resource,
              cached: !(resource.source instanceof DirectSource),
            };
      this.#byKind.set(`${kind}.${group}`, served);
      if (!this.#byResource.has(groupResource)) this.#byResource.set(groupResource, served);
      for (const word of [strategy.resource, strategy.singular ?? "", ...(strategy.shortNames ?? [])])
        this.#byWord.getOrInsertComputed(word, () => new Set()).add(kind.toLowerCase());
    }
  }

  find(kind: string, group: string): ServedKind | undefined {
    return this.#byKind.get(`${kind}.${group}`);
  }

  byGroupResource(groupResource: string): ServedKind | undefined {
    return this.#byResource.get(groupResource);
  }

  groupResources(): Iterable<string> {
    return this.#byResource.keys();
  }

  /**
   * Returns the kinds whose changes are recorded: all except events and leases, which change constantly
   * without relevance.
   */
  journaled(): readonly ServedKind[] {
    return [...this.#byResource.values()].filter(
      ({ cached, plural }) => cached && plural !== "events" && plural !== "leases",
    );
  }

  /** Returns the distinct resources of these kinds. */
  resourcesOf(kinds: Iterable<{ readonly kind: string; readonly group: string }>): Set<string> {
    const found = new Set<string>();
    for (const { kind, group } of kinds) {
      const served = this.find(kind, group);
      if (served) found.add(served.groupResource);
    }
    return found;
  }

  /** Returns the kinds, in lower case, that a word denotes: itself, and those whose resource it names. */
  named(word: string): readonly string[] {
    return [word, ...(this.#byWord.get(word) ?? [])];
  }
}

/** Returns the live object with this uid, not another one with the same name. */
export function livingObject(
  { resource }: ServedKind,
  { namespace, name, uid }: ObjectName,
): CachedObject | undefined {
  const found = resource.source.getCached(resource.keyOf(namespace, name));
  return found && (uid === "" || uidOf(found) === uid) ? found : undefined;
}

/** Returns the object with the uid of the living node if its reporter knows only the name of the node. */
export function withUidOfNode(object: ObjectName, kinds: Kinds): ObjectName {
  const served = isNodeByName(object) ? kinds.find(object.kind, object.group) : undefined;
  const node = served && livingObject(served, { ...object, uid: "" });
  return node ? { ...object, uid: uidOf(node) } : object;
}

export const isAlive = (served: ServedKind, object: ObjectName): boolean =>
  livingObject(served, object) !== undefined;
