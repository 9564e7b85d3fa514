import assert from "node:assert/strict";
import { test } from "node:test";
import type { Outcome } from "../store.ts";
import { Commits } from "./commits.ts";
import type { WriterThread } from "./writer-thread.ts";

const megabyte = 1 << 20;

/** How many writes of these sizes, made in one go, go to the disk together. */
async function jobsOf(sizes: readonly number[]): Promise<number[]> {
  const jobs: number[] = [];
  let revision = 0;
  const thread = {
    run: async (job: Parameters<WriterThread["run"]>[0]) => {
      jobs.push(job.numbers.length / 4);
      return { pages: 1, freePages: 0 };
    },
  } as unknown as WriterThread;
  const commits = new Commits({
    thread,
    revision: () => revision,
    find: () => undefined,
    apply: (decided) => void (revision += decided.length),
    fault: (error) => error,
  });
  const value = Buffer.alloc(Math.max(...sizes));
  const outcomes = sizes.map(
    (size, at) =>
      new Promise<Outcome>((resolve, reject) =>
        commits.add({
          write: { key: `k${at}`, value: value.subarray(0, size), expect: "absent" },
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
  ["writes that come together share one flush", [10, 20, 30], [3]],
  ["many writes are cut into jobs of at most 1024", Array.from({ length: 2500 }, () => 1), [1024, 1024, 452]],
  ["a job is full once it holds 8 MiB", Array.from({ length: 5 }, () => 3 * megabyte), [3, 2]],
  ["a write larger than a job goes alone", [9 * megabyte, 1, 1], [1, 2]],
];
for (const [rule, sizes, jobs] of cases) test(rule, async () => assert.deepEqual(await jobsOf(sizes), jobs));
