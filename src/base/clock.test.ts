import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { test } from "node:test";
import { type Clock, systemClock, virtualClock } from "./clock.ts";

// Runs in a separate process: objects are counted by scanning the whole heap, and that of the test process is
// large.
const counted = `
  import { queryObjects } from "node:v8";
  import { systemClock } from ${JSON.stringify(new URL("./clock.ts", import.meta.url).href)};
  const probe = setTimeout(() => undefined, 12_345);
  const { constructor: List } = probe._idlePrev;
  const count = () => queryObjects(List, { format: "count" });
  const before = count();
  for (let at = 0; at < 1000; at++) {
    const cancel = systemClock.after(1_800_000 + at * 1.5, () => undefined);
    cancel();
    cancel();
  }
  console.log(count() - before);
  probe.close();
`;

test("cancelled long timers leave no memory behind, whatever their duration", () => {
  const left = execFileSync(
    process.execPath,
    ["--no-warnings", "--conditions=orch-source", "--input-type=module", "--eval", counted],
    { encoding: "utf8" },
  );
  assert.ok(Number(left) < 10, `${left.trim()} lists of timers are left`);
});

test("a time longer than Node's longest timer is waited for", async () => {
  const month = 30 * 86_400_000;
  const over = new AbortController();
  let runs = 0;
  const slept = systemClock.sleep(month, over.signal).then(() => runs++);
  const cancels = [month, Infinity].map((milliseconds) => systemClock.after(milliseconds, () => runs++));
  // A timer that is too long would run after one millisecond.
  for (let waits = 0; waits < 10; waits++) await systemClock.sleep(1);
  assert.equal(runs, 0);
  for (const cancel of cancels) cancel();
  over.abort(new Error("the test is over"));
  await assert.rejects(slept, /the test is over/);
});

test("a virtual clock runs what falls due, in order, and nothing else", async () => {
  const clock = virtualClock(1000);
  const ran: string[] = [];
  const note = (name: string) => (): void => void ran.push(`${name} at ${clock.now()}`);
  clock.after(30, note("late"));
  clock.after(10, () => {
    note("early")();
    clock.after(10, note("follower"));
  });
  clock.after(20, note("called off"))();
  clock.after(10, note("second"));
  await clock.advance(29);
  assert.deepEqual(ran, ["early at 1010", "second at 1010", "follower at 1020"]);
  await clock.advance(1);
  assert.deepEqual([ran.at(-1), clock.now()], ["late at 1030", 1030]);
});

const sleepers: [name: string, clock: Clock, pass: () => Promise<void>][] = (() => {
  const virtual = virtualClock();
  return [
    ["the system", systemClock, async () => undefined],
    ["a virtual", virtual, () => virtual.advance(1)],
  ];
})();
for (const [name, clock, pass] of sleepers) {
  test(`a sleep on ${name} clock ends after its time`, async () => {
    const slept = clock.sleep(1).then(() => "awake");
    await pass();
    assert.equal(await slept, "awake");
  });
  test(`a sleep on ${name} clock is ended by a signal, even one aborted before`, async () => {
    const stop = new AbortController();
    const sleeping = clock.sleep(1_000_000, stop.signal);
    stop.abort(new Error("enough"));
    await assert.rejects(sleeping, /enough/);
    await assert.rejects(clock.sleep(1, stop.signal), /enough/);
  });
}

test("setting a virtual clock changes the time, and neither timers nor the monotonic time", async () => {
  const clock = virtualClock(1000);
  let isDue = false;
  clock.after(10, () => (isDue = true));
  clock.set(500);
  assert.deepEqual([clock.now(), clock.monotonic()], [500, 1000]);
  await clock.advance(10);
  assert.deepEqual([clock.now(), clock.monotonic(), isDue], [510, 1010, true]);
});
