import assert from "node:assert/strict";
import { test } from "node:test";
import { dealHand, flowHash } from "./shuffle-shard.ts";

test("a hand has different cards of the deck, the same for the same flow", () => {
  const [first, second]: number[][] = [[], []] as number[][];
  for (let flow = 0; flow < 2000; flow++) {
    const hash = flowHash("schema", `user ${flow}`);
    assert.ok(Number.isSafeInteger(hash) && hash >= 0);
    dealHand(hash, 128, 6, first!);
    dealHand(hash, 128, 6, second!);
    assert.deepEqual(first, second);
    assert.equal(new Set(first).size, 6);
    assert.ok(first!.every((card) => card >= 0 && card < 128));
  }
});

test("all cards are dealt about equally often", () => {
  const counts = Array.from({ length: 16 }, () => 0);
  const hand: number[] = [];
  for (let flow = 0; flow < 16_000; flow++) {
    dealHand(flowHash("s", `u${flow}`), 16, 4, hand);
    for (const card of hand) counts[card]!++;
  }
  for (const count of counts) assert.ok(Math.abs(count - 4000) < 400, counts.join());
});

test("a hand of the whole deck has every card", () => {
  const hand: number[] = [];
  dealHand(flowHash("s", "u"), 8, 8, hand);
  assert.deepEqual(
    hand.toSorted((a, b) => a - b),
    [0, 1, 2, 3, 4, 5, 6, 7],
  );
});
