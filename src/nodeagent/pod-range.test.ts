import assert from "node:assert/strict";
import { test } from "node:test";
import { silentLog, virtualClock } from "#base";
import { fakeRuntime } from "#cri";
import { boundedRange, podRange } from "./pod-range.ts";

const ranges: [name: string, given: string, told: string][] = [
  ["an IPv4 range is told as it is", "10.1.0.0/16", "10.1.0.0/16"],
  ["of a wide IPv6 range 65536 addresses are given out", "fd00:1::/64", "fd00:1::/112"],
  ["a narrow IPv6 range is told as it is", "fd00:1::/120", "fd00:1::/120"],
  ["each of two families has its own bound", "10.1.0.0/16,fd00:1::/64", "10.1.0.0/16,fd00:1::/112"],
  ["no range is none", "", ""],
];
for (const [name, given, told] of ranges) test(name, () => assert.equal(boundedRange(given), told));

test("the runtime is told the range when it becomes known and when it changes, and again until it has heard", async () => {
  const clock = virtualClock();
  const runtime = fakeRuntime({ clock });
  const told: (string | undefined)[] = [];
  let deaf = true;
  runtime.updateRuntimeConfig = async (config) => {
    if (deaf) throw new Error("not now");
    told.push(config.networkConfig?.podCidr);
  };
  const stop = new AbortController();
  let range = "";
  const following = podRange({ runtime, clock, log: silentLog, range: () => range }, stop.signal);
  const step = async (): Promise<void> => {
    await clock.advance(10_000);
    for (let turn = 0; turn < 10; turn++) await new Promise((resolve) => setImmediate(resolve));
  };
  await step();
  range = "10.1.0.0/24";
  await step();
  deaf = false;
  await step();
  await step();
  range = "10.2.0.0/24";
  await step();
  assert.deepEqual(told, ["10.1.0.0/24", "10.2.0.0/24"]);
  stop.abort();
  await following;
});
