// A look at objects that is left out while none of them changed since the look before: what is looked at every
// minute would be read every minute for nothing.
import type { Resource } from "#registry";

type Watched = { readonly resource: { readonly source: Pick<Resource["source"], "changeCount" | "direct"> } };

/** Without a cache nobody counts changes, and each look takes place. */
export function whenChanged(watched: readonly Watched[], look: () => Promise<void>): () => Promise<void> {
  const sources = () => watched.map(({ resource }) => resource.source);
  let seen: number | undefined;
  return async () => {
    const changes = sources().reduce((sum, source) => sum + source.changeCount(), 0);
    if (changes === seen && !sources().some(({ direct }) => direct)) return;
    await look();
    // As it was before: what came during the look, its own writes too, is looked at once more.
    seen = changes;
  };
}
