import assert from "node:assert/strict";
import { test } from "node:test";
import { connectionLimits, openFileLimit, rateLimited } from "./connection-limits.ts";

const cases: [name: string, openFiles: number | undefined, connections: number, handshakes: number][] = [
  ["with an unknown limit connections are unlimited", undefined, Infinity, 1024],
  ["a large limit keeps descriptors for the rest of the process", 65_536, 65_408, 1024],
  ["a small limit is shared evenly", 200, 100, 50],
];
for (const [name, openFiles, connections, unfinishedHandshakes] of cases)
  test(name, () => assert.deepEqual(connectionLimits(openFiles), { connections, unfinishedHandshakes }));

test("the limit of this process is a number, and unknown if the system reports none", () => {
  if (process.platform === "linux") assert.ok(openFileLimit()! > 0);
  assert.equal(openFileLimit("/nonexistent"), undefined);
});

test("the first event is reported immediately, later ones after ten seconds with their number", () => {
  let now = 0;
  const counts: number[] = [];
  const report = rateLimited(
    () => now,
    (count) => counts.push(count),
  );
  for (now = 0; now < 25_000; now += 1000) report(undefined);
  assert.deepEqual(counts, [1, 10, 10]);
});
