// The contract of every ObjectSource, cached or not.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Compacted } from "#store";
import type { Freshness, ListQuery } from "./source.ts";
import { type Bench, by, keysOf, prefix, revisionIn, turns, watchOf } from "./source.fixture.ts";

const latest: Freshness = { at: "latest" };
const all: ListQuery = { below: "", selector: by(""), freshness: latest };

export function sourceContract(name: string, open: () => Promise<Bench>): void {
  const on = (title: string, run: (bench: Bench) => Promise<void>): void =>
    void test(`${name}: ${title}`, async () => {
      const bench = await open();
      try {
        await run(bench);
      } finally {
        await bench.close();
      }
    });

  on("a read after a write returns the written object", async ({ source, put, remove }) => {
    for (let round = 0; round < 20; round++) {
      const revision = await put("n/a", { data: String(round) });
      assert.equal((await source.get("n/a", latest))?.revision, revision);
      assert.deepEqual(keysOf(await source.list(all)), [`n/a@${revision}`]);
    }
    await remove("n/a");
    assert.equal(await source.get("n/a", latest), undefined);
    assert.deepEqual(keysOf(await source.list(all)), []);
  });

  on("the revision of a source is at least that of its results", async ({ source, put, settle }) => {
    const first = await put("n/a");
    await source.list(all);
    assert.equal(source.revision(), first, "a list");
    await source.list({ ...all, freshness: { at: "exactly", revision: first - 1 } });
    assert.equal(source.revision(), first, "a list of the past");
    const second = await put("n/b");
    await settle();
    const watch = await watchOf(source, { from: "state" });
    assert.equal(source.revision(), second, "the state at the start of a watch");
    const third = await put("n/c");
    await settle();
    assert.deepEqual([watch.seen.at(-1), source.revision()], [`ADDED n/c@${third}`, third], "a change");
    watch.stop();
  });

  on(
    "a list is consistent, and a watch reports each change once, despite concurrent writes",
    async ({ source, store, put, settle }) => {
      await put("n/a");
      await settle();
      const progress = store.progress.bind(store);
      for (let steps = 0; steps < 40; steps++) {
        // A change that follows immediately after a progress notification: it reaches the source before,
        // during and after that notification.
        store.progress = async () => {
          const revision = await progress();
          const written = put("n/a", { data: String(steps) });
          for (let step = 0; step < steps; step++) await Promise.resolve();
          void written;
          return revision;
        };
        const { items, revision } = await source.list(all);
        assert.ok(
          items[0]!.revision <= revision,
          `${steps} steps later a list at ${revision} has a change of ${items[0]!.revision}`,
        );
        const watch = await watchOf(source, { from: "state" });
        store.progress = progress;
        await settle();
        assert.equal(
          new Set(watch.seen.map((each) => each.slice(each.indexOf("@")))).size,
          watch.seen.length,
          `${steps} steps later a watch began with ${watch.seen.join(", ")}`,
        );
        watch.stop();
      }
    },
  );

  on("the encoded object contains its revision", async ({ source, put }) => {
    const revision = await put("n/a", { data: 'tricky: "uid":"x","resourceVersion":"1"' });
    const cached = await source.get("n/a", latest);
    assert.equal(revisionIn(cached!), String(revision));
    assert.equal(cached!.line.toString(), `${cached!.json.toString()}\n`);
    assert.match(cached!.json.subarray(cached!.typeHeaderBytes).toString(), /^"metadata":\{/);
  });

  on(
    "a list at an exact revision returns the state of that revision",
    async ({ source, put, remove, settle }) => {
      const moments: [revision: number, state: string[]][] = [];
      const state = new Map<string, number>();
      for (const step of ["+n/b", "+n/a", "+m/z", "-n/b", "+n/b", "+n/a", "-m/z", "+n/c", "-n/a"]) {
        const key = step.slice(1);
        const revision = step[0] === "+" ? await put(key) : await remove(key);
        if (step[0] === "+") state.set(key, revision);
        else state.delete(key);
        moments.push([
          revision,
          [...state].sort(([x], [y]) => (x < y ? -1 : 1)).map(([at, version]) => `${at}@${version}`),
        ]);
      }
      await settle();
      for (const [revision, expected] of moments) {
        const freshness: Freshness = { at: "exactly", revision };
        const listing = await source.list({ ...all, freshness });
        assert.deepEqual([listing.revision, keysOf(listing)], [revision, expected]);
        for (const key of ["n/a", "n/b", "m/z"]) {
          const found = await source.get(key, freshness);
          assert.equal(
            found && `${key}@${found.revision}`,
            expected.find((text) => text.startsWith(key)),
          );
        }
      }
    },
  );

  on(
    "pages of one revision add up to a consistent list despite concurrent changes",
    async ({ source, put, remove }) => {
      for (const key of ["a/1", "a/2", "b/1", "b/2", "b/3", "c/1"]) await put(key);
      const whole = keysOf(await source.list(all));
      const seen: string[] = [];
      const first = await source.list({ ...all, limit: 2 });
      assert.equal(first.remaining, 4);
      seen.push(...keysOf(first));
      await remove("b/1");
      await put("b/2", { data: "new" });
      await put("b/25");
      for (let next = first.next; next !== undefined;) {
        const page = await source.list({
          ...all,
          limit: 2,
          after: next,
          freshness: { at: "exactly", revision: first.revision },
        });
        seen.push(...keysOf(page));
        next = page.next;
      }
      assert.deepEqual(seen, whole);
    },
  );

  on("the last page has no continuation, and neither has an empty one", async ({ source, put }) => {
    for (const key of ["n/1", "n/2", "n/3", "n/4"]) await put(key);
    const second = await source.list({ ...all, limit: 2, after: "n/2" });
    assert.deepEqual([keysOf(second).length, second.next, second.remaining], [2, undefined, undefined]);
    const none = await source.list({ ...all, below: "other/", limit: 2 });
    assert.deepEqual([none.items.length, none.next], [0, undefined]);
  });

  on(
    "a list is restricted to its namespace, even if its name is a prefix of another",
    async ({ source, put }) => {
      for (const key of ["n/a", "n1/a", "n-/a", "m/a"]) await put(key);
      assert.deepEqual(
        (await source.list({ ...all, below: "n/" })).items.map(({ key }) => key.slice(prefix.length)),
        ["n/a"],
      );
      assert.deepEqual((await source.list({ ...all, below: "n/", limit: 1 })).next, undefined);
    },
  );

  const selectors: [labels: string, fields: string, expected: string[]][] = [
    ["app=web", "", ["n/1", "n/2"]],
    ["app=web,tier=back", "", ["n/2"]],
    ["app!=web", "", ["m/4", "n/3"]],
    ["app in (db,web),tier", "", ["n/1", "n/2"]],
    ["!app", "", ["m/4"]],
    ["constructor=x", "", []],
    ["", "color=red", ["m/4", "n/1"]],
    ["app=web", "color=red", ["n/1"]],
    ["", "color=", ["n/3"]],
    ["", "metadata.name=4", ["m/4"]],
    ["", "metadata.name=4,metadata.namespace=n", []],
    ["", "color!=red,metadata.namespace=n", ["n/2", "n/3"]],
  ];
  for (const [labels, fields, expected] of selectors) {
    on(
      `"${labels}" with "${fields}" finds the matching objects, with and without pages`,
      async ({ source, put }) => {
        await put("n/3", { labels: { app: "db" } });
        await put("n/2", { labels: { app: "web", tier: "back" }, color: "blue" });
        await put("n/1", { labels: { app: "web", tier: "front" }, color: "red" });
        await put("m/4", { color: "red" });
        const query = { ...all, selector: by(labels, fields) };
        const names = (list: { items: readonly { key: string }[] }): string[] =>
          list.items.map(({ key }) => key.slice(prefix.length));
        assert.deepEqual(names(await source.list(query)), expected);
        const paged: string[] = [];
        let next: string | undefined;
        do {
          const page = await source.list({ ...query, limit: 1, ...(next !== undefined && { after: next }) });
          assert.equal(page.remaining, undefined, "the remaining count is unknown with a selector");
          paged.push(...names(page));
          next = page.next;
        } while (next !== undefined);
        assert.deepEqual(paged, expected);
        assert.deepEqual(
          names(await source.list({ ...query, below: "n/" })),
          expected.filter((key) => key.startsWith("n/")),
        );
      },
    );
  }

  on(
    "a watcher sees objects that start to match, change and stop matching",
    async ({ source, put, remove, settle }) => {
      await put("n/a", { labels: { app: "web" } });
      const everything = await watchOf(source, { from: "now" });
      const web = await watchOf(source, { selector: by("app=web") });
      const red = await watchOf(source, { selector: by("", "color=red"), from: "now" });
      const r = [
        await put("n/b", { labels: { app: "db" } }),
        await put("n/b", { labels: { app: "web" } }),
        await put("n/b", { labels: { app: "web" }, color: "red" }),
        await put("n/b", { color: "red" }),
        await remove("n/b"),
      ];
      await settle();
      assert.deepEqual(everything.seen, [
        `ADDED n/b@${r[0]}`,
        `MODIFIED n/b@${r[1]}`,
        `MODIFIED n/b@${r[2]}`,
        `MODIFIED n/b@${r[3]}`,
        `DELETED n/b@${r[4]}`,
      ]);
      assert.deepEqual(web.seen.slice(1), [
        `ADDED n/b@${r[1]}`,
        `MODIFIED n/b@${r[2]}`,
        `DELETED n/b@${r[3]}`,
      ]);
      assert.match(web.seen[0]!, /^ADDED n\/a@/);
      assert.deepEqual(red.seen, [`ADDED n/b@${r[2]}`, `MODIFIED n/b@${r[3]}`, `DELETED n/b@${r[4]}`]);
      for (const watch of [everything, web, red]) watch.stop();
    },
  );

  on("a watch is restricted to its namespace", async ({ source, put, settle }) => {
    const watch = await watchOf(source, { below: "n/", from: "now" });
    await put("n1/a");
    const revision = await put("n/a");
    await put("m/a");
    await settle();
    assert.deepEqual(watch.seen, [`ADDED n/a@${revision}`]);
    watch.stop();
  });

  on("a watch from a revision receives every later change once", async ({ source, put, remove, settle }) => {
    await put("n/a");
    const from = await put("n/b");
    const r = [await put("n/a"), await remove("n/b")];
    await settle();
    const watch = await watchOf(source, { from });
    const last = await put("n/c");
    await settle();
    assert.deepEqual(watch.seen, [`MODIFIED n/a@${r[0]}`, `DELETED n/b@${r[1]}`, `ADDED n/c@${last}`]);
    watch.stop();
  });

  on("a watch from a future revision receives only changes after it", async ({ source, put, settle }) => {
    const now = await put("n/a");
    const watch = await watchOf(source, { from: now + 2 });
    const other = await watchOf(source, { from: now });
    const r = [await put("n/b"), await put("n/c"), await put("n/d")];
    await settle();
    assert.deepEqual(watch.seen, [`ADDED n/d@${r[2]}`]);
    assert.deepEqual(other.seen, [`ADDED n/b@${r[0]}`, `ADDED n/c@${r[1]}`, `ADDED n/d@${r[2]}`]);
    watch.stop();
    other.stop();
  });

  on("a stopped watch receives nothing more", async ({ source, put, settle }) => {
    const watch = await watchOf(source);
    await put("n/a");
    await settle();
    watch.stop();
    await put("n/b");
    await settle();
    assert.equal(watch.seen.length, 1);
    assert.equal(watch.over(), false, "a stopped watch is not ended");
  });

  on("a compacted revision is refused, even if it is recent", async ({ source, store, put, settle }) => {
    const before = await put("n/a");
    const now = await put("n/a");
    await settle();
    await store.compact(now);
    await assert.rejects(source.list({ ...all, freshness: { at: "exactly", revision: before } }), Compacted);
    await assert.rejects(source.get("n/a", { at: "exactly", revision: before }), Compacted);
    assert.equal(
      (await source.list({ ...all, freshness: { at: "exactly", revision: now } })).items.length,
      1,
    );
    assert.equal(
      (await source.list({ ...all, freshness: { at: "notOlderThan", revision: before } })).items.length,
      1,
    );
  });

  on("a watch from a compacted revision is refused", async ({ source, store, put, settle }) => {
    const from = await put("n/a");
    for (let i = 0; i < 8500; i++) await put("n/a");
    await settle();
    await store.compact((await store.status()).revision);
    await settle();
    await assert.rejects(watchOf(source, { from: from - 1 }), Compacted);
    await assert.rejects(source.list({ ...all, freshness: { at: "exactly", revision: from } }), Compacted);
    await assert.rejects(source.get("n/a", { at: "exactly", revision: from }), Compacted);
  });

  on("a list at a future revision waits for a while and is then refused", async ({ source, clock, put }) => {
    const now = await put("n/a");
    assert.equal(
      (await source.list({ ...all, freshness: { at: "notOlderThan", revision: now } })).items.length,
      1,
    );
    for (const freshness of [
      { at: "notOlderThan", revision: now + 5 },
      { at: "exactly", revision: now + 5 },
    ] as const) {
      for (const read of [() => source.list({ ...all, freshness }), () => source.get("n/a", freshness)]) {
        const refused = assert.rejects(read(), (error) =>
          ["NotYet", "FutureRevision"].includes((error as Error).name),
        );
        await turns();
        await clock.advance(60_000);
        await refused;
      }
    }
  });

  on(
    "a long initial state is delivered in batches, each after the previous one was drained",
    async ({ source, put, settle }) => {
      for (let i = 0; i < 700; i++) await put(`n/${String(i).padStart(4, "0")}`);
      let waiting: (() => void)[] = [];
      let taken = 0;
      const drained = (): Promise<void> =>
        new Promise((resolve) => {
          taken++;
          waiting.push(resolve);
        });
      const seen: string[] = [];
      const stop = new AbortController();
      const starting = source.watch(
        { below: "", selector: by(""), from: "state", signal: stop.signal },
        {
          deliver: (frames) => seen.push(...frames.map(({ type, item }) => `${type} ${item.name}`)),
          drained,
          ended: () => seen.push("ended"),
        },
      );
      await turns();
      assert.equal(taken, 1);
      assert.ok(seen.length < 400, `${seen.length} frames at once`);
      const late = await put("n/0000", { data: "meanwhile" });
      await settle();
      while (waiting.length > 0) {
        for (const resume of waiting.splice(0)) resume();
        await turns();
      }
      await starting;
      await settle();
      assert.ok(late > 0);
      assert.equal(seen.length, 701);
      assert.deepEqual(
        seen.slice(0, 700),
        Array.from({ length: 700 }, (_, i) => `ADDED ${String(i).padStart(4, "0")}`),
      );
      assert.equal(seen[700], "MODIFIED 0000");
      stop.abort();
      waiting = [];
    },
  );

  on("a bookmark is never ahead of the delivered changes", async ({ source, put, settle }) => {
    let newest = 0;
    let wrong = 0;
    const watch = await watchOf(
      source,
      {},
      {
        deliver: (frames) => {
          newest = frames.at(-1)!.item.revision;
        },
      },
    );
    for (let i = 0; i < 50; i++) {
      await put(`n/${i % 5}`);
      await source.list(all);
      if (source.lastChange() > newest && newest > 0) wrong++;
    }
    await settle();
    assert.equal(wrong, 0);
    assert.equal(source.lastChange(), newest);
    watch.stop();
  });
}
