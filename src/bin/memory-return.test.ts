import assert from "node:assert/strict";
import { once } from "node:events";
import { test } from "node:test";
import { Worker } from "node:worker_threads";
import { virtualClock } from "#base";
import { returnMemory } from "./memory-return.ts";
import type { OwnHeap } from "./own-heap.fixture.ts";

const mebibyte = 1 << 20;
const cases: [name: string, periods: readonly { cpu: number; heap: number }[], collections: number][] = [
  [
    "an idle program returns memory, once more after its start",
    [
      { cpu: 10, heap: 40 },
      { cpu: 10, heap: 40 },
      { cpu: 10, heap: 33 },
    ],
    2,
  ],
  [
    "a busy program keeps memory until it is idle",
    [
      { cpu: 8000, heap: 60 },
      { cpu: 8000, heap: 60 },
    ],
    0,
  ],
  [
    "a heap that has not grown much is left alone",
    [
      { cpu: 10, heap: 40 },
      { cpu: 10, heap: 31 },
      { cpu: 10, heap: 33 },
      { cpu: 10, heap: 33 },
    ],
    2,
  ],
  ["a heap that takes long to collect is left alone", [{ cpu: 10, heap: 400 }], 0],
  [
    "memory of each burst is returned once",
    [
      { cpu: 10, heap: 40 },
      { cpu: 10, heap: 31 },
      { cpu: 8000, heap: 60 },
      { cpu: 8000, heap: 60 },
      { cpu: 10, heap: 60 },
      { cpu: 10, heap: 60 },
      { cpu: 10, heap: 31 },
    ],
    3,
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
      heap = period.heap;
      for (let half = 0; half < 20; half++) {
        cpu += period.cpu / 20;
        await clock.advance(500);
      }
    }
    over.abort();
    await running;
    assert.equal(collected, collections);
  });

test("a heap whose collection took long is left alone until it is smaller", async () => {
  const clock = virtualClock();
  const over = new AbortController();
  let [cpu, heap, collected] = [0, 40, 0];
  const options = {
    clock,
    heapBytes: () => heap * mebibyte,
    cpuMilliseconds: () => cpu,
    collect: () => {
      collected++;
      heap -= 10;
      cpu += 600;
    },
  };
  const running = returnMemory(options, over.signal);
  const collections = async (): Promise<number> => {
    for (let period = 0; period < 3; period++) await clock.advance(10_000);
    return collected;
  };
  assert.equal(await collections(), 1);
  heap = 50;
  assert.equal(await collections(), 1);
  heap = 29;
  assert.equal(await collections(), 2);
  over.abort();
  await running;
});

test("memory of the start is returned after half an idle second, and once more", async () => {
  const clock = virtualClock();
  const over = new AbortController();
  const collected: number[] = [];
  let cpu = 900;
  const options = {
    clock,
    heapBytes: () => 40 * mebibyte,
    cpuMilliseconds: () => cpu,
    collect: () => void collected.push(clock.now()),
  };
  const began = clock.now();
  const running = returnMemory(options, over.signal);
  cpu += 900;
  for (let half = 0; half < 32; half++) await clock.advance(500);
  over.abort();
  await running;
  assert.deepEqual(
    collected.map((at) => at - began),
    [1000, 11_000],
  );
});

test("the heap of the process shrinks", async () => {
  const thread = new Worker(new URL("own-heap.fixture.ts", import.meta.url));
  const [{ beforeBytes, afterBytes, cpuMilliseconds }] = (await once(thread, "message")) as [OwnHeap];
  await thread.terminate();
  assert.ok(afterBytes < beforeBytes);
  assert.ok(cpuMilliseconds > 0);
});
