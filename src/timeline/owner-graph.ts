// Who owns whom, among the living and among those of whom the journal still tells.
import type { Filter } from "./filter.ts";
import { type ObjectName, groupOf } from "./lane.ts";
import type { OwnerInfo } from "./wire.ts";

/** An object that has owners. */
export interface Owned extends ObjectName {
  readonly owners: readonly OwnerInfo[];
}

/** A chain of owners longer than this is a mistake of whoever wrote it. */
const mostLevels = 16;

export class OwnerGraph {
  readonly #owned = new Map<string, Owned>();
  readonly #below = new Map<string, Set<string>>();
  /** Names of owners as their references tell them. */
  readonly #owners = new Map<string, OwnerInfo & { readonly namespace: string }>();

  #version = 0;

  /** Another number whenever anything has changed. */
  get version(): number {
    return this.#version;
  }

  /** Adds an object, or replaces what was known of its owners. */
  set(object: Owned): void {
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

  /** Whether the object has owners. */
  has(uid: string): boolean {
    return this.#owned.has(uid);
  }

  /** The uids that a question about a tree starts from: those of the lanes, and of owners without a lane. */
  roots(lanes: Iterable<ObjectName>, filter: Filter): Set<string> {
    const roots = new Set<string>();
    for (const { uid } of lanes) if (uid !== "") roots.add(uid);
    for (const { group = "", kind, name, uid, namespace } of this.#owners.values())
      if (filter.object({ group, kind, name, uid, namespace })) roots.add(uid);
    return roots;
  }

  /** Everything below these, over all levels; each once. */
  below(roots: Iterable<string>): Set<string> {
    const found = new Set<string>();
    let level = [...roots];
    for (let depth = 0; depth < mostLevels && level.length > 0; depth++) {
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

  /** Every owner over all levels. */
  ancestors(uid: string): string[] {
    const found = new Set<string>();
    let level = [uid];
    for (let depth = 0; depth < mostLevels && level.length > 0; depth++) {
      level = level.flatMap((each) => this.#owned.get(each)?.owners.map((owner) => owner.uid) ?? []);
      level = level.filter((each) => !found.has(each));
      for (const each of level) found.add(each);
    }
    return [...found];
  }

  /** From the direct owner upwards; at each level the controller, or else the first owner. */
  chain(uid: string): readonly OwnerInfo[] {
    const chain: OwnerInfo[] = [];
    for (let at = this.#owned.get(uid); at && chain.length < mostLevels;) {
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
