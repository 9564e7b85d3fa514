import assert from "node:assert/strict";
import { test } from "node:test";
import { systemClock, virtualClock } from "#base";
import { ownMemory, returnMemory } from "./memory-return.ts";

const mebibyte = 1 << 20;
const cases: [name: string, periods: readonly { cpu: number; heap: number }[], collections: number][] = [
  ["a program at rest gives back what it holds", [{ cpu: 10, heap: 40 }], 1],
  [
    "one at work keeps it until it rests",
    [
      { cpu: 900, heap: 60 },
      { cpu: 900, heap: 60 },
    ],
    0,
  ],
  [
    "what has not grown much since is left alone",
    [
      { cpu: 10, heap: 40 },
      { cpu: 10, heap: 31 },
      { cpu: 10, heap: 33 },
    ],
    1,
  ],
  ["a heap that takes long to collect is left alone", [{ cpu: 10, heap: 400 }], 0],
  [
    "each burst is given back once",
    [
      { cpu: 10, heap: 40 },
      { cpu: 900, heap: 60 },
      { cpu: 10, heap: 60 },
      { cpu: 10, heap: 31 },
    ],
    2,
  ],
];
for (const [name, periods, collections] of cases)
  test(name, async () => {
    const clock = virtualClock();
    const over = new AbortController();
    let [cpu, heap, collected] = [0, 0, 0];
    const running = returnMemory(
      {
        clock,
        heapBytes: () => heap * mebibyte,
        cpuMilliseconds: () => cpu,
        collect: () => {
          collected++;
          heap = 30;
        },
      },
      over.signal,
    );
    for (const period of periods) {
      cpu += period.cpu;
      heap = period.heap;
      await clock.advance(10_000);
    }
    over.abort();
    await running;
    assert.equal(collected, collections);
  });

test("a program's own heap shrinks", () => {
  const { collect, heapBytes, cpuMilliseconds } = ownMemory(systemClock);
  let garbage: object[] | undefined = Array.from({ length: 500_000 }, (_, at) => ({ at }));
  const before = heapBytes();
  assert.equal(garbage.length, 500_000);
  garbage = undefined;
  collect();
  assert.ok(heapBytes() < before);
  assert.ok(cpuMilliseconds() > 0);
});
