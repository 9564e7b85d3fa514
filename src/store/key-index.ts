// In-memory index of keys and the revisions at which each was written, without values.
//
//   leaf    keys       [ "a"   "b"                      "c" ]
//           slots      [  7    { older [3 -5 8], 9 }    12  ]     "b": put 3, deleted 5, put again 8, updated 9
//           deletions  [  0    0                        15  ]     "c": put 12, deleted 15
//
// Most keys are written once and perhaps deleted, so most slots are plain numbers. Leaves and slots are owned by one
// index and copied on write by another, so a fork costs one array of leaves.

import { compareKeys, isPlainKey } from "./key-order.ts";
import type { Range, Revision } from "./store.ts";

const leafSize = 512;

export interface Version {
  readonly revision: Revision;
  readonly created: Revision;
}

/** The keys of a range with their versions, column by column. */
export interface Listing {
  readonly keys: string[];
  readonly revisions: Revision[];
  readonly created: Revision[];
  readonly remaining: number;
}

/** A key with more versions than one write and one deletion. Deletions are negative revisions. */
interface KeyHistory {
  /** The creation revision of the newest version; `first` is that of the oldest version kept. */
  created: Revision;
  first: Revision;
  latest: Revision;
  older: Revision[] | undefined;
  owner: object;
}
type Slot = Revision | KeyHistory;

interface Leaf {
  readonly keys: string[];
  readonly slots: Slot[];
  /**
   * The revisions at which keys were deleted that were written once, and 0 for the others; undefined if there are
   * none.
   */
  deletions: Revision[] | undefined;
  live: number;
  newest: Revision;
  readonly owner: object;
}
interface Place {
  readonly leaf: number;
  readonly slot: number;
}

export class KeyIndex {
  #leaves: Leaf[] = [];
  /**
   * The keys with more than one version. Not a set: V8 enters each string it looks up in a set in its table of
   * strings, and doubling that table blocks for more than 100 ms with a million deletions.
   */
  #multiVersion: string[] = [];
  #owner: object = {};
  #plain = true;
  #size = 0;

  /** The number of live keys. */
  get size(): number {
    return this.#size;
  }

  /** Returns the current version of the key, or its version at a revision. */
  find(key: string, at: Revision = Infinity): Version | undefined {
    const place = this.#place(key, this.#plain && isPlainKey(key));
    const leaf = this.#leaves[place.leaf];
    return leaf?.keys[place.slot] === key ? versionAt(leaf, place.slot, at) : undefined;
  }

  /** Lists the keys of a prefix in order, now or at a revision. */
  list(range: Extract<Range, { prefix: string }>, at: Revision = Infinity): Listing {
    const { prefix, after, limit } = range;
    const most = limit || Infinity;
    const plain = this.#plain && isPlainKey(prefix) && (after === undefined || isPlainKey(after));
    const listing = {
      keys: [] as string[],
      revisions: [] as Revision[],
      created: [] as Revision[],
      remaining: 0,
    };
    let { leaf: leafAt, slot } = this.#start(prefix, after, plain);
    let open = true;
    for (; open && leafAt < this.#leaves.length; leafAt++, slot = 0) {
      const leaf = this.#leaves[leafAt]!;
      if (
        listing.keys.length >= most &&
        slot === 0 &&
        leaf.newest <= at &&
        leaf.keys.at(-1)!.startsWith(prefix)
      ) {
        listing.remaining += leaf.live;
        continue;
      }
      for (; slot < leaf.keys.length; slot++) {
        const key = leaf.keys[slot]!;
        open = key.startsWith(prefix);
        if (!open) break;
        const held = leaf.slots[slot]!;
        const isPlain = typeof held === "number" && !leaf.deletions?.[slot];
        const version = isPlain ? undefined : versionAt(leaf, slot, at);
        // Plain numbers need no Version object: this loop runs over a hundred thousand keys.
        const revision = isPlain && held <= at ? held : version?.revision;
        if (revision === undefined) continue;
        if (listing.keys.length >= most) listing.remaining++;
        else {
          listing.keys.push(key);
          listing.revisions.push(revision);
          listing.created.push(version?.created ?? revision);
        }
      }
    }
    return listing;
  }

  /** Records a write of the key at a revision newer than all before. */
  put(key: string, revision: Revision, created: Revision): void {
    const { leaf, slot } = this.#open(key);
    const exists = leaf.keys[slot] === key;
    const wasLive = exists && isLive(leaf, slot);
    if (!exists) {
      leaf.keys.splice(slot, 0, key);
      leaf.deletions?.splice(slot, 0, 0);
      leaf.slots.splice(
        slot,
        0,
        created === revision
          ? revision
          : { created, first: created, latest: revision, older: undefined, owner: this.#owner },
      );
    } else {
      const history = this.#addVersion(key, leaf, slot);
      history.latest = revision;
      history.created = created;
    }
    if (!wasLive) {
      leaf.live++;
      this.#size++;
    }
    leaf.newest = revision > leaf.newest ? revision : leaf.newest;
    if (leaf.keys.length > leafSize) this.#split(leaf);
  }

  /** Records the deletion of a key that exists. */
  remove(key: string, revision: Revision): void {
    const { leaf, slot } = this.#open(key);
    if (leaf.keys[slot] !== key) throw new Error(`no such key: ${key}`);
    if (typeof leaf.slots[slot] === "number" && !leaf.deletions?.[slot]) {
      leaf.deletions ??= Array<Revision>(leaf.keys.length).fill(0);
      leaf.deletions[slot] = revision;
      this.#multiVersion.push(key);
    } else this.#addVersion(key, leaf, slot).latest = -revision;
    leaf.live--;
    this.#size--;
    leaf.newest = revision;
  }

  /**
   * Drops versions that are unreachable once history before `through` is compacted, some keys per step;
   * yields their revisions.
   */
  *trim(through: Revision, keysPerStep = 1000): Generator<Revision[], void, void> {
    let dropped: Revision[] = [];
    let seen = 0;
    let kept = 0;
    const list = this.#multiVersion;
    // Keys aged during the iteration are appended and need not be visited.
    const all = list.length;
    try {
      while (seen < all) {
        const key = list[seen++]!;
        if (this.#trimKey(key, through, dropped)) list[kept++] = key;
        if (seen % keysPerStep !== 0) continue;
        yield dropped;
        dropped = [];
      }
    } finally {
      while (seen < list.length) list[kept++] = list[seen++]!;
      list.length = kept;
    }
    if (dropped.length > 0) yield dropped;
  }

  /** Returns an independent copy that shares everything until either side changes it. */
  fork(): KeyIndex {
    const copy = new KeyIndex();
    copy.#leaves = [...this.#leaves];
    copy.#multiVersion = this.#multiVersion.slice();
    copy.#plain = this.#plain;
    copy.#size = this.#size;
    this.#owner = {};
    return copy;
  }

  /** Drops versions of one key; reports whether it still has more than one. */
  #trimKey(key: string, through: Revision, dropped: Revision[]): boolean {
    const place = this.#place(key, this.#plain);
    const at = this.#leaves[place.leaf];
    const slotValue = at?.keys[place.slot] === key ? at.slots[place.slot] : undefined;
    if (slotValue === undefined) return false;
    if (typeof slotValue === "number") {
      const deletion = at!.deletions?.[place.slot];
      if (!deletion) return false;
      if (deletion > through) return true;
      dropped.push(slotValue, deletion);
      this.#removeSlot(key, place);
      return false;
    }
    const versions = [...(slotValue.older ?? []), slotValue.latest];
    let keep = versions.findLastIndex((revision) => Math.abs(revision) <= through);
    if (keep < 0) return true;
    if (versions[keep]! < 0) keep++;
    if (keep === 0) return true;
    for (const revision of versions.slice(0, keep)) dropped.push(Math.abs(revision));
    if (keep === versions.length) {
      this.#removeSlot(key, place);
      return false;
    }
    const { leaf } = this.#open(key);
    const first = createdAt(slotValue, keep);
    const kept = versions.slice(keep, -1);
    leaf.slots[place.slot] =
      kept.length === 0 && slotValue.latest === slotValue.created
        ? slotValue.latest
        : {
            created: slotValue.created,
            first,
            latest: slotValue.latest,
            older: kept.length ? kept : undefined,
            owner: this.#owner,
          };
    return kept.length > 0;
  }

  #removeSlot(key: string, place: Place): void {
    const { leaf } = this.#open(key);
    leaf.keys.splice(place.slot, 1);
    leaf.slots.splice(place.slot, 1);
    leaf.deletions?.splice(place.slot, 1);
    if (leaf.keys.length === 0) this.#leaves.splice(place.leaf, 1);
  }

  /** Returns the history of the slot, owned by this index, with its newest version moved to the older ones. */
  #addVersion(key: string, leaf: Leaf, slot: number): KeyHistory {
    const old = leaf.slots[slot]!;
    const deletion = leaf.deletions?.[slot];
    let history: KeyHistory;
    if (typeof old === "number") {
      const older = deletion ? [old, -deletion] : [old];
      history = { created: old, first: old, latest: older.at(-1)!, older, owner: this.#owner };
      if (deletion) leaf.deletions![slot] = 0;
      else this.#multiVersion.push(key);
    } else {
      history = old.owner === this.#owner ? old : { ...old, older: old.older?.slice(), owner: this.#owner };
      if (history.older) history.older.push(old.latest);
      else {
        history.older = [old.latest];
        this.#multiVersion.push(key);
      }
    }
    leaf.slots[slot] = history;
    return history;
  }

  /** Returns the position of the key, or where it belongs, in a leaf owned by this index. */
  #open(key: string): { readonly leaf: Leaf; readonly slot: number } {
    if (this.#plain && !isPlainKey(key)) this.#plain = false;
    if (this.#leaves.length === 0)
      this.#leaves.push({
        keys: [],
        slots: [],
        deletions: undefined,
        live: 0,
        newest: 0,
        owner: this.#owner,
      });
    const { leaf: at, slot } = this.#place(key, this.#plain);
    let leaf = this.#leaves[at]!;
    if (leaf.owner !== this.#owner) {
      leaf = {
        keys: leaf.keys.slice(),
        slots: leaf.slots.slice(),
        deletions: leaf.deletions?.slice(),
        live: leaf.live,
        newest: leaf.newest,
        owner: this.#owner,
      };
      this.#leaves[at] = leaf;
    }
    return { leaf, slot };
  }

  #split(leaf: Leaf): void {
    const at = this.#leaves.indexOf(leaf);
    // Keys inserted in order leave full leaves behind.
    const half = at === this.#leaves.length - 1 ? leafSize : leafSize / 2;
    const upper: Leaf = {
      keys: leaf.keys.splice(half),
      slots: leaf.slots.splice(half),
      deletions: leaf.deletions?.splice(half),
      live: 0,
      newest: leaf.newest,
      owner: this.#owner,
    };
    for (let slot = 0; slot < upper.keys.length; slot++) if (isLive(upper, slot)) upper.live++;
    leaf.live -= upper.live;
    this.#leaves.splice(at + 1, 0, upper);
  }

  #start(prefix: string, after: string | undefined, plain: boolean): Place {
    if (after === undefined || comesBefore(after, prefix, plain)) return this.#place(prefix, plain);
    const place = this.#place(after, plain);
    return this.#leaves[place.leaf]?.keys[place.slot] === after
      ? { leaf: place.leaf, slot: place.slot + 1 }
      : place;
  }

  /**
   * Returns the position of the key, or where it would be inserted: in the last leaf that does not start
   * after it.
   */
  #place(key: string, plain: boolean): Place {
    let low = 0;
    let high = this.#leaves.length - 1;
    // Keys inserted in order need no search.
    const last = this.#leaves[high]?.keys[0];
    if (last !== undefined && !comesBefore(key, last, plain)) low = high;
    while (low < high) {
      const middle = (low + high + 1) >>> 1;
      if (comesBefore(key, this.#leaves[middle]!.keys[0]!, plain)) high = middle - 1;
      else low = middle;
    }
    const keys = this.#leaves[low]?.keys ?? [];
    let from = 0;
    let to = keys.length;
    if (to > 0 && comesBefore(keys[to - 1]!, key, plain)) from = to;
    while (from < to) {
      const middle = (from + to) >>> 1;
      if (comesBefore(keys[middle]!, key, plain)) from = middle + 1;
      else to = middle;
    }
    return { leaf: low, slot: from };
  }
}

const comesBefore = (a: string, b: string, plain: boolean): boolean =>
  plain ? a < b : compareKeys(a, b) < 0;

function isLive({ slots, deletions }: Leaf, at: number): boolean {
  const slot = slots[at]!;
  return typeof slot === "number" ? !deletions?.[at] : slot.latest > 0;
}

function versionAt({ slots, deletions }: Leaf, place: number, at: Revision): Version | undefined {
  const slot = slots[place]!;
  if (typeof slot === "number") {
    const deletion = deletions?.[place];
    return slot <= at && !(deletion && deletion <= at) ? { revision: slot, created: slot } : undefined;
  }
  if (Math.abs(slot.latest) <= at)
    return slot.latest > 0 ? { revision: slot.latest, created: slot.created } : undefined;
  const older = slot.older ?? [];
  let low = 0;
  let high = older.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (Math.abs(older[middle]!) <= at) low = middle + 1;
    else high = middle;
  }
  const revision = older[low - 1];
  return revision !== undefined && revision > 0 ? { revision, created: createdAt(slot, low - 1) } : undefined;
}

/** Returns the creation revision of the version at this position. */
function createdAt(history: KeyHistory, position: number): Revision {
  const older = history.older ?? [];
  if (position >= older.length) return history.created;
  for (let i = position; i > 0; i--) if (older[i - 1]! < 0) return older[i]!;
  return history.first;
}
