import assert from "node:assert/strict";
import { test } from "node:test";
import { dialects } from "#dialect";
import { settleFlags } from "../options/settings.ts";
import { limitsOf } from "./event-limits.ts";

const none = { count: 0, bytes: 0 };
const unlimited = { whole: none, namespace: none, types: { Normal: none, Warning: none } };
const cases: [flag: string, limits: object | undefined][] = [
  ["--event-ttl=1h", undefined],
  ["--event-max-count=5", { whole: { count: 5, bytes: 0 } }],
  ["--event-max-bytes=6", { whole: { count: 0, bytes: 6 } }],
  ["--event-max-count-per-namespace=7", { namespace: { count: 7, bytes: 0 } }],
  ["--event-max-bytes-per-namespace=8", { namespace: { count: 0, bytes: 8 } }],
  ["--event-max-count-per-type=Normal=9", { types: { Normal: { count: 9, bytes: 0 }, Warning: none } }],
  ["--event-max-bytes-per-type=Warning=10", { types: { Normal: none, Warning: { count: 0, bytes: 10 } } }],
];
for (const [flag, limits] of cases)
  test(`${flag} is ${limits ? "a limit of stored events" : "no limit"}`, () =>
    assert.deepEqual(
      limitsOf(settleFlags(dialects.orch, [flag]).values),
      limits && { ...unlimited, ...limits },
    ));
