// Ownership of live objects, and of deleted ones that still have journal records.
import type { Filter } from "./filter.ts";
import { type ObjectName, groupOf } from "./lane.ts";
import type { OwnerInfo } from "./wire.ts";

/** An object with owners. */
export interface OwnedObject extends ObjectName {
  readonly owners: readonly OwnerInfo[];
}

/** Maximum length of an owner chain; longer ones are a user error. */
const maxLevels = 16;

export class OwnerGraph {
  readonly #owned = new Map<string, OwnedObject>();
  readonly #below = new Map<string, Set<string>>();
  /** Owners as described by the references to them. */
  readonly #owners = new Map<string, OwnerInfo & { readonly namespace: string }>();

  #version = 0;

  /** Changes whenever the graph changes. */
  get version(): number {
    return this.#version;
  }

  /** Adds an object, or replaces its owners. */
  set(object: OwnedObject): void {
    this.delete(object.uid);
    if (object.owners.length === 0) return;
    this.#version++;
    this.#owned.set(object.uid, object);
    for (const owner of object.owners) {
      this.#below.getOrInsertComputed(owner.uid, () => new Set<string>()).add(object.uid);
      this.#owners.set(owner.uid, { ...owner, namespace: object.namespace });
    }
  }

  delete(uid: string): void {
    const known = this.#owned.get(uid);
    if (!known) return;
    this.#version++;
    for (const owner of known.owners) {
      const below = this.#below.get(owner.uid);
      below?.delete(uid);
      if (below?.size !== 0) continue;
      this.#below.delete(owner.uid);
      this.#owners.delete(owner.uid);
    }
    this.#owned.delete(uid);
  }

  /** Reports whether the object has owners. */
  has(uid: string): boolean {
    return this.#owned.has(uid);
  }

  /**
   * Returns the uids of the roots of a tree query: those of the lanes, and of matching owners without a lane.
   */
  roots(lanes: Iterable<ObjectName>, filter: Filter): Set<string> {
    const roots = new Set<string>();
    for (const { uid } of lanes) if (uid !== "") roots.add(uid);
    for (const { group = "", kind, name, uid, namespace } of this.#owners.values())
      if (filter.object({ group, kind, name, uid, namespace })) roots.add(uid);
    return roots;
  }

  /** Returns all descendants of these roots, each once. */
  below(roots: Iterable<string>): Set<string> {
    const found = new Set<string>();
    let level = [...roots];
    for (let depth = 0; depth < maxLevels && level.length > 0; depth++) {
      const next: string[] = [];
      for (const uid of level)
        for (const owned of this.#below.get(uid) ?? [])
          if (!found.has(owned)) {
            found.add(owned);
            next.push(owned);
          }
      level = next;
    }
    return found;
  }

  /** Returns all ancestors. */
  ancestors(uid: string): string[] {
    const found = new Set<string>();
    let level = [uid];
    for (let depth = 0; depth < maxLevels && level.length > 0; depth++) {
      level = level.flatMap((each) => this.#owned.get(each)?.owners.map((owner) => owner.uid) ?? []);
      level = level.filter((each) => !found.has(each));
      for (const each of level) found.add(each);
    }
    return [...found];
  }

  /**
   * Returns the chain of owners from the direct owner upwards; at each level the controller, or else the
   * first owner.
   */
  chain(uid: string): readonly OwnerInfo[] {
    const chain: OwnerInfo[] = [];
    for (let at = this.#owned.get(uid); at && chain.length < maxLevels;) {
      const owner = at.owners.find(({ controller }) => controller) ?? at.owners[0]!;
      if (chain.some((each) => each.uid === owner.uid)) break;
      chain.push(owner);
      at = this.#owned.get(owner.uid);
    }
    return chain;
  }
}

interface OwnerReference {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly name?: string;
  readonly uid?: string;
  readonly controller?: boolean;
}

export const ownerInfo = ({
  apiVersion = "",
  kind = "",
  name = "",
  uid = "",
  controller,
}: OwnerReference): OwnerInfo => {
  const group = groupOf(apiVersion);
  return { ...(group !== "" && { group }), kind, name, uid, ...(controller && { controller }) };
};
