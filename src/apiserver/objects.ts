// Stored objects for the server's own questions: read from the caches, parsed once per version, never changed
// by those who ask.
import { type Selector, selectEverything } from "#base";
import type { CachedObject } from "#watchcache";
import type { Resource } from "#registry";
import type { Core } from "./server.ts";

export interface Objects {
  /** The newest there is; what is cached does when it is there at all. */
  find<T>(id: string, key: string): Promise<T | undefined>;
  /** All below a namespace (`default/`), or all there are, that the selector selects. */
  all<T>(id: string, below?: string, selected?: Selector): Promise<readonly T[]>;
}

/**
 * `id` names a resource as `/pods` or `scheduling/priorityclasses`, keys are those below it. A kind that is
 * not served has no objects.
 */
export function objectsOf(core: Core): Objects {
  const parsed = new WeakMap<CachedObject, object>();
  const read = <T>(resource: Resource, cached: CachedObject): T => {
    let known = parsed.get(cached);
    if (!known) parsed.set(cached, (known = resource.objectOf(cached)));
    return known as T;
  };
  return {
    find: async <T>(id: string, key: string) => {
      const resource = core.resources.get(id);
      if (!resource) return undefined;
      const cached = resource.source.getCached(key) ?? (await resource.source.get(key, { at: "latest" }));
      return cached && read<T>(resource, cached);
    },
    all: async <T>(id: string, below = "", selected = selectEverything) => {
      const resource = core.resources.get(id);
      if (!resource) return [];
      const { items } = await resource.source.list({
        below,
        selector: selected,
        freshness: { at: "latest" },
      });
      return items.map((cached) => read<T>(resource, cached));
    },
  };
}
