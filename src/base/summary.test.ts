import assert from "node:assert/strict";
import { test } from "node:test";
import { summarySeries } from "./summary.ts";

const quantilesOf = (text: string): number[] =>
  [...text.matchAll(/quantile="[^"]+"\} (\S+)/g)].map((found) => Number(found[1]));

test("quantiles are within five per cent of what was observed", () => {
  const summary = summarySeries({ now: () => 0 });
  for (let value = 1; value <= 1000; value++) summary.observe(value / 1000);
  const found = quantilesOf(summary.expose("a", 'x="y"'));
  for (const [at, expected] of [0.5, 0.9, 0.99].entries())
    assert.ok(Math.abs(found[at]! / expected - 1) < 0.051, `${found[at]} for ${expected}`);
});

test("a summary shows its sum and count with its labels", () => {
  const summary = summarySeries({ now: () => 0 });
  summary.observe(2);
  assert.match(summary.expose("a", 'x="y"'), /a_sum\{x="y"\} 2\na_count\{x="y"\} 1\n$/);
  assert.match(summary.expose("a", ""), /^a\{quantile="0.5"\} /);
});

test("values older than the window count for the sum but not for quantiles", () => {
  let now = 0;
  const summary = summarySeries({ windowMilliseconds: 5000, now: () => now });
  summary.observe(9);
  now = 4000;
  summary.observe(1);
  assert.ok(quantilesOf(summary.expose("a", "")).at(-1)! > 8);
  now = 5000;
  assert.ok(quantilesOf(summary.expose("a", "")).at(-1)! < 1.1);
  now = 50_000;
  assert.deepEqual(quantilesOf(summary.expose("a", "")), [NaN, NaN, NaN]);
  assert.equal(summary.count, 2);
});
