// The true history, read from the store, and checks of what servers reported against it.
//   truth    a@5  b@6  a@8  b gone@9          a list at 7 shows a@5 b@6 and nothing else; one that begins after the write of a@8
//                                             was acknowledged shows 8 or later; a watch from 5 delivers b@6, a@8, b gone@9
import assert from "node:assert/strict";
import type { Change, Revision, Store } from "#store";

/** One version of an object; `gone` if that revision deleted it. */
export interface Version {
  readonly name: string;
  readonly revision: Revision;
  readonly uid: string;
  readonly words: readonly string[];
  readonly gone: boolean;
}

export interface Truth {
  /** All changes, in order of revision. */
  readonly versions: readonly Version[];
  /** Returns the names that existed at a revision, with the revisions of their versions. */
  stateAt(revision: Revision): ReadonlyMap<string, Revision>;
  /** Returns the versions of one name, in order. */
  of(name: string): readonly Version[];
}

/**
 * Watches a resource in the store, whose values are JSON, until every change before the end of `during` has
 * been received.
 */
export async function recordTruth(
  store: Store,
  prefix: string,
  after: Revision,
  during: Promise<unknown>,
): Promise<Truth> {
  const stop = new AbortController();
  const versions: Version[] = [];
  let end = Infinity;
  const over = during.then(() => store.progress());
  over.then((revision) => (end = revision), () => stop.abort()); // prettier-ignore
  // A watch without new changes would not yield its progress.
  const nudge = setInterval(() => void (end < Infinity && store.progress().catch(() => undefined)), 100);
  for await (const { changes, through } of store.watch({ prefix }, after, stop.signal)) {
    versions.push(...changes.map((change) => versionOf(change, prefix)));
    if (through >= end) break;
  }
  clearInterval(nudge);
  await over;
  return truthOf(versions);
}

function versionOf({ key, value, previous, revision }: Change, prefix: string): Version {
  const { metadata, data } = JSON.parse(Buffer.from(value ?? previous!.value).toString()) as {
    metadata: { uid: string };
    data?: Record<string, string>;
  };
  return {
    name: key.slice(prefix.length),
    revision,
    uid: metadata.uid,
    words: Object.keys(data ?? {}),
    gone: value === null,
  };
}

export function truthOf(versions: readonly Version[]): Truth {
  const byName = Map.groupBy(versions, ({ name }) => name);
  return {
    versions,
    of: (name) => byName.get(name) ?? [],
    stateAt: (revision) => {
      const state = new Map<string, Revision>();
      for (const [name, all] of byName) {
        const last = all.findLast((version) => version.revision <= revision);
        if (last && !last.gone) state.set(name, last.revision);
      }
      return state;
    },
  };
}

/** A position in the order of the test's requests and responses. */
export type Moment = number;

/** A write that was requested from a server. */
export interface Written {
  readonly name: string;
  /** A unique word that only this write can have put into the object. */
  readonly word: string;
  readonly startedAt: Moment;
  readonly answered: Moment;
  /** Refused writes never take effect; the effect of writes without a proper response is unknown. */
  readonly outcome: "done" | "refused" | "unknown";
  /** Revision of the object in the response. */
  readonly revision?: Revision;
  readonly uid?: string;
  readonly deleted?: boolean;
}

/** A list that a server returned. */
export interface Shown {
  readonly server: number;
  readonly how: string;
  readonly startedAt: Moment;
  readonly answered: Moment;
  readonly revision: Revision;
  readonly items: ReadonlyMap<string, Revision>;
  /** The list had to include everything acknowledged before it was requested. */
  readonly current: boolean;
  readonly notOlderThan?: Revision;
  readonly exactly?: Revision;
}

/** The result of a get of the most recent version. */
export interface Got {
  readonly server: number;
  readonly name: string;
  readonly startedAt: Moment;
  /** Undefined if the object did not exist. */
  readonly revision: Revision | undefined;
}

export interface Watched {
  readonly server: number;
  readonly from: Revision;
  readonly events: readonly DeliveredEvent[];
  /** The server ended the watch: the last events may be missing. */
  readonly ended: boolean;
}
export interface DeliveredEvent {
  readonly type: string;
  readonly name: string;
  readonly revision: Revision;
}

/**
 * Checks that every written word is in the version that was returned and in all later ones: no writer
 * overwrites another one.
 */
export function checkWrites(truth: Truth, writes: readonly Written[]): void {
  for (const all of Map.groupBy(truth.versions, ({ uid }) => uid).values()) {
    for (const [at, version] of all.entries()) {
      const lost = all[at - 1]?.words.filter((word) => !version.words.includes(word)) ?? [];
      assert.deepEqual(
        lost,
        [],
        `${version.name}@${version.revision} lost a word that @${all[at - 1]?.revision} had`,
      );
    }
  }
  const words = new Set(truth.versions.flatMap((version) => version.words));
  for (const { name, word, outcome, revision, uid, deleted } of writes) {
    if (outcome === "refused") assert.ok(!words.has(word), `a refused write of ${name} happened: ${word}`);
    if (outcome !== "done") continue;
    if (deleted)
      assert.ok(
        truth.versions.some((version) => version.uid === uid && version.gone),
        `${name} (${uid}) was reported as deleted`,
      );
    else
      assert.ok(
        truth
          .of(name)
          .find((version) => version.revision === revision)
          ?.words.includes(word),
        `${name}@${revision} was acknowledged, and is missing or different`,
      );
  }
}

const sorted = (state: ReadonlyMap<string, Revision>): string[] =>
  [...state].map(([name, revision]) => `${name}@${revision}`).toSorted();

export function checkShown(
  truth: Truth,
  writes: readonly Written[],
  shown: readonly Shown[],
  got: readonly Got[],
): void {
  const acknowledged = writes
    .filter(({ outcome }) => outcome === "done")
    .map(({ answered, revision, deleted, uid }) => ({
      answered,
      revision: deleted
        ? truth.versions.find((version) => version.uid === uid && version.gone)!.revision
        : revision!,
    }))
    .toSorted((a, b) => a.answered - b.answered);
  const knownAt = (moment: Moment): Revision =>
    acknowledged.reduce(
      (most, { answered, revision }) => (answered < moment ? Math.max(most, revision) : most),
      0,
    );
  for (const { server, how, startedAt, revision, items, current, notOlderThan, exactly } of shown) {
    const about = `server ${server} answered ${how} with revision ${revision}`;
    assert.deepEqual(sorted(items), sorted(truth.stateAt(revision)), about);
    if (current)
      assert.ok(revision >= knownAt(startedAt), `${about}, but ${knownAt(startedAt)} had been acknowledged`);
    if (notOlderThan !== undefined)
      assert.ok(revision >= notOlderThan, `${about}, which is older than ${notOlderThan}`);
    if (exactly !== undefined) assert.equal(revision, exactly, about);
  }
  for (const { server, name, startedAt, revision } of got) {
    const floor = knownAt(startedAt);
    const all = truth.of(name);
    const possible = [
      all.findLast((version) => version.revision <= floor),
      ...all.filter((version) => version.revision > floor),
    ];
    const fits = possible.some(
      (version) => (version && !version.gone ? version.revision : undefined) === revision,
    );
    assert.ok(
      fits,
      `server ${server} showed ${name}@${revision} when ${floor} had been acknowledged; it can have been ${possible.map((version) => version?.revision).join(", ")}`,
    );
  }
  // Reads that may be stale never go backwards on one server.
  for (const one of Map.groupBy(shown, ({ server }) => server).values()) {
    for (const later of one) {
      const newest = one.reduce(
        (most, earlier) =>
          earlier.answered < later.startedAt && earlier.exactly === undefined
            ? Math.max(most, earlier.revision)
            : most,
        0,
      );
      if (later.exactly === undefined)
        assert.ok(
          later.revision >= newest,
          `server ${later.server} went back from ${newest} to ${later.revision} (${later.how})`,
        );
    }
  }
}

/**
 * Checks that a watch delivers everything after its start, once, in order, with the right type, and no
 * bookmark ahead of a change.
 */
export function checkWatched(truth: Truth, watches: readonly Watched[], end: Revision): void {
  const alive = new Set<string>();
  const reports: DeliveredEvent[] = truth.versions.map(({ name, revision, gone }) => {
    const type = gone ? "DELETED" : alive.has(name) ? "MODIFIED" : "ADDED";
    if (gone) alive.delete(name);
    else alive.add(name);
    return { type, name, revision };
  });
  for (const { server, from, events, ended } of watches) {
    const about = `a watch behind ${from} on server ${server}`;
    const due = reports.filter(({ revision }) => revision > from);
    const delivered = events.filter(({ type }) => type !== "BOOKMARK");
    assert.deepEqual(delivered, due.slice(0, delivered.length), about);
    if (!ended)
      assert.ok(
        (due[delivered.length]?.revision ?? Infinity) > end,
        `${about} did not receive ${due[delivered.length]?.revision}`,
      );
    for (const [at, mark] of events.entries()) {
      if (mark.type !== "BOOKMARK") continue;
      const count = events.slice(0, at).filter(({ type }) => type !== "BOOKMARK").length;
      assert.ok(
        (due[count]?.revision ?? Infinity) > mark.revision,
        `${about} received the bookmark ${mark.revision} before the change of ${due[count]?.revision}`,
      );
    }
  }
}
