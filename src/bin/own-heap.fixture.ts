// Test fixture: a worker thread with a separate heap that creates and collects garbage; in the test thread a
// collection would traverse the heap of all tests.
import { parentPort } from "node:worker_threads";
import { systemClock } from "#base";
import { ownMemory } from "./memory-return.ts";

export interface OwnHeap {
  readonly beforeBytes: number;
  readonly afterBytes: number;
  readonly cpuMilliseconds: number;
}

const { collect, heapBytes, cpuMilliseconds } = ownMemory(systemClock);
let garbage: object[] | undefined = Array.from({ length: 500_000 }, (_, at) => ({ at }));
const beforeBytes = garbage.length > 0 ? heapBytes() : 0;
garbage = undefined;
collect();
const message: OwnHeap = { beforeBytes, afterBytes: heapBytes(), cpuMilliseconds: cpuMilliseconds() };
parentPort!.postMessage(message);
