import assert from "node:assert/strict";
import { test } from "node:test";
import { queryObjects } from "node:v8";
import { systemClock } from "./clock.ts";

test("long timers that are called off leave nothing behind, whatever their length", () => {
  const probe = setTimeout(() => undefined, 12_345) as unknown as { readonly _idlePrev: object; close(): void };
  const { constructor: List } = probe._idlePrev as { constructor: new () => object };
  const count = (): number => queryObjects(List, { format: "count" });
  const before = count();
  for (let at = 0; at < 1000; at++) {
    const cancel = systemClock.after(1_800_000 + at * 1.5, () => undefined);
    cancel();
    cancel();
  }
  assert.ok(count() < before + 10, `${count()} lists of timers where ${before} were`);
  probe.close();
});
