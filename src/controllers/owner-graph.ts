// The ownership graph of the cluster's objects by uid, as the garbage collector sees it.
import type { OwnerReference } from "#api";
import type { AnyObject } from "#client";
import type { ServedResource } from "#controllerkit";

export interface GraphNode {
  readonly uid: string;
  readonly resource: ServedResource;
  readonly namespace: string | undefined;
  readonly name: string;
  readonly owners: readonly OwnerReference[];
  readonly deleting: boolean;
  readonly finalizers: readonly string[];
}

export const orphanFinalizer = "orphan";
export const foregroundFinalizer = "foregroundDeletion";

export const nodeOf = (resource: ServedResource, { metadata }: AnyObject): GraphNode => ({
  uid: metadata.uid!,
  resource,
  namespace: metadata.namespace || undefined,
  name: metadata.name!,
  owners: metadata.ownerReferences ?? [],
  deleting: Boolean(metadata.deletionTimestamp),
  finalizers: metadata.finalizers ?? [],
});

export interface OwnerGraph {
  get(uid: string): GraphNode | undefined;
  dependents(uid: string): readonly GraphNode[];
  put(node: GraphNode): void;
  remove(uid: string): void;
}

export function ownerGraph(): OwnerGraph {
  const nodes = new Map<string, GraphNode>();
  const owned = new Map<string, Set<string>>();
  const forget = (uid: string): void => {
    for (const { uid: owner } of nodes.get(uid)?.owners ?? []) {
      const set = owned.get(owner);
      set?.delete(uid);
      if (set?.size === 0) owned.delete(owner);
    }
    nodes.delete(uid);
  };
  return {
    get: (uid) => nodes.get(uid),
    dependents: (uid) => [...(owned.get(uid) ?? [])].map((each) => nodes.get(each)!),
    put: (node) => {
      forget(node.uid);
      nodes.set(node.uid, node);
      for (const { uid: owner } of node.owners) {
        if (!owned.has(owner)) owned.set(owner, new Set());
        owned.get(owner)!.add(node.uid);
      }
    },
    remove: forget,
  };
}

/** The state of an owner with respect to one of its dependents. */
export type OwnerState = "present" | "absent" | "deleting dependents";

export type Decision =
  | { readonly action: "nothing" }
  /** Some owners are present; references to the others are removed. */
  | { readonly action: "disown"; readonly uids: readonly string[] }
  | { readonly action: "delete"; readonly propagation: "Foreground" | "Background" | "Orphan" };

/** Returns what to do with an object, given the states of its owners. */
export function decide(
  node: GraphNode,
  stateOf: (owner: OwnerReference) => OwnerState,
  hasDependents: boolean,
): Decision {
  if (node.deleting || node.owners.length === 0) return { action: "nothing" };
  const states = node.owners.map((owner) => ({ owner, is: stateOf(owner) }));
  const others = states.filter(({ is }) => is !== "present").map(({ owner }) => owner.uid);
  if (others.length < states.length)
    return others.length === 0 ? { action: "nothing" } : { action: "disown", uids: others };
  if (states.some(({ is }) => is === "deleting dependents") && hasDependents)
    return { action: "delete", propagation: "Foreground" };
  if (node.finalizers.includes(orphanFinalizer)) return { action: "delete", propagation: "Orphan" };
  return {
    action: "delete",
    propagation: node.finalizers.includes(foregroundFinalizer) ? "Foreground" : "Background",
  };
}

/** Returns the dependents that block the foreground deletion of their owner. */
export const blocking = (owner: string, dependents: readonly GraphNode[]): readonly GraphNode[] =>
  dependents.filter(({ owners }) =>
    owners.some(({ uid, blockOwnerDeletion }) => uid === owner && blockOwnerDeletion === true),
  );
