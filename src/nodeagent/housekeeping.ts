// Removes directories and control groups of pods that are long gone, their logs with them. Logs that no
// directory of ours accounts for are left alone, and control groups too where agents share their parent: other
// agents of the machine keep theirs in the same place.
import type { Clock, Log } from "#base";
import type { PodCgroups, PodVolumes } from "./interfaces.ts";
import type { PodFiles } from "./sync/pod-files.ts";

export interface HousekeepingOptions {
  readonly clock: Clock;
  readonly log: Log;
  readonly files: PodFiles;
  readonly volumes: PodVolumes;
  readonly cgroups: PodCgroups;
  /** Whether other agents may keep control groups below the same parent: then only a directory makes one ours. */
  readonly sharesCgroups?: boolean;
  /** Whether all sources have spoken; before, nothing is known to be gone. */
  readonly ready: () => boolean;
  readonly isKnown: (podUid: string) => boolean;
  /** Told after every round how many folders of gone pods were cleared, and how many could not be. */
  readonly onCleared?: (cleared: number, failed: number) => void;
}

const periodMilliseconds = 30_000;
const firstMilliseconds = 5000;

/** Goes round until the signal is aborted. */
export async function housekeeping(options: HousekeepingOptions, signal: AbortSignal): Promise<void> {
  const told = new Set<string>();
  for (let wait = firstMilliseconds; !signal.aborted; wait = periodMilliseconds) {
    await options.clock.sleep(wait, signal).catch(() => undefined);
    if (signal.aborted || !options.ready()) continue;
    const cleared = { well: 0, badly: 0 };
    for (const uid of await options.files.podUids())
      if (!options.isKnown(uid))
        cleared[(await attempt(uid, () => clearFolder(options, uid))) ? "well" : "badly"]++;
    options.onCleared?.(cleared.well, cleared.badly);
    await options.files.logLinks?.sweep();
    if (options.sharesCgroups) continue;
    for (const uid of await options.cgroups.podUids().catch(() => new Set<string>()))
      if (!options.isKnown(uid)) await attempt(uid, () => options.cgroups.release(uid));
  }

  async function attempt(uid: string, what: () => Promise<void>): Promise<boolean> {
    try {
      await what();
      told.delete(uid);
      return true;
    } catch (error) {
      if (!told.has(uid))
        options.log.warn("failed to remove leftovers of pod", {
          uid,
          error: (error as Error).message,
        });
      told.add(uid);
      return false;
    }
  }
}

async function clearFolder({ volumes, files, cgroups }: HousekeepingOptions, uid: string): Promise<void> {
  await cgroups.release(uid);
  await volumes.release(uid);
  await files.removeLogsOf(uid);
  await files.remove(uid);
}
