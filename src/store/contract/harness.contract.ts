// The environment of a contract test: an open store, a private key prefix, and helpers to watch without
// sleeping.

import assert from "node:assert/strict";
import type { Batch, Change, Entry, Outcome, Range, Revision, Store, Write } from "../store.ts";

export interface Kit {
  readonly store: Store;
  /** Key prefix reserved for this test. */
  readonly prefix: string;
  /** The store's revision before the test's first write. */
  readonly start: Revision;
  /** Advances the store's clock if it is virtual; otherwise waits. */
  elapse(seconds: number): Promise<void>;
}

export type Case = readonly [name: string, run: (kit: Kit) => Promise<void>];

export const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
export const text = (value: Uint8Array | null): string | null => value && new TextDecoder().decode(value);

/** Performs a write that must succeed and returns its revision. */
export async function put(
  kit: Kit,
  name: string,
  value: string,
  more: Partial<Write> = {},
): Promise<Revision> {
  const outcome = await kit.store.write({
    key: kit.prefix + name,
    value: bytes(value),
    expect: "any",
    ...more,
  });
  assert.ok(outcome.done, `writing ${name} was refused`);
  return outcome.revision;
}

/** Performs a deletion that must succeed and returns its revision. */
export async function remove(kit: Kit, name: string, expect: Write["expect"] = "any"): Promise<Revision> {
  const outcome = await kit.store.write({ key: kit.prefix + name, value: null, expect });
  assert.ok(outcome.done, `deleting ${name} was refused`);
  return outcome.revision;
}

/** Returns an entry with its value as text and its key without the test's prefix. */
export const shown = (kit: Kit, entry: Entry | undefined): unknown =>
  entry && {
    key: entry.key.slice(kit.prefix.length),
    value: text(entry.value),
    revision: entry.revision,
    created: entry.created,
  };

export const shownOutcome = (kit: Kit, outcome: Outcome): unknown =>
  outcome.done
    ? { done: true, revision: outcome.revision }
    : { done: false, current: shown(kit, outcome.current) };

export const shownChange = (kit: Kit, change: Change): unknown => ({
  key: change.key.slice(kit.prefix.length),
  value: text(change.value),
  revision: change.revision,
  created: change.created,
  previous: shown(kit, change.previous),
});

/** Returns the names and values under the test's prefix, now or at a revision. */
export async function list(
  kit: Kit,
  at?: Revision,
  range?: Partial<{ prefix: string; after: string; limit: number }>,
): Promise<string[]> {
  const page = await kit.store.read({ ...range, prefix: kit.prefix + (range?.prefix ?? "") }, at);
  return page.entries.map((entry) => `${entry.key.slice(kit.prefix.length)}=${text(entry.value)}`);
}

/** Runs tasks with at most `width` at a time. */
export async function inParallel<T>(
  width: number,
  items: readonly T[],
  run: (item: T) => Promise<void>,
): Promise<void> {
  const queue = items.values();
  await Promise.all(
    Array.from({ length: Math.min(width, items.length) }, async () => {
      for (const item of queue) await run(item);
    }),
  );
}

/**
 * Watches until everything through a revision has been delivered, and checks the invariants of each batch.
 */
export async function drain(
  store: Store,
  range: Range,
  after: Revision,
  through: Revision,
  some: "apart" | "together" = "apart",
): Promise<Change[]> {
  const stop = new AbortController();
  // Progress is requested repeatedly: a watch that is just being set up may miss the first request.
  const nudge = setInterval(() => void store.progress().catch(() => undefined), 200);
  try {
    const iterator = store.watch(range, after, stop.signal)[Symbol.asyncIterator]();
    const changes: Change[] = [];
    let last = after;
    let pending = iterator.next();
    await Promise.race([pending.catch(() => undefined), store.progress()]);
    while (last < through) {
      const { value, done } = await pending;
      assert.ok(!done, "the watch ended too early");
      last = checkBatch(value, last, some);
      changes.push(...value.changes);
      if (last < through) pending = iterator.next();
    }
    stop.abort();
    await iterator.return?.();
    return changes;
  } finally {
    clearInterval(nudge);
    stop.abort();
  }
}

/**
 * Asserts that a batch follows what was delivered through `last`, and returns its `through`. Changes of one
 * write may come "together", at one revision.
 */
export function checkBatch(batch: Batch, last: Revision, some: "apart" | "together" = "apart"): Revision {
  let position = last;
  for (const [at, change] of batch.changes.entries()) {
    assert.ok(
      change.revision > position || (some === "together" && at > 0 && change.revision === position),
      `change ${change.revision} came after ${position}`,
    );
    position = change.revision;
  }
  assert.ok(batch.through >= position, `a batch through ${batch.through} contains change ${position}`);
  return batch.through;
}

/** Watches until `enough` returns true. */
export async function watchUntil(
  store: Store,
  range: Range,
  after: Revision,
  enough: (changes: readonly Change[]) => boolean,
): Promise<Change[]> {
  const stop = new AbortController();
  const changes: Change[] = [];
  let last = after;
  for await (const batch of store.watch(range, after, stop.signal)) {
    last = checkBatch(batch, last);
    changes.push(...batch.changes);
    if (enough(changes)) break;
  }
  stop.abort();
  assert.ok(enough(changes), "the watch ended too early");
  return changes;
}
