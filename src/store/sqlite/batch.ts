// Decides a batch of writes one after another, as if each were alone, and packs their changes into one job.
// Nothing is applied here: outcomes are delivered only once the job is on disk.

import type { Due } from "../deadlines.ts";
import { encodedValues } from "../encoded-values.ts";
import { expectationHolds } from "../key-order.ts";
import type { Change, Entry, Outcome, Revision, Write } from "../store.ts";
import { type Housekeeping, type WriterJob, packed } from "./job.ts";

/** A write waiting for its batch. */
export interface Pending {
  readonly write: Write;
  /** The value of the write, encoded when its batch is formed. */
  value: Uint8Array | null;
  readonly expires: number;
  readonly resolve: (outcome: Outcome) => void;
  readonly reject: (error: unknown) => void;
}

/** A change to be committed, with its expiry time (zero for never). */
export interface Decided {
  readonly change: Change;
  readonly expires: number;
}

export interface Batch {
  readonly decided: readonly Decided[];
  readonly outcomes: readonly { readonly pending: Pending; readonly outcome: Outcome }[];
}

/** Returns the current entry of a key. Its value is read lazily. */
export type CurrentEntry = (key: string) => Entry | undefined;

/** Encodes the values of the writes and returns those that can be encoded; the others fail. */
export function encode(writes: readonly Pending[]): readonly Pending[] {
  if (!writes.some(({ write }) => write.encoder)) return writes;
  const values = encodedValues(writes.map(({ write }) => write));
  return writes.filter((pending, position) => {
    const value = values[position]!;
    if (value instanceof Error) {
      pending.reject(value);
      return false;
    }
    pending.value = value;
    return true;
  });
}

/**
 * Decides the writes on top of revision `newest`, then deletes expired keys that have not changed in the
 * meantime.
 */
export function decide(
  writes: readonly Pending[],
  newest: Revision,
  find: CurrentEntry,
  expired: readonly Due[] = [],
): Batch {
  const decided: Decided[] = [];
  const outcomes: { pending: Pending; outcome: Outcome }[] = [];
  // The state of keys after earlier writes of this batch.
  const pendingState = new Map<string, Entry | undefined>();
  const stateOf = (key: string): Entry | undefined =>
    pendingState.has(key) ? pendingState.get(key) : find(key);
  const put = (
    key: string,
    value: Uint8Array | null,
    current: Entry | undefined,
    expires: number,
  ): Change => {
    const revision = newest + decided.length + 1;
    const flatKey = current?.key ?? unsliced(key);
    // Spreading an optional property would take a second allocation, and there may be 10,000 a second.
    const change: Change = current
      ? { key: flatKey, revision, value, created: current.created, previous: current }
      : { key: flatKey, revision, value, created: revision };
    decided.push({ change, expires: value === null ? 0 : expires });
    return change;
  };
  const putPending = (...[key, value, current, expires]: Parameters<typeof put>): void => {
    const { key: flatKey, revision, created } = put(key, value, current, expires);
    pendingState.set(key, value === null ? undefined : { key: flatKey, value, revision, created });
  };
  /** Refuses a write with the current entry; if that cannot be read, the write fails. */
  const refuse = (pending: Pending, current: Entry | undefined): void => {
    try {
      outcomes.push({ pending, outcome: { done: false, ...(current && { current: read(current) }) } });
    } catch (error) {
      pending.reject(error);
    }
  };
  for (const pending of writes) {
    const { value } = pending;
    const { key, expect, consumes = [] } = pending.write;
    const current = stateOf(key);
    const reservations = consumes.map((each) => stateOf(each.key));
    const reservationsExist = consumes.every(
      ({ revision }, position) => reservations[position]?.revision === revision,
    );
    if (!reservationsExist || !expectationHolds(expect, current?.revision ?? 0)) {
      refuse(pending, current);
      continue;
    }
    if (value !== null || current) putPending(key, value, current, pending.expires);
    outcomes.push({ pending, outcome: { done: true, revision: newest + decided.length } });
    for (const each of reservations) putPending(each!.key, null, each, 0);
  }
  // Expired keys are not looked up by name: V8 enters each string that is looked up in a map in its table of strings,
  // and doubling that table blocks for more than 100 ms when a million keys expire.
  const replaced = new Set(decided.map(({ change }) => change.previous?.revision));
  for (const { key, revision } of expired) {
    const entry = replaced.has(revision) ? undefined : find(key);
    if (entry?.revision !== revision) continue;
    put(key, null, entry, 0);
    replaced.add(revision);
  }
  return { decided, outcomes };
}

const read = ({ key, value, revision, created }: Entry): Entry => ({ key, value, revision, created });

/** Packs decided changes, and the housekeeping of the same job, for the writer thread. */
export const jobOf = (decided: readonly Decided[], housekeeping?: Housekeeping): WriterJob => ({
  first: decided[0]?.change.revision ?? 0,
  keys: decided.map(({ change }) => change.key),
  packed: packed(
    decided.map(({ change: { value, created, previous }, expires }) => ({
      created: value ? created : -created,
      before: previous?.revision ?? 0,
      expires,
      value,
    })),
  ),
  ...(housekeeping && { housekeeping }),
});

// A key that is a slice of a long string would keep that whole string alive.
const unsliced = (key: string): string => Buffer.from(key).toString();
