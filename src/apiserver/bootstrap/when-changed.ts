// Skips a periodic reconciliation while none of the objects it reads has changed.
import type { Resource } from "#registry";

type Watched = { readonly resource: { readonly source: Pick<Resource["source"], "changeCount" | "direct"> } };

/** Without a cache changes are not counted, and every reconciliation runs. */
export function whenChanged(
  watched: readonly Watched[],
  reconcile: () => Promise<void>,
): () => Promise<void> {
  const sources = () => watched.map(({ resource }) => resource.source);
  let lastCount: number | undefined;
  return async () => {
    const changes = sources().reduce((sum, source) => sum + source.changeCount(), 0);
    if (changes === lastCount && !sources().some(({ direct }) => direct)) return;
    await reconcile();
    // The count from before: changes made during the reconciliation, including its own writes, trigger one
    // more.
    lastCount = changes;
  };
}
