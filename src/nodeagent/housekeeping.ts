// Removes directories, logs and cgroups of orphaned pods. Logs without a matching pod directory are left
// alone, and so are cgroups if agents share the parent cgroup: they may belong to other agents on the
// machine.
import type { Clock, Log } from "#base";
import type { PodCgroups, PodVolumes } from "./interfaces.ts";
import type { PodFiles } from "./sync/pod-files.ts";

export interface HousekeepingOptions {
  readonly clock: Clock;
  readonly log: Log;
  readonly files: PodFiles;
  readonly volumes: PodVolumes;
  readonly cgroups: PodCgroups;
  /**
   * Whether other agents may use the same parent cgroup. If so, only cgroups with a pod directory are
   * removed.
   */
  readonly sharesCgroups?: boolean;
  /** Reports whether all pod sources are ready. Until then no pod is considered orphaned. */
  readonly ready: () => boolean;
  readonly isKnown: (podUid: string) => boolean;
  /** Drops what else is kept of a pod that has been removed. */
  readonly forget: (podUid: string) => void;
  /** Called after every pass with the number of removed pod directories and of failed removals. */
  readonly onCleared?: (cleared: number, failed: number) => void;
}

const periodMilliseconds = 30_000;
const firstMilliseconds = 5000;

/** Runs periodically until the signal is aborted. */
export async function housekeeping(options: HousekeepingOptions, signal: AbortSignal): Promise<void> {
  const logged = new Set<string>();
  for (let wait = firstMilliseconds; !signal.aborted; wait = periodMilliseconds) {
    await options.clock.sleep(wait, signal).catch(() => undefined);
    if (signal.aborted || !options.ready()) continue;
    const cleared = { succeeded: 0, failed: 0 };
    for (const uid of await options.files.podUids())
      if (!options.isKnown(uid))
        cleared[(await attempt(uid, () => clearFolder(options, uid))) ? "succeeded" : "failed"]++;
    options.onCleared?.(cleared.succeeded, cleared.failed);
    await options.files.logLinks?.sweep();
    if (options.sharesCgroups) continue;
    for (const uid of await options.cgroups.podUids().catch(() => new Set<string>()))
      if (!options.isKnown(uid)) await attempt(uid, () => options.cgroups.release(uid));
  }

  async function attempt(uid: string, what: () => Promise<void>): Promise<boolean> {
    try {
      await what();
      logged.delete(uid);
      return true;
    } catch (error) {
      if (!logged.has(uid))
        options.log.warn("failed to remove leftovers of pod", {
          uid,
          error: (error as Error).message,
        });
      logged.add(uid);
      return false;
    }
  }
}

async function clearFolder(
  { volumes, files, cgroups, forget }: HousekeepingOptions,
  uid: string,
): Promise<void> {
  await cgroups.release(uid);
  await volumes.release(uid);
  await files.removeLogsOf(uid);
  forget(uid);
  await files.remove(uid);
}
