import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { test } from "node:test";

// In a process of its own: objects are counted by looking at the whole heap, and that of all tests together is large.
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

test("long timers that are called off leave nothing behind, whatever their length", () => {
  const left = execFileSync(process.execPath, ["--no-warnings", "--conditions=orch-source", "--input-type=module", "--eval", counted], { encoding: "utf8" });
  assert.ok(Number(left) < 10, `${left.trim()} lists of timers are left`);
});
