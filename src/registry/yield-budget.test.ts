import assert from "node:assert/strict";
import { test } from "node:test";
import { YieldBudget } from "./yield-budget.ts";

/** Works for longer than one slice. */
function work(): void {
  const until = performance.now() + 10;
  while (performance.now() < until);
}

const cases: [name: string, sent: number, met: number, due: boolean][] = [
  ["a small write takes no breath, however long it takes", 1000, 1000, false],
  ["a large body does", 100_000, 0, true],
  ["so does a small change of a large object", 100, 100_000, true],
];
for (const [name, sent, met, due] of cases) {
  test(name, () => {
    const yieldBudget = new YieldBudget(sent);
    yieldBudget.account(met);
    work();
    assert.equal(yieldBudget.expired, due);
    assert.equal(yieldBudget.isLarge, due);
  });
}

test("after a breath, and after waiting, work begins anew", async () => {
  const yieldBudget = new YieldBudget(100_000);
  work();
  await yieldBudget.yield();
  assert.equal(yieldBudget.expired, false);
  work();
  yieldBudget.restart();
  assert.equal(yieldBudget.expired, false);
});
