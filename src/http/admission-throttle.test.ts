import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import { AdmissionThrottle } from "./admission-throttle.ts";

const standing = (): number => 0;

test("many requests are started in order, some in each turn of the event loop", async () => {
  const turns = new AdmissionThrottle(standing);
  const begun: number[] = [];
  for (let i = 0; i < 200; i++) turns.begin(() => void begun.push(i), "GET", "/api");
  const sizes = [begun.length];
  while (begun.length < 200) {
    await nextTurn();
    sizes.push(begun.length);
  }
  assert.deepEqual(sizes, [64, 128, 192, 200]);
  assert.deepEqual(
    begun,
    Array.from({ length: 200 }, (_, i) => i),
  );
});

test("requests that arrive one by one are never delayed", async () => {
  const turns = new AdmissionThrottle(standing);
  let begun = 0;
  for (let i = 1; i <= 200; i++) {
    turns.begin(() => void begun++, "GET", "/api");
    assert.equal(begun, i);
    await nextTurn();
  }
});

test("requests that arrive while others are queued are queued behind them", async () => {
  const turns = new AdmissionThrottle(standing);
  const begun: string[] = [];
  for (let i = 0; i < 130; i++) turns.begin(() => void begun.push("crowd"), "GET", "/api");
  await nextTurn();
  turns.begin(() => void begun.push("late"), "GET", "/api");
  while (begun.length < 131) await nextTurn();
  assert.equal(begun.at(-1), "late");
});

const urgent: [method: string, path: string, isUrgent: boolean][] = [
  ["GET", "/livez", true],
  ["GET", "/readyz?verbose", true],
  ["GET", "/healthz/ping", true],
  ["PUT", "/apis/coordination/v1/leases/a", true],
  ["PATCH", "/api/v1/nodes/a/status", true],
  ["GET", "/api/v1/pods", false],
  ["HEAD", "/api/v1/pods", false],
  ["GET", "/livezz", false],
];

for (const [method, path, isUrgent] of urgent)
  test(`${method} ${path} ${isUrgent ? "precedes" : "waits for"} earlier reads`, async () => {
    const turns = new AdmissionThrottle(standing);
    const begun: string[] = [];
    for (let i = 0; i < 300; i++) turns.begin(() => void begun.push("read"), "GET", "/api/v1/pods");
    turns.begin(() => void begun.push("it"), method, path);
    while (begun.length < 301) await nextTurn();
    assert.equal(begun.indexOf("it"), isUrgent ? 64 : 300);
  });

test("one of four started requests is a read, however many writes are queued", async () => {
  const turns = new AdmissionThrottle(standing);
  const begun: string[] = [];
  for (let i = 0; i < 64; i++) turns.begin(() => undefined, "GET", "/api");
  for (let i = 0; i < 64; i++) turns.begin(() => void begun.push("write"), "PUT", "/api");
  for (let i = 0; i < 16; i++) turns.begin(() => void begun.push("read"), "GET", "/api");
  await nextTurn();
  assert.equal(begun.filter((each) => each === "read").length, 16);
  assert.deepEqual(begun.slice(0, 4), ["write", "write", "write", "read"]);
});

test("long turns start fewer requests, and all are started eventually", async () => {
  let now = 0;
  const turns = new AdmissionThrottle(() => now);
  let begun = 0;
  for (let i = 0; i < 200; i++) turns.begin(() => void begun++, "GET", "/api");
  const sizes: number[] = [];
  for (let before = begun; begun < 200; before = begun) {
    now += 100;
    await nextTurn();
    sizes.push(begun - before);
  }
  assert.deepEqual(sizes.slice(0, 4), [32, 16, 8, 8]);
  // A rest below the crowd threshold is started, too.
  for (let i = 0; i < 10; i++) turns.begin(() => void begun++, "GET", "/api");
  for (let i = 0; begun < 210 && i < 10; i++) await nextTurn();
  assert.equal(begun, 210);
});
