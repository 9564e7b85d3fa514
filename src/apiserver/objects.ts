// Stored objects for the server's own questions: read from the caches, parsed once per version, never changed
// by those who ask.
import { type Selector, selectEverything } from "#base";
import type { Held } from "#watchcache";
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
  const parsed = new WeakMap<Held, object>();
  const read = <T>(resource: Resource, held: Held): T => {
    let known = parsed.get(held);
    if (!known) parsed.set(held, (known = resource.objectOf(held)));
    return known as T;
  };
  return {
    find: async <T>(id: string, key: string) => {
      const resource = core.resources.get(id);
      if (!resource) return undefined;
      const held = resource.source.peek(key) ?? (await resource.source.get(key, { at: "latest" }));
      return held && read<T>(resource, held);
    },
    all: async <T>(id: string, below = "", selected = selectEverything) => {
      const resource = core.resources.get(id);
      if (!resource) return [];
      const { items } = await resource.source.list({
        below,
        selector: selected,
        freshness: { at: "latest" },
      });
      return items.map((held) => read<T>(resource, held));
    },
  };
}
