import assert from "node:assert/strict";
import { test } from "node:test";
import type { Change, Entry, Outcome } from "../store.ts";
import { StoreClosed } from "../errors.ts";
import { Commits } from "./commits.ts";
import { hasValues } from "./job.ts";
import { JobFailed, type WriterThread } from "./writer-thread.ts";

const megabyte = 1 << 20;

/** Returns a Commits without values whose jobs are only counted; on a full disk, those with values fail. */
function counting(find: (key: string) => Entry | undefined, isDiskFull = false) {
  const jobs: number[] = [];
  const changes: Change[] = [];
  const forgotten: number[] = [];
  let revision = 0;
  const thread = {
    run: async (job: Parameters<WriterThread["run"]>[0]) => {
      if (isDiskFull && hasValues(job)) throw new JobFailed({ code: 13, message: "full" });
      jobs.push(job.keys.length);
      forgotten.push(...(job.housekeeping?.deletedRevisions ?? []));
      return { pages: 1, freePages: 0 };
    },
  } as unknown as WriterThread;
  const commits = new Commits({
    thread,
    revision: () => revision,
    find: (key) => find(key),
    apply: (decided) => {
      revision += decided.length;
      for (const { change } of decided) changes.push(change);
    },
    fault: (error) => error,
  });
  return { commits, jobs, changes, forgotten };
}

/** Returns how many writes of these sizes, queued at once, share each job. */
async function jobsOf(sizes: readonly number[]): Promise<number[]> {
  const { commits, jobs } = counting(() => undefined);
  const value = Buffer.alloc(Math.max(...sizes));
  const outcomes = sizes.map(
    (size, at) =>
      new Promise<Outcome>((resolve, reject) =>
        commits.add({
          write: { key: `k${at}`, value: value.subarray(0, size), expect: "absent" },
          value: value.subarray(0, size),
          expires: 0,
          resolve,
          reject,
        }),
      ),
  );
  assert.ok((await Promise.all(outcomes)).every(({ done }) => done));
  await commits.close();
  return jobs;
}

const cases: [rule: string, sizes: readonly number[], jobs: readonly number[]][] = [
  ["concurrent writes share one flush", [10, 20, 30], [3]],
  [
    "many writes are split into jobs of at most 1024",
    Array.from({ length: 2500 }, () => 1),
    [1024, 1024, 452],
  ],
  ["a job is full once it holds 8 MiB", Array.from({ length: 5 }, () => 3 * megabyte), [3, 2]],
  ["a write larger than a job is committed alone", [9 * megabyte, 1, 1], [1, 2]],
];
for (const [rule, sizes, jobs] of cases) test(rule, async () => assert.deepEqual(await jobsOf(sizes), jobs));

test("expired keys are deleted in one flush with pending writes, unless they have changed", async () => {
  const value = Buffer.of(1);
  const entries = new Map(
    ["a", "b", "c"].map((key, at) => [key, { key, value, revision: at + 1, created: at + 1 }]),
  );
  const { commits, jobs, changes } = counting((key) => entries.get(key));
  const written = new Promise<Outcome>((resolve, reject) =>
    commits.add({ write: { key: "b", value, expect: 2 }, value, expires: 0, resolve, reject }),
  );
  const due = [1, 2, 30].map((revision, at) => ({ key: "abc"[at]!, revision }));
  await Promise.all([written, commits.expire([...due, { key: "gone", revision: 4 }])]);
  assert.deepEqual(jobs, [2]);
  assert.deepEqual(
    changes.map((change) => [change.key, change.value]),
    [
      ["b", value],
      ["a", null],
    ],
  );
  await commits.close();
  await assert.rejects(commits.expire(due), StoreClosed);
});

test("on a full disk, deletions and compaction succeed although writes of the same batch fail", async () => {
  const value = Buffer.of(1);
  const revisions = { a: 1, b: 2, c: 3 };
  const { commits, jobs, changes, forgotten } = counting(
    (key) => ({ key, value, revision: revisions[key as "a"], created: 1 }),
    true,
  );
  const write = (key: string, written: Buffer | null): Promise<Outcome> =>
    new Promise((resolve, reject) =>
      commits.add({
        write: { key, value: written, expect: "any" },
        value: written,
        expires: 0,
        resolve,
        reject,
      }),
    );
  const results = await Promise.allSettled([
    write("a", value),
    write("b", null),
    commits.expire([{ key: "c", revision: 3 }]),
    commits.setCompacted(1),
    commits.deleteRows([1]),
    commits.putDerived({ name: "d", piece: 0, bytes: value }),
  ]);
  assert.deepEqual(
    results.map(({ status }) => status),
    ["rejected", "fulfilled", "fulfilled", "fulfilled", "fulfilled", "rejected"],
  );
  assert.deepEqual(jobs, [2]);
  assert.deepEqual(
    changes.map(({ key }) => key),
    ["b", "c"],
  );
  assert.deepEqual(forgotten, [1]);
  await commits.close();
});

test("rows to delete are taken in order, each once", async () => {
  const { commits, forgotten } = counting(() => undefined);
  const rows = Array.from({ length: 2000 }, (_, at) => at + 1);
  await Promise.all([commits.deleteRows(rows.slice(0, 3)), commits.deleteRows(rows.slice(3))]);
  assert.deepEqual(forgotten, rows);
  await commits.close();
});

test("a write reads the current value only if it is refused", async () => {
  let reads = 0;
  const { commits } = counting((key) => ({
    key,
    revision: 7,
    created: 5,
    get value() {
      reads++;
      if (key === "damaged") throw new Error("the value is missing");
      return Buffer.of(reads);
    },
  }));
  const write = (key: string, expect: number, value: Buffer | null = Buffer.of(0)): Promise<Outcome> =>
    new Promise((resolve, reject) =>
      commits.add({ write: { key, value, expect }, value, expires: 0, resolve, reject }),
    );
  assert.deepEqual(await write("damaged", 7), { done: true, revision: 1 });
  assert.deepEqual(await write("k", 7, null), { done: true, revision: 2 });
  assert.equal(reads, 0);
  assert.deepEqual(await write("k", 6), {
    done: false,
    current: { key: "k", value: Buffer.of(1), revision: 7, created: 5 },
  });
  await assert.rejects(write("damaged", 6), /the value is missing/);
  await commits.close();
});
