// Writes: the outcome for every precondition. A failed precondition is reported and leaves no trace.

import assert from "node:assert/strict";
import {
  type Case,
  bytes,
  drain,
  inParallel,
  list,
  put,
  remove,
  shown,
  shownOutcome,
  text,
} from "./harness.contract.ts";
import type { Revision, ValueEncoder, Write } from "../store.ts";

/** A write to a key that was created, created and updated, or is absent, with the expected outcome. */
interface Attempt {
  readonly name: string;
  readonly before: "absent" | "present";
  readonly value: string | null;
  readonly expect: "absent" | "any" | "current" | "stale" | "future" | "other" | "zero";
  readonly result: "written" | "deleted" | "refused" | "nothing";
}
const attempt = (
  name: string,
  before: Attempt["before"],
  value: string | null,
  expect: Attempt["expect"],
  result: Attempt["result"],
): Attempt => ({
  name,
  before,
  value,
  expect,
  result,
});

const attempts: readonly Attempt[] = [
  attempt("creating a key that is absent", "absent", "new", "absent", "written"),
  attempt("creating a key that is there", "present", "new", "absent", "refused"),
  attempt("expecting revision zero of a key that is absent", "absent", "new", "zero", "written"),
  attempt("expecting revision zero of a key that is there", "present", "new", "zero", "refused"),
  attempt("writing a key that is absent, expecting nothing", "absent", "new", "any", "written"),
  attempt("writing a key that is there, expecting nothing", "present", "new", "any", "written"),
  attempt("updating a key at its revision", "present", "new", "current", "written"),
  attempt("writing the same value again", "present", "two", "current", "written"),
  attempt("updating a key at an older revision of it", "present", "new", "stale", "refused"),
  attempt("updating a key at another key's revision", "present", "new", "other", "refused"),
  attempt("updating a key at a revision that has not happened", "present", "new", "future", "refused"),
  attempt("updating a key that is absent at some revision", "absent", "new", "other", "refused"),
  attempt("deleting a key at its revision", "present", null, "current", "deleted"),
  attempt("deleting a key at an older revision of it", "present", null, "stale", "refused"),
  attempt("deleting a key at another key's revision", "present", null, "other", "refused"),
  attempt("deleting a key, expecting nothing", "present", null, "any", "deleted"),
  attempt("deleting a key that is there, expecting it absent", "present", null, "absent", "refused"),
  attempt("deleting an absent key, expecting nothing", "absent", null, "any", "nothing"),
  attempt("deleting an absent key, expecting it absent", "absent", null, "absent", "nothing"),
  attempt("deleting an absent key at some revision", "absent", null, "other", "refused"),
];

const attemptCases = attempts.map(({ name, before, value, expect, result }): Case => [
  `${name}: ${result}`,
  async (kit) => {
    const key = `${kit.prefix}key`;
    const other = await put(kit, "other", "other");
    const created = before === "present" ? await put(kit, "key", "one") : 0;
    const current = before === "present" ? await put(kit, "key", "two") : 0;
    const base = Math.max(other, current);
    const expected: Record<Attempt["expect"], Write["expect"]> = {
      absent: "absent",
      any: "any",
      current,
      stale: created,
      future: base + 5,
      other,
      zero: 0,
    };
    const outcome = await kit.store.write({
      key,
      value: value === null ? null : bytes(value),
      expect: expected[expect],
    });
    const old = current ? { key: "key", value: "two", revision: current, created } : undefined;
    const changed = result === "written" || result === "deleted";
    const wanted =
      result === "refused"
        ? { done: false, current: old }
        : { done: true, revision: changed ? base + 1 : base };
    assert.deepEqual(shownOutcome(kit, outcome), wanted);
    const now = changed
      ? value && { key: "key", value, revision: base + 1, created: created || base + 1 }
      : old;
    const page = await kit.store.read({ key });
    assert.deepEqual(shown(kit, page.entries[0]), now ?? undefined);
    assert.equal(page.revision, changed ? base + 1 : base, "only a change creates a revision");
    const seen = await drain(kit.store, { prefix: kit.prefix }, base, await put(kit, "fence", ""));
    assert.deepEqual(
      seen.map((change) => change.key.slice(kit.prefix.length)),
      changed ? ["key", "fence"] : ["fence"],
    );
  },
]);

export const writeCases: readonly Case[] = [
  ...attemptCases,
  [
    "a value is stored as its encoder returns it; one that cannot be encoded fails only its own write",
    async (kit) => {
      const encoder: ValueEncoder = {
        encode: (values) =>
          values.map(({ key, value }) =>
            key.endsWith("bad") ? new Error("odd") : Buffer.concat([bytes("encoded "), value]),
          ),
      };
      const write = (name: string, more: Partial<Write> = {}) =>
        kit.store.write({ key: kit.prefix + name, value: bytes(name), expect: "any", ...more });
      const results = await Promise.allSettled([
        write("plain"),
        write("a", { encoder }),
        write("bad", { encoder }),
        write("gone", { encoder, value: null }),
        write("b", { encoder }),
      ]);
      assert.deepEqual(
        results.map((result) => (result.status === "fulfilled" ? result.value.done : String(result.reason))),
        [true, true, "Error: odd", true, true],
      );
      const refused = await write("a", { encoder, expect: "absent" });
      assert.equal(refused.done, false);
      const { entries } = await kit.store.read({ prefix: kit.prefix });
      assert.deepEqual(
        entries.map(({ value }) => Buffer.from(value).toString()),
        ["encoded a", "encoded b", "plain"],
      );
    },
  ],
  [
    "a write consumes its reservations once, and is refused if one was deleted or changed",
    async (kit) => {
      const reservation = (name: string, revision: Revision) => ({ key: kit.prefix + name, revision });
      const consume = (name: string, consumes: Write["consumes"], expect: Write["expect"] = "absent") =>
        kit.store.write({
          key: kit.prefix + name,
          value: bytes(name),
          expect,
          ...(consumes && { consumes }),
        });
      const first = await put(kit, "p1", "for a", { expect: "absent", ttlSeconds: 3600 });
      const second = await put(kit, "p2", "for a", { expect: "absent", ttlSeconds: 3600 });
      const before = await put(kit, "fence", "1");
      assert.deepEqual(
        shownOutcome(kit, await consume("b", [reservation("p1", first), reservation("p2", first)])),
        {
          done: false,
          current: undefined,
        },
      );
      assert.deepEqual(shownOutcome(kit, await consume("b", [reservation("p3", first)], "any")), {
        done: false,
        current: undefined,
      });
      assert.equal(
        (await kit.store.read({ key: `${kit.prefix}b` })).revision,
        before,
        "a refused write leaves no trace",
      );
      const outcome = await consume("a", [reservation("p1", first), reservation("p2", second)]);
      assert.ok(outcome.done);
      assert.deepEqual(await list(kit), ["a=a", "fence=1"]);
      const seen = await drain(
        kit.store,
        { prefix: kit.prefix },
        before,
        await put(kit, "fence", "2"),
        "together",
      );
      assert.deepEqual(
        seen.map((change) => `${change.key.slice(kit.prefix.length)}=${text(change.value)}`),
        ["a=a", "p1=null", "p2=null", "fence=2"],
      );
      assert.equal(seen[0]!.revision, outcome.revision);
      assert.deepEqual(shownOutcome(kit, await consume("c", [reservation("p1", first)])), {
        done: false,
        current: undefined,
      });
      const again = await put(kit, "p1", "for d", { expect: "absent" });
      assert.deepEqual(shownOutcome(kit, await consume("a", [reservation("p1", again)])), {
        done: false,
        current: { key: "a", value: "a", revision: outcome.revision, created: outcome.revision },
      });
      assert.deepEqual(
        await list(kit),
        ["a=a", "fence=2", "p1=for d"],
        "what a refused write wanted to consume is still there",
      );
      const updated = await consume("a", [reservation("p1", again)], outcome.revision);
      assert.ok(updated.done);
      assert.deepEqual(await list(kit), ["a=a", "fence=2"]);
    },
  ],
  [
    "exactly one of many writers consuming the same reservation succeeds",
    async (kit) => {
      const consumes = [
        {
          key: `${kit.prefix}reservation`,
          revision: await put(kit, "reservation", "", { expect: "absent" }),
        },
      ];
      const outcomes = await Promise.all(
        Array.from({ length: 20 }, (_, i) =>
          kit.store.write({ key: `${kit.prefix}k${i}`, value: bytes(""), expect: "absent", consumes }),
        ),
      );
      assert.equal(outcomes.filter(({ done }) => done).length, 1);
      assert.equal((await list(kit)).length, 1);
    },
  ],
  [
    "a deleted key that is written again has a new creation revision",
    async (kit) => {
      const first = await put(kit, "key", "one");
      const deletedAt = await remove(kit, "key", first);
      const again = await put(kit, "key", "two", { expect: "absent" });
      const updated = await put(kit, "key", "three", { expect: again });
      assert.deepEqual([deletedAt, again, updated], [first + 1, first + 2, first + 3]);
      const { entries } = await kit.store.read({ key: `${kit.prefix}key` });
      assert.deepEqual(shown(kit, entries[0]), {
        key: "key",
        value: "three",
        revision: updated,
        created: again,
      });
      assert.equal(
        (await kit.store.write({ key: `${kit.prefix}key`, value: bytes("x"), expect: first })).done,
        false,
        "a revision of its former life does not count",
      );
    },
  ],
  [
    "values are stored byte for byte: empty, every byte, 1.5 MB",
    async (kit) => {
      const every = Uint8Array.from({ length: 512 }, (_, i) => i);
      const big = new Uint8Array(1_500_000).map((_, i) => (i * 31 + (i >>> 8)) & 255);
      for (const [name, value] of [
        ["empty", new Uint8Array(0)],
        ["every", every],
        ["big", big],
      ] as const) {
        await kit.store.write({ key: kit.prefix + name, value, expect: "absent" });
        const { entries } = await kit.store.read({ key: kit.prefix + name });
        assert.equal(Buffer.compare(entries[0]!.value, value), 0, name);
      }
      const { entries } = await kit.store.read({ prefix: kit.prefix });
      assert.deepEqual(
        entries.map((entry) => entry.value.length),
        [1_500_000, 0, 512],
      );
    },
  ],
  [
    "a buffer passed to a write stays intact and may be passed again",
    async (kit) => {
      const value = bytes("shared");
      for (const name of ["a", "b", "a"])
        await kit.store.write({ key: kit.prefix + name, value, expect: "any" });
      // A slice of a larger buffer is written as that slice alone.
      await kit.store.write({
        key: `${kit.prefix}part`,
        value: bytes("before shared behind").subarray(7, 13),
        expect: "any",
      });
      assert.equal(text(value), "shared");
      assert.deepEqual(await list(kit), ["a=shared", "b=shared", "part=shared"]);
    },
  ],
  [
    "keys with any characters are kept distinct",
    async (kit) => {
      const names = [
        "a b",
        "a%20b",
        "a\nb",
        "a\u0000b",
        "a\u0000",
        "ä",
        "a\u0308",
        "日本",
        "😀",
        "\uffff",
        "'\"\\",
        "..",
        "/",
        "//",
        "x".repeat(1000),
      ];
      await inParallel(8, names, async (name) => void (await put(kit, name, name, { expect: "absent" })));
      for (const name of names) {
        const { entries } = await kit.store.read({ key: kit.prefix + name });
        assert.deepEqual(
          entries.map((entry) => [entry.key, text(entry.value)]),
          [[kit.prefix + name, name]],
        );
      }
    },
  ],
  [
    "an empty key and a lone surrogate are refused",
    async (kit) => {
      for (const key of ["", `${kit.prefix}\ud800`])
        await assert.rejects(async () => kit.store.write({ key, value: bytes(""), expect: "any" }));
      assert.equal((await kit.store.read({ key: `${kit.prefix}x` })).revision, kit.start);
    },
  ],
  [
    "exactly one of many writers creating the same key succeeds",
    async (kit) => {
      const outcomes = await Promise.all(
        Array.from({ length: 50 }, (_, i) =>
          kit.store.write({ key: `${kit.prefix}key`, value: bytes(String(i)), expect: "absent" }),
        ),
      );
      const winners = outcomes.flatMap((outcome, i) => (outcome.done ? [String(i)] : []));
      assert.equal(winners.length, 1);
      for (const outcome of outcomes)
        if (!outcome.done) assert.equal(text(outcome.current!.value), winners[0]);
      assert.deepEqual(await list(kit), [`key=${winners[0]}`]);
    },
  ],
  [
    "concurrent increments of one key lose no update, and each revision has one winner",
    async (kit) => {
      const key = `${kit.prefix}count`;
      await put(kit, "count", "0");
      const won: Revision[] = [];
      await Promise.all(
        Array.from({ length: 10 }, async () => {
          let { entries } = await kit.store.read({ key });
          for (let steps = 0; steps < 10;) {
            const outcome = await kit.store.write({
              key,
              value: bytes(String(Number(text(entries[0]!.value)) + 1)),
              expect: entries[0]!.revision,
            });
            if (outcome.done) {
              won.push(outcome.revision);
              steps++;
              ({ entries } = await kit.store.read({ key }));
            } else entries = [outcome.current!];
          }
        }),
      );
      assert.deepEqual(await list(kit), ["count=100"]);
      assert.equal(new Set(won).size, 100);
      const changes = await drain(kit.store, { key }, kit.start, Math.max(...won));
      assert.deepEqual(
        changes.map((change) => text(change.value)),
        Array.from({ length: 101 }, (_, i) => String(i)),
      );
    },
  ],
  [
    "concurrent writers of different keys get one revision each, without gaps",
    async (kit) => {
      const revisions = await Promise.all(
        Array.from({ length: 100 }, (_, i) => put(kit, `k${i}`, "x", { expect: "absent" })),
      );
      assert.deepEqual(
        revisions.toSorted((a, b) => a - b),
        Array.from({ length: 100 }, (_, i) => kit.start + 1 + i),
      );
    },
  ],
];
