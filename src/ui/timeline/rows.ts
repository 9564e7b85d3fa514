// Converts lanes to rows: objects below their owners, in the server's order, with counts summed up over
// descendants. Owners without entries get a row, too, so that the tree is complete.
import type { OwnerInfo, TimelineLane, TimelineObject } from "../api/wire.ts";

export interface Row {
  readonly id: string;
  readonly object: TimelineObject;
  readonly depth: number;
  /** Undefined if the object has no entries in the range. */
  readonly lane: TimelineLane | undefined;
  readonly children: number;
  readonly isOpen: boolean;
  /** Counts of the object and all its descendants. */
  readonly warnings: number;
  readonly total: number;
}

interface Item {
  readonly id: string;
  readonly object: TimelineObject;
  lane: TimelineLane | undefined;
  parent: Item | undefined;
  readonly children: Item[];
  warnings: number;
  total: number;
}

export const idOf = (object: { uid?: string; kind: string; namespace?: string; name: string }): string =>
  object.uid ?? `${object.kind}/${object.namespace ?? ""}/${object.name}`;

const ownerObject = (owner: OwnerInfo, namespace: string | undefined): TimelineObject => ({
  ...(owner.group !== undefined && { group: owner.group }),
  kind: owner.kind,
  name: owner.name,
  uid: owner.uid,
  // A node owns mirror pods of any namespace; other owners are in the same namespace as the object.
  ...(namespace !== undefined && owner.kind !== "Node" && { namespace }),
});

/** Returns all visible rows, without those below collapsed ones. */
export function rowsOf(lanes: readonly TimelineLane[], closed: ReadonlySet<string>): readonly Row[] {
  const items = new Map<string, Item>();
  const itemOf = (id: string, object: TimelineObject): Item => {
    const found = items.get(id);
    if (found) return found;
    const made: Item = {
      id,
      object,
      lane: undefined,
      parent: undefined,
      children: [],
      warnings: 0,
      total: 0,
    };
    items.set(id, made);
    return made;
  };
  for (const lane of lanes) {
    let item = itemOf(idOf(lane.object), lane.object);
    item.lane = lane;
    for (const owner of lane.owners) {
      if (item.parent) break;
      const parent = itemOf(owner.uid, ownerObject(owner, lane.object.namespace));
      if (isBelow(parent, item)) break;
      item.parent = parent;
      parent.children.push(item);
      item = parent;
    }
  }
  const roots = [...items.values()].filter(({ parent }) => parent === undefined);
  for (const root of roots) sumUp(root);
  const rows: Row[] = [];
  for (const root of roots) addRows(rows, root, 0, closed);
  return rows;
}

/**
 * Reports whether `item` is `above` or below it, in which case making it the parent would create a cycle.
 * Owner references may contain cycles.
 */
function isBelow(item: Item, above: Item): boolean {
  for (let at: Item | undefined = item; at; at = at.parent) if (at === above) return true;
  return false;
}

function sumUp(item: Item): void {
  const counts = item.lane?.counts ?? {};
  item.warnings = counts["Warning"] ?? 0;
  item.total = Object.values(counts).reduce((sum, count) => sum + count, 0);
  for (const child of item.children) {
    sumUp(child);
    item.warnings += child.warnings;
    item.total += child.total;
  }
}

function addRows(rows: Row[], item: Item, depth: number, closed: ReadonlySet<string>): void {
  const isOpen = !closed.has(item.id);
  const { id, object, lane, warnings, total } = item;
  rows.push({ id, object, depth, lane, children: item.children.length, isOpen, warnings, total });
  if (isOpen) for (const child of item.children) addRows(rows, child, depth + 1, closed);
}

/** Returns the lanes whose kind, namespace, name or owners contain every word. */
export function matching(lanes: readonly TimelineLane[], words: readonly string[]): readonly TimelineLane[] {
  if (words.length === 0) return lanes;
  const wanted = words.map((word) => word.toLowerCase());
  return lanes.filter(({ object, owners }) => {
    const text = [object.kind, object.namespace, object.name, ...owners.map(({ name }) => name)]
      .join(" ")
      .toLowerCase();
    return wanted.every((word) => text.includes(word));
  });
}
