// Ownership of live objects, and of deleted ones that still have journal records. An owner is cluster-scoped or
// in the namespace of the object: a reference to an object of another namespace does not lead there.
import type { Filter } from "./filter.ts";
import { type ObjectName, groupOf, laneKey } from "./lane.ts";
import type { OwnerInfo } from "./wire.ts";

/** An object with owners. */
export interface OwnedObject extends ObjectName {
  readonly owners: readonly OwnerInfo[];
}

/** Maximum length of an owner chain; longer ones are a user error. */
const maxLevels = 16;

/** An owner as described by the references from one namespace, and the uids of the objects that have them. */
interface Dependents {
  owner: OwnerInfo;
  readonly uids: Set<string>;
}

export class OwnerGraph {
  readonly #owned = new Map<string, OwnedObject>();
  /** By uid of the owner, then by namespace of the dependents. */
  readonly #dependents = new Map<string, Map<string, Dependents>>();

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
      const below = this.#dependents.getOrInsertComputed(owner.uid, () => new Map<string, Dependents>());
      const own = below.getOrInsertComputed(object.namespace, () => ({ owner, uids: new Set<string>() }));
      own.owner = owner;
      own.uids.add(object.uid);
    }
  }

  delete(uid: string): void {
    const known = this.#owned.get(uid);
    if (!known) return;
    this.#version++;
    for (const owner of known.owners) {
      const below = this.#dependents.get(owner.uid);
      const own = below?.get(known.namespace);
      own?.uids.delete(uid);
      if (own?.uids.size === 0) below!.delete(known.namespace);
      if (below?.size === 0) this.#dependents.delete(owner.uid);
    }
    this.#owned.delete(uid);
  }

  /** Reports whether the object has owners. */
  has(uid: string): boolean {
    return this.#owned.has(uid);
  }

  /**
   * Returns the lane keys of the roots of a tree query: those of the lanes, and of matching owners without a
   * lane.
   */
  roots(lanes: Iterable<ObjectName>, filter: Filter): Set<string> {
    const roots = new Set<string>();
    for (const lane of lanes) if (lane.uid !== "") roots.add(laneKey(lane));
    for (const below of this.#dependents.values())
      for (const [namespace, { owner }] of below) {
        const object = { group: "", ...owner, namespace };
        if (filter.object(object)) roots.add(laneKey(object));
      }
    return roots;
  }

  /** Returns the lane keys of all descendants of these roots, each once. */
  below(roots: Iterable<string>): Set<string> {
    const found = new Set<string>();
    let level = [...roots];
    for (let depth = 0; depth < maxLevels && level.length > 0; depth++) {
      const next: string[] = [];
      for (const key of level)
        for (const object of this.#dependentsOf(key)) {
          const owned = laneKey(object);
          if (found.has(owned)) continue;
          found.add(owned);
          next.push(owned);
        }
      level = next;
    }
    return found;
  }

  *#dependentsOf(key: string): Generator<OwnedObject> {
    const slash = key.indexOf("/");
    const namespace = key.slice(0, slash);
    for (const [within, { uids }] of this.#dependents.get(key.slice(slash + 1)) ?? [])
      if (namespace === "" || within === namespace) for (const uid of uids) yield this.#owned.get(uid)!;
  }

  /** Returns the lane keys of all ancestors, both as cluster-scoped objects and as those of the namespace. */
  ancestors(object: ObjectName): string[] {
    const found = new Set<string>();
    let level = this.#known(object);
    for (let depth = 0; depth < maxLevels && level.length > 0; depth++) {
      const next: OwnedObject[] = [];
      for (const { owners, namespace } of level)
        for (const { uid } of owners) {
          const key = `${namespace}/${uid}`;
          if (found.has(key)) continue;
          found.add(key).add(`/${uid}`);
          next.push(...this.#ownerFrom(namespace, uid));
        }
      level = next;
    }
    return [...found];
  }

  /**
   * Returns the chain of owners from the direct owner upwards; at each level the controller, or else the
   * first owner.
   */
  chain(object: ObjectName): readonly OwnerInfo[] {
    const chain: OwnerInfo[] = [];
    for (let [at] = this.#known(object); at && chain.length < maxLevels;) {
      const owner = at.owners.find(({ controller }) => controller) ?? at.owners[0]!;
      if (chain.some((each) => each.uid === owner.uid)) break;
      chain.push(owner);
      [at] = this.#ownerFrom(at.namespace, owner.uid);
    }
    return chain;
  }

  /** Returns the object with its owners, unless another object has the uid: events may contain any uid. */
  #known({ uid, namespace, kind, group }: ObjectName): readonly OwnedObject[] {
    const found = this.#owned.get(uid);
    const same = found?.namespace === namespace && found.kind === kind && found.group === group;
    return same ? [found] : [];
  }

  /** Returns the owner with its own owners, as referred to from a namespace. */
  #ownerFrom(namespace: string, uid: string): readonly OwnedObject[] {
    const found = this.#owned.get(uid);
    return found && (found.namespace === namespace || found.namespace === "") ? [found] : [];
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
