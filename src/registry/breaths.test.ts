import assert from "node:assert/strict";
import { test } from "node:test";
import { Breaths } from "./breaths.ts";

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
    const breaths = new Breaths(sent);
    breaths.meet(met);
    work();
    assert.equal(breaths.due, due);
  });
}

test("after a breath, and after waiting, work begins anew", async () => {
  const breaths = new Breaths(100_000);
  work();
  await breaths.take();
  assert.equal(breaths.due, false);
  work();
  breaths.begin();
  assert.equal(breaths.due, false);
});
