// Follows all objects of a resource: the existing ones first, then every change. If a watch ends (because the
// store lost history, say), it restarts with the full state.
import { type Clock, selectEverything } from "#base";
import type { Resource } from "#registry";
import type { CachedObject, Frame } from "#watchcache";

export interface ResourceFollower {
  upsert(cached: CachedObject): void;
  remove(name: string): void;
  /** Returns the recorded names; those missing from a new state are forgotten. */
  names(): Iterable<string>;
  /** Called when the existing objects have been delivered, and again after each restart. */
  synced?(): void;
  /** Called after each batch. */
  batchDone?(): void;
}

const retryMilliseconds = 1000;

/** Follows the resource and resolves after the signal is aborted. */
export async function followResource(
  resource: Resource,
  follower: ResourceFollower,
  clock: Clock,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    const over = Promise.withResolvers<void>();
    const ended = (): void => over.resolve();
    signal.addEventListener("abort", ended, { once: true });
    const seen = new Set<string>();
    let isSynced = false;
    const deliver = (frames: readonly Frame[]): void => {
      for (const { type, item } of frames) {
        if (type === "DELETED") follower.remove(item.name);
        else follower.upsert(item);
        if (!isSynced) seen.add(item.name);
      }
      follower.batchDone?.();
    };
    try {
      await resource.source.watch(
        { below: "", selector: selectEverything, from: "state", signal },
        { deliver, ended },
      );
      isSynced = true;
      for (const name of follower.names()) if (!seen.has(name)) follower.remove(name);
      follower.synced?.();
      await over.promise;
    } catch {
      await clock.sleep(retryMilliseconds, signal).catch(() => undefined);
    }
    signal.removeEventListener("abort", ended);
  }
}
