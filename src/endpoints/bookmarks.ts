// Marks that tell an idle watcher how far it is: once a minute, and shortly before the end, when something
// newer happened on the kind.
import type { Clock } from "#base";

export interface BookmarkOptions {
  readonly clock: Clock;
  readonly lifeMilliseconds: number;
  /** Where the watch began. */
  readonly from: number;
  /** The last change on the kind; whoever watches has been told of everything up to it. */
  readonly changed: () => number;
  readonly send: (revision: number) => void;
}

export interface Bookmarks {
  /** The watcher learnt of this revision by itself. */
  sent(revision: number): void;
  stop(): void;
}

const everyMilliseconds = 60_000;
const beforeEndMilliseconds = 2_000;

export function bookmarks({ clock, lifeMilliseconds, from, changed, send }: BookmarkOptions): Bookmarks {
  const end = clock.now() + lifeMilliseconds;
  let told = from;
  let cancel = (): void => undefined;
  plan();
  return {
    sent: (revision) => {
      told = Math.max(told, revision);
    },
    stop: () => cancel(),
  };

  function plan(): void {
    const left = end - clock.now();
    const wait =
      left > beforeEndMilliseconds ? Math.min(everyMilliseconds, left - beforeEndMilliseconds) : left;
    if (wait > 0) cancel = clock.after(wait, mark);
  }

  function mark(): void {
    const revision = changed();
    if (revision > told) {
      send(revision);
      told = revision;
    }
    plan();
  }
}
