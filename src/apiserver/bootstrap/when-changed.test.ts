import assert from "node:assert/strict";
import { test } from "node:test";
import { whenChanged } from "./when-changed.ts";

function counting(direct = false) {
  const changes = [0, 0];
  const sources = changes.map((_, at) => ({ changeCount: () => changes[at]!, direct }));
  return { changes, watched: sources.map((source) => ({ resource: { source } })) };
}

test("a reconciliation runs at first, and then whenever an object has changed", async () => {
  const { changes, watched } = counting();
  let runs = 0;
  const look = whenChanged(watched, async () => void runs++);
  await look();
  await look();
  assert.equal(runs, 1);
  changes[1]!++;
  await look();
  await look();
  assert.equal(runs, 2);
});

test("changes during a reconciliation, or before a failed one, cause another", async () => {
  const { changes, watched } = counting();
  const runs = [
    async () => void changes[0]!++,
    () => Promise.reject(new Error("the store is away")),
    () => Promise.resolve(),
  ];
  const look = whenChanged(watched, () => runs.shift()!());
  await look();
  await assert.rejects(look(), /away/);
  await look();
  assert.equal(runs.length, 0);
  await look();
});

test("without a cache every reconciliation runs", async () => {
  const { watched } = counting(true);
  let runs = 0;
  const look = whenChanged(watched, async () => void runs++);
  await look();
  await look();
  assert.equal(runs, 2);
});
