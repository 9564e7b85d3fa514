// Random writers, and a check that a watcher of their objects received exactly the right events.
import assert from "node:assert/strict";
import { ApiError } from "#base";
import { type AnyObject, type ResourceClient, Unreachable } from "#client";

export interface Seen {
  readonly type: "added" | "updated" | "deleted";
  readonly name: string;
  readonly uid: string;
  readonly version: number;
}

export const seenOf = (
  type: Seen["type"],
  {
    metadata,
  }: {
    metadata?: { name?: string | undefined; uid?: string | undefined; resourceVersion?: string | undefined };
  },
): Seen => ({
  type,
  name: metadata?.name ?? "",
  uid: metadata?.uid ?? "",
  version: Number(metadata?.resourceVersion),
});

/**
 * Checks that every object's events arrive in order: added, modified to ever newer versions, deleted. Some
 * watchers report an object that was deleted and created again under the same name while they were
 * disconnected as modified (`merges`).
 */
export function checkLives(who: string, events: readonly Seen[], merges = false): void {
  const living = new Map<string, Seen>();
  for (const [at, event] of events.entries()) {
    const before = living.get(event.name);
    const description = `${who}: event ${at}, ${event.type} ${event.name}@${event.version} after ${before ? `${before.type} @${before.version}` : "nothing"}`;
    assert.ok(Number.isSafeInteger(event.version), description);
    if (event.type === "added") assert.equal(before, undefined, `added twice: ${description}`);
    else assert.ok(before, `${event.type} though it was not there: ${description}`);
    if (event.type === "updated") {
      assert.ok(event.version > before!.version, `not newer: ${description}`);
      if (!merges) assert.equal(event.uid, before!.uid, `another object under the same name: ${description}`);
    }
    if (event.type === "deleted") {
      assert.ok(event.version >= before!.version, `older than what was known: ${description}`);
      living.delete(event.name);
    } else living.set(event.name, event);
  }
}

/** Returns the objects that remain according to a watcher's events. */
export function survivors(events: readonly Seen[]): string[] {
  const living = new Map<string, string>();
  for (const { type, name, uid, version } of events) {
    if (type === "deleted") living.delete(name);
    else living.set(name, `${name} ${uid}@${version}`);
  }
  return [...living.values()].sort();
}

export interface Writers {
  /** Number of writes that the server confirmed. */
  confirmed(): number;
  stop(): Promise<void>;
}

/** Starts several writers on few names, so that they conflict. They retry while the server fails. */
export function startWriters<T extends AnyObject>(
  client: ResourceClient<T>,
  draft: (name: string, value: number) => Parameters<ResourceClient<T>["create"]>[0],
  options: { readonly count: number; readonly names: number; readonly namespace: string },
): Writers {
  let stopping = false;
  let confirmed = 0;
  const write = async (writer: number): Promise<void> => {
    for (let value = 0; !stopping; value++) {
      const name = `thing-${Math.floor(Math.random() * options.names)}`;
      const dice = Math.random();
      try {
        if (dice < 0.4) await client.create(draft(name, value));
        else if (dice < 0.75) await client.update(draft(name, writer * 1_000_000 + value));
        else await client.delete(name, { namespace: options.namespace });
        confirmed++;
      } catch (error) {
        if (error instanceof Unreachable) await new Promise((resolve) => setTimeout(resolve, 50));
        else if (!(error instanceof ApiError && [404, 409, 429, 503].includes(error.code))) throw error;
      }
    }
  };
  const all = Promise.all(Array.from({ length: options.count }, (_, at) => write(at)));
  // The failure of a writer is reported when the writers are stopped.
  all.catch(() => undefined);
  return {
    confirmed: () => confirmed,
    stop: async () => {
      stopping = true;
      await all;
    },
  };
}
