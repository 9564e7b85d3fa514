import assert from "node:assert/strict";
import { test } from "node:test";
import { FrameBudget } from "./frame-budget.ts";

const frames = 50_000;

test("a client that only sends frames without progress is rejected after a burst", () => {
  const budget = new FrameBudget(() => 0);
  assert.throws(() => {
    for (let at = 0; at < frames; at++) budget.charge();
  }, /too many frames that bring no progress/);
});

test("a client may react to every response, however many there are", () => {
  let answered = 0;
  const budget = new FrameBudget(() => answered);
  for (let at = 0; at < frames; at++) {
    answered++;
    budget.charge();
  }
});

test("old responses do not permit more than a burst", () => {
  const budget = new FrameBudget(() => 1e9);
  assert.throws(() => {
    for (let at = 0; at < frames; at++) budget.charge();
  }, /too many frames/);
});
