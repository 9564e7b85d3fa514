// Dispatch of changes to watchers. Watchers without a selector are grouped per namespace and share one array
// of frames; those whose selector requires an exact value are indexed by it, so that a change of a pod
// reaches only the watchers of its node.
//
//   everything   pods/            → [w1 w2 w3]     a change in namespace a: one frame for w1 to w4
//                pods/a/          → [w4]
//   exact        field spec.nodeName → n1 → [w5]   a pod moves from n1 to n2: w5 and w6 are notified
//                                    → n2 → [w6]
//   others       [w7]                              evaluated for every change
import type { Selector } from "#base";
import type { Change, Frame } from "./frame.ts";
import type { CachedObject } from "./cached-object.ts";
import { valueOf } from "./index-on-demand.ts";
import type { FrameSink } from "./source.ts";

export interface Watching {
  /** Prefix of the watched keys. */
  readonly prefix: string;
  readonly selector: Selector;
  readonly watcher: FrameSink;
  /** Changes up to this revision are not delivered, even if they have not been applied yet. */
  readonly after: number;
}

/** Watchers that receive the same frames, and the frames pending for them. */
interface WatcherGroup {
  readonly prefix: string;
  readonly selector: Selector;
  readonly members: Set<Watching>;
  frames: Frame[] | undefined;
}

interface ValueIndex {
  readonly valueOf: (item: CachedObject) => string | undefined;
  readonly byValue: Map<string, Set<WatcherGroup>>;
}

export class Demux {
  readonly #prefix: string;
  readonly #places = new Map<Watching, WatcherGroup>();
  readonly #everything = new Map<string, WatcherGroup>();
  readonly #others = new Set<WatcherGroup>();
  readonly #groups = new Map<string, ValueIndex>();
  readonly #touched = new Set<WatcherGroup>();

  /**
   * `prefix` is that of the resource; the rest of a key starts with the namespace, if the resource has one.
   */
  constructor(prefix: string) {
    this.#prefix = prefix;
  }

  get size(): number {
    return this.#places.size;
  }

  /**
   * With `ahead`, the watcher starts at a revision that has not been applied yet, and gets a separate group.
   */
  add(watching: Watching, ahead: boolean): void {
    const { prefix, selector } = watching;
    let watcherGroup = selector.everything && !ahead ? this.#everything.get(prefix) : undefined;
    if (!watcherGroup) {
      watcherGroup = { prefix, selector, members: new Set(), frames: undefined };
      if (!selector.everything || ahead) this.#indexOf(watcherGroup).add(watcherGroup);
      else this.#everything.set(prefix, watcherGroup);
    }
    watcherGroup.members.add(watching);
    this.#places.set(watching, watcherGroup);
  }

  delete(watching: Watching): void {
    const watcherGroup = this.#places.get(watching);
    if (!watcherGroup) return;
    this.#places.delete(watching);
    watcherGroup.members.delete(watching);
    if (watcherGroup.members.size > 0) return;
    this.#touched.delete(watcherGroup);
    if (this.#everything.get(watcherGroup.prefix) === watcherGroup)
      this.#everything.delete(watcherGroup.prefix);
    else this.#removeFromIndex(watcherGroup);
  }

  /** Collects the frames of a change for all matching groups. */
  apply(change: Change): void {
    const { item, previous } = change;
    this.#collect(this.#everything.get(this.#prefix), change);
    if (item.namespace !== "")
      this.#collect(this.#everything.get(`${this.#prefix}${item.namespace}/`), change);
    for (const watcherGroup of this.#others) this.#collect(watcherGroup, change);
    for (const { valueOf: read, byValue } of this.#groups.values()) {
      const now = read(item);
      const before = previous && read(previous);
      if (now !== undefined)
        for (const watcherGroup of byValue.get(now) ?? none) this.#collect(watcherGroup, change);
      if (before !== undefined && before !== now)
        for (const watcherGroup of byValue.get(before) ?? none) this.#collect(watcherGroup, change);
    }
  }

  /**
   * Delivers the collected frames: one delivery per watcher. Their encodings are dropped then, before the garbage
   * collector counts them as old; watchers that are behind encode a frame again when they reach it.
   */
  flush(): void {
    const delivered: (readonly Frame[])[] = [];
    for (const watcherGroup of this.#touched) {
      const frames = watcherGroup.frames!;
      watcherGroup.frames = undefined;
      for (const { watcher } of watcherGroup.members) watcher.deliver(frames);
      delivered.push(frames);
    }
    this.#touched.clear();
    for (const frames of delivered) for (const frame of frames) frame.dropEncodings();
  }

  /** Ends all watchers. */
  end(): void {
    const all = [...this.#places.keys()];
    this.#places.clear();
    this.#everything.clear();
    this.#others.clear();
    this.#groups.clear();
    this.#touched.clear();
    for (const { watcher } of all) watcher.ended();
  }

  #collect(watcherGroup: WatcherGroup | undefined, change: Change): void {
    if (!watcherGroup) return;
    const frame = frameFor(change, watcherGroup);
    if (!frame) return;
    // Only a watcher in a separate group can be ahead.
    for (const { after } of watcherGroup.members) {
      if (change.revision <= after) return;
      break;
    }
    (watcherGroup.frames ??= []).push(frame);
    this.#touched.add(watcherGroup);
  }

  #indexOf({ selector: { exact } }: WatcherGroup): Set<WatcherGroup> {
    if (!exact) return this.#others;
    const id = idOf(exact);
    let group = this.#groups.get(id);
    if (!group) this.#groups.set(id, (group = { valueOf: valueOf(exact.of, exact.key), byValue: new Map() }));
    let place = group.byValue.get(exact.value);
    if (!place) group.byValue.set(exact.value, (place = new Set()));
    return place;
  }

  #removeFromIndex(watcherGroup: WatcherGroup): void {
    const { exact } = watcherGroup.selector;
    const place = this.#indexOf(watcherGroup);
    place.delete(watcherGroup);
    if (!exact || place.size > 0) return;
    const group = this.#groups.get(idOf(exact))!;
    group.byValue.delete(exact.value);
    if (group.byValue.size === 0) this.#groups.delete(idOf(exact));
  }
}

/** Returns the frame of a change for a watcher of these keys with this selector. */
export function frameFor(
  change: Change,
  { prefix, selector }: Pick<Watching, "prefix" | "selector">,
): Frame | undefined {
  if (!change.item.key.startsWith(prefix)) return undefined;
  return change.frameFor(selector.everything ? always : (item) => selector.matches(item));
}

const always = (): boolean => true;
const none: readonly WatcherGroup[] = [];
const idOf = ({ of, key }: NonNullable<Selector["exact"]>): string => `${of} ${key}`;
