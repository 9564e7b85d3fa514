// Bookmarks that inform an idle watcher of the current revision: once a minute, and shortly before the end of
// the watch, if a newer change occurred in the resource.
import type { Clock } from "#base";

export interface BookmarkOptions {
  readonly clock: Clock;
  readonly lifeMilliseconds: number;
  /** The revision at which the watch starts. */
  readonly from: number;
  /**
   * Returns the revision of the last change in the resource; the watcher has received everything up to it.
   */
  readonly changed: () => number;
  readonly send: (revision: number) => void;
}

export interface Bookmarks {
  /** Records that an event of this revision was sent to the watcher. */
  sent(revision: number): void;
  stop(): void;
}

const everyMilliseconds = 60_000;
const beforeEndMilliseconds = 2_000;

export function bookmarks({ clock, lifeMilliseconds, from, changed, send }: BookmarkOptions): Bookmarks {
  const end = clock.monotonic() + lifeMilliseconds;
  let lastSent = from;
  let cancel = (): void => undefined;
  schedule();
  return {
    sent: (revision) => {
      lastSent = Math.max(lastSent, revision);
    },
    stop: () => cancel(),
  };

  function schedule(): void {
    const left = end - clock.monotonic();
    const wait =
      left > beforeEndMilliseconds ? Math.min(everyMilliseconds, left - beforeEndMilliseconds) : left;
    if (wait > 0) cancel = clock.after(wait, sendBookmark);
  }

  function sendBookmark(): void {
    const revision = changed();
    if (revision > lastSent) {
      send(revision);
      lastSent = revision;
    }
    schedule();
  }
}
