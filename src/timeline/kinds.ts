// The kinds that the server serves, by all their names.
import type { Resource } from "#registry";
import { DirectSource, uidOf } from "#watchcache";
import type { ObjectName } from "./lane.ts";

export interface ServedKind {
  readonly group: string;
  readonly kind: string;
  /** The plural, `deployments`. */
  readonly plural: string;
  /** With the group, `deployments.apps`. */
  readonly groupResource: string;
  readonly resource: Resource;
  /** Whether its objects are in memory. */
  readonly cached: boolean;
}

export class Kinds {
  readonly #byKind = new Map<string, ServedKind>();
  readonly #byResource = new Map<string, ServedKind>();
  readonly #byWord = new Map<string, Set<string>>();

  constructor(resources: readonly Resource[] = []) {
    for (const resource of resources) this.add(resource);
  }

  add(resource: Resource): void {
    const { strategy, groupResource } = resource;
    for (const { group, kind } of resource.endpoints) {
      if (this.#byKind.has(`${kind}.${group}`)) continue;
      const served: ServedKind = {
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

  /** The resources of these kinds, each once. */
  resourcesOf(kinds: Iterable<{ readonly kind: string; readonly group: string }>): Set<string> {
    const found = new Set<string>();
    for (const { kind, group } of kinds) {
      const served = this.find(kind, group);
      if (served) found.add(served.groupResource);
    }
    return found;
  }

  /** Kinds in lower case that a word means: itself, or those whose resource it names. */
  named(word: string): readonly string[] {
    return [word, ...(this.#byWord.get(word) ?? [])];
  }
}

/** Whether the object itself exists now, not only one of its name. */
export function isAlive({ resource }: ServedKind, { namespace, name, uid }: ObjectName): boolean {
  const found = resource.source.getCached(resource.keyOf(namespace, name));
  return found !== undefined && (uid === "" || uidOf(found) === uid);
}
