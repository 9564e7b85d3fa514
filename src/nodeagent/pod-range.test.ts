import assert from "node:assert/strict";
import { test } from "node:test";
import { silentLog, virtualClock } from "#base";
import { fakeRuntime } from "#cri";
import { boundedRange, podRange } from "./pod-range.ts";

const ranges: [name: string, given: string, expected: string][] = [
  ["an IPv4 range is unchanged", "10.1.0.0/16", "10.1.0.0/16"],
  ["a wide IPv6 range is limited to 65536 addresses", "fd00:1::/64", "fd00:1::/112"],
  ["a narrow IPv6 range is unchanged", "fd00:1::/120", "fd00:1::/120"],
  ["each of two IP families is bounded separately", "10.1.0.0/16,fd00:1::/64", "10.1.0.0/16,fd00:1::/112"],
  ["an empty range stays empty", "", ""],
];
for (const [name, given, expected] of ranges) test(name, () => assert.equal(boundedRange(given), expected));

test("the runtime gets the pod CIDR when it becomes known and when it changes, with retries after failures", async () => {
  const clock = virtualClock();
  const runtime = fakeRuntime({ clock });
  const updates: (string | undefined)[] = [];
  let isFailing = true;
  runtime.updateRuntimeConfig = async (config) => {
    if (isFailing) throw new Error("not now");
    updates.push(config.networkConfig?.podCidr);
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
  isFailing = false;
  await step();
  await step();
  range = "10.2.0.0/24";
  await step();
  assert.deepEqual(updates, ["10.1.0.0/24", "10.2.0.0/24"]);
  stop.abort();
  await following;
});
