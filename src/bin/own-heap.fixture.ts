// A thread with a heap of its own that makes garbage and gives it back: in the thread of the tests a collection
// goes through what thousands of them hold.
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
const told: OwnHeap = { beforeBytes, afterBytes: heapBytes(), cpuMilliseconds: cpuMilliseconds() };
parentPort!.postMessage(told);
