// A page of a list: from memory or from the store.
import { TimeSlice } from "#base";
import { Compacted, type Revision, type Store } from "#store";
import type { CachedObject } from "./cached-object.ts";
import type { Reader } from "./resource-cache.ts";
import type { ListQuery, ListResult } from "./source.ts";

/** Cached objects in key order. */
export interface OrderedItems {
  /**
   * Visits the items whose key starts with `prefix` and is greater than `after`, until `visit` returns false.
   */
  scan(prefix: string, after: string | undefined, visit: (item: CachedObject) => boolean | void): void;
  count(prefix: string, after?: string): number;
}

type Place = Pick<ListQuery, "below" | "selector" | "limit" | "after" | "caller">;

/** Returns a page of the state at the time of the call, even if selecting items takes several time slices. */
export async function pageOf(
  items: OrderedItems,
  resourcePrefix: string,
  query: Place,
  revision: Revision,
): Promise<ListResult> {
  const prefix = resourcePrefix + query.below;
  const after = query.after === undefined ? undefined : resourcePrefix + query.after;
  const { selector, limit = Infinity } = query;
  const found: CachedObject[] = [];
  const most = selector.everything ? limit + 1 : Infinity;
  items.scan(prefix, after, (item) => found.push(item) < most);
  const { page, more } = selector.everything
    ? { page: found.slice(0, limit), more: found.length > limit }
    : await selectMatching(found, query, limit);
  const last = page.at(-1);
  if (!more || !last) return { revision, items: page };
  const next = last.key.slice(resourcePrefix.length);
  return {
    revision,
    items: page,
    next,
    ...(selector.everything && { remaining: items.count(prefix, last.key) }),
  };
}

/**
 * Selects matching items. As in kube-apiserver, a page with a selector continues after its last match,
 * whether or not more follow.
 */
export async function selectMatching(
  items: readonly CachedObject[],
  { selector, caller }: Pick<ListQuery, "selector" | "caller">,
  limit: number,
): Promise<{ readonly page: readonly CachedObject[]; readonly more: boolean }> {
  const page: CachedObject[] = [];
  const work = new TimeSlice(caller);
  for (const item of items) {
    if (page.length === limit) return { page, more: true };
    if (selector.matches(item)) page.push(item);
    if (work.tick()) await work.yield();
  }
  return { page, more: false };
}

const entriesPerRead = 1000;

/** Reads a page from the store in batches of limited size; the newest state if no revision is given. */
export async function pageFromStore(
  store: Store,
  resourcePrefix: string,
  read: Reader,
  query: Place,
  at?: Revision,
): Promise<ListResult> {
  try {
    return await readPage(store, resourcePrefix, read, query, at, entriesPerRead);
  } catch (error) {
    // The newest state was compacted while it was read in batches: retry with a single read.
    if (!(error instanceof Compacted) || at !== undefined) throw error;
    return await readPage(store, resourcePrefix, read, query, at, undefined);
  }
}

async function readPage(
  store: Store,
  resourcePrefix: string,
  read: Reader,
  query: Place,
  at: Revision | undefined,
  atOnce: number | undefined,
): Promise<ListResult> {
  const prefix = resourcePrefix + query.below;
  const { selector, limit = Infinity, caller } = query;
  const items: CachedObject[] = [];
  let after = query.after === undefined ? undefined : resourcePrefix + query.after;
  let revision = at;
  for (;;) {
    // One additional entry shows whether more follow.
    const size =
      atOnce === undefined
        ? {}
        : { limit: selector.everything ? Math.min(atOnce, limit - items.length + 1) : atOnce };
    const page = await store.read({ prefix, ...(after !== undefined && { after }), ...size }, revision);
    caller?.signal.throwIfAborted();
    revision ??= page.revision;
    for (const [index, entry] of page.entries.entries()) {
      if (items.length === limit) {
        const next = items.at(-1)!.key.slice(resourcePrefix.length);
        return {
          revision,
          items,
          next,
          ...(selector.everything && { remaining: page.remaining + page.entries.length - index }),
        };
      }
      const item = read(entry);
      if (selector.everything || selector.matches(item)) items.push(item);
    }
    after = page.entries.at(-1)?.key;
    if (page.remaining === 0 || after === undefined) return { revision, items };
  }
}
