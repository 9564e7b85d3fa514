// Random histories against the simplest possible model: a list of changes, replayed for every read.

import assert from "node:assert/strict";
import fc from "fast-check";
import { type Change, Compacted, type Entry, type Range, type Revision, type Write } from "../store.ts";
import { type Case, bytes, drain } from "./harness.contract.ts";

const names = ["a", "a/", "a/b", "ab", "b", "é", "😀", "\uffff"];

type Step =
  | {
      readonly do: "write";
      readonly name: string;
      readonly value: string | null;
      readonly expect: "absent" | "any" | "current" | "stale";
    }
  | {
      readonly do: "read";
      readonly prefix: string;
      readonly after: string | undefined;
      readonly limit: number;
      readonly back: number;
    }
  | { readonly do: "get"; readonly name: string; readonly back: number }
  | { readonly do: "compact"; readonly back: number }
  | { readonly do: "watch"; readonly range: string; readonly whole: boolean; readonly back: number };

const name = fc.constantFrom(...names);
const back = fc.nat(12);
const write = fc.record({
  do: fc.constant("write" as const),
  name,
  value: fc.option(fc.string({ maxLength: 8 })),
  expect: fc.constantFrom("absent", "any", "current", "stale"),
});
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 12, arbitrary: write },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant("read" as const),
      prefix: fc.constantFrom("", "a", "a/", "b"),
      after: fc.option(name, { nil: undefined }),
      limit: fc.nat(4),
      back,
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("get" as const), name, back }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("compact" as const), back }) },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant("watch" as const), range: name, whole: fc.boolean(), back }),
  },
);

/** The model: all changes, from which every result is derived. */
class Model {
  readonly changes: Change[] = [];
  revision: Revision;
  compacted: Revision;
  constructor(revision: Revision, compacted: Revision) {
    this.revision = revision;
    this.compacted = compacted;
  }
  at(revision: Revision): Entry[] {
    const state = new Map<string, Entry>();
    for (const change of this.changes) {
      if (change.revision > revision) break;
      if (change.value === null) state.delete(change.key);
      else
        state.set(change.key, {
          key: change.key,
          value: change.value,
          revision: change.revision,
          created: change.created,
        });
    }
    return [...state.values()].sort((a, b) => Buffer.compare(bytes(a.key), bytes(b.key)));
  }
  find(key: string): Entry | undefined {
    return this.at(this.revision).find((entry) => entry.key === key);
  }
  write(key: string, value: Uint8Array | null, previous: Entry | undefined): void {
    const revision = ++this.revision;
    this.changes.push({
      key,
      value,
      revision,
      created: previous?.created ?? revision,
      ...(previous && { previous }),
    });
  }
}

/**
 * Replaces bytes by text recursively, so that a Buffer and a Uint8Array of the same bytes compare as equal,
 * and so does an entry whose value is read lazily.
 */
function plain(value: unknown): unknown {
  if (value instanceof Uint8Array) return `bytes ${Buffer.from(value).toString("hex")}`;
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== "object" || value === null) return value;
  const whole = "value" in value ? { ...value, value: value.value } : value;
  return Object.fromEntries(Object.entries(whole).map(([key, item]) => [key, plain(item)]));
}

export const modelCases: readonly Case[] = [
  [
    "random histories agree with the model",
    async (kit) => {
      let run = 0;
      const property = fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 40 }), async (steps) => {
        const { store } = kit;
        const prefix = `${kit.prefix}${run++}/`;
        const { revision, compacted, keys } = await store.status();
        const model = new Model(revision, compacted);
        const origin = revision;
        for (const one of steps) {
          if (one.do === "write") {
            const key = prefix + one.name;
            const current = model.find(key);
            const stale =
              model.changes.find((change) => change.key === key && change.revision !== current?.revision)
                ?.revision ?? origin;
            const expect: Write["expect"] =
              one.expect === "current"
                ? (current?.revision ?? "absent")
                : one.expect === "stale"
                  ? stale
                  : one.expect;
            const value = one.value === null ? null : bytes(one.value);
            const outcome = await store.write({ key, value, expect });
            const holds = expect === "any" || (expect === "absent" ? !current : current?.revision === expect);
            if (holds && (value || current)) {
              model.write(key, value, current);
              assert.deepEqual(outcome, { done: true, revision: model.revision });
            } else if (holds) assert.deepEqual(outcome, { done: true, revision: model.revision });
            else assert.deepEqual(plain(outcome), plain({ done: false, ...(current && { current }) }));
          } else if (one.do === "compact") {
            model.compacted = Math.max(model.compacted, model.revision - one.back);
            await store.compact(model.revision - one.back);
          } else if (one.do === "watch") {
            const range: Range = one.whole ? { prefix: prefix + one.range } : { key: prefix + one.range };
            const after = model.revision - one.back;
            const watched = drain(store, range, after, model.revision);
            if (after < model.compacted) await assert.rejects(watched, Compacted);
            else {
              const expected = model.changes.filter(
                (change) =>
                  change.revision > after &&
                  (one.whole ? change.key.startsWith(prefix + one.range) : change.key === prefix + one.range),
              );
              assert.deepEqual(plain(await watched), plain(expected));
            }
          } else {
            const at = model.revision - one.back;
            const range: Range =
              one.do === "get"
                ? { key: prefix + one.name }
                : {
                    prefix: prefix + one.prefix,
                    limit: one.limit,
                    ...(one.after !== undefined && { after: prefix + one.after }),
                  };
            const reading = store.read(range, one.back === 0 ? undefined : at);
            if (one.back > 0 && at < model.compacted) {
              await assert.rejects(reading, Compacted);
              continue;
            }
            const all = model
              .at(at)
              .filter((entry) =>
                "key" in range
                  ? entry.key === range.key
                  : entry.key.startsWith(range.prefix) &&
                    (range.after === undefined || Buffer.compare(bytes(entry.key), bytes(range.after)) > 0),
              );
            const entries = one.do === "read" && one.limit > 0 ? all.slice(0, one.limit) : all;
            const page = await reading;
            assert.deepEqual(
              { ...page, entries: plain(page.entries) },
              { revision: at, entries: plain(entries), remaining: all.length - entries.length },
            );
          }
        }
        const status = await store.status();
        assert.deepEqual(
          [status.revision, status.compacted, status.keys - keys],
          [model.revision, model.compacted, model.at(model.revision).length],
        );
      });
      await fc.assert(property, { numRuns: 20 });
    },
  ],
];
