// Follows all objects of a resource: the existing ones first, then every change. If a watch ends (because the
// store lost history, say), it restarts with the full state.
import { type Clock, selectEverything } from "#base";
import type { Resource } from "#registry";
import type { CachedObject, Frame } from "#watchcache";

export interface ResourceFollower {
  note(cached: CachedObject): void;
  forget(name: string): void;
  /** Returns the recorded names; those missing from a new state are forgotten. */
  names(): Iterable<string>;
  /** Called when the existing objects have been delivered, and again after each restart. */
  complete?(): void;
  /** Called after each batch. */
  flushed?(): void;
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
    let whole = false;
    const deliver = (frames: readonly Frame[]): void => {
      for (const { type, item } of frames) {
        if (type === "DELETED") follower.forget(item.name);
        else follower.note(item);
        if (!whole) seen.add(item.name);
      }
      follower.flushed?.();
    };
    try {
      await resource.source.watch(
        { below: "", selector: selectEverything, from: "state", signal },
        { deliver, ended },
      );
      whole = true;
      for (const name of follower.names()) if (!seen.has(name)) follower.forget(name);
      follower.complete?.();
      await over.promise;
    } catch {
      await clock.sleep(retryMilliseconds, signal).catch(() => undefined);
    }
    signal.removeEventListener("abort", ended);
  }
}
