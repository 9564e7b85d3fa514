import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { YieldBudget } from "./yield-budget.ts";

/** A clock on which only work takes time, and each unit of work exceeds one slice. */
function workClock(t: TestContext): { work(): void } {
  let now = 0;
  t.mock.method(performance, "now", () => now);
  return { work: () => void (now += 10) };
}

const cases: [name: string, sent: number, met: number, due: boolean][] = [
  ["a small write never yields", 1000, 1000, false],
  ["a large body yields", 100_000, 0, true],
  ["a small change of a large object yields", 100, 100_000, true],
];
for (const [name, sent, met, due] of cases) {
  test(name, (t) => {
    const { work } = workClock(t);
    const yieldBudget = new YieldBudget(sent);
    yieldBudget.account(met);
    work();
    assert.equal(yieldBudget.expired, due);
    assert.equal(yieldBudget.isLarge, due);
  });
}

test("yielding and restarting begin a new time slice", async (t) => {
  const { work } = workClock(t);
  const yieldBudget = new YieldBudget(100_000);
  work();
  await yieldBudget.yield();
  assert.equal(yieldBudget.expired, false);
  work();
  yieldBudget.restart();
  assert.equal(yieldBudget.expired, false);
});
