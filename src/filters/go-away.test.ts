import assert from "node:assert/strict";
import { test } from "node:test";
import type { Reply } from "#http";
import { apiCall } from "#kit";
import { endConnection, goAway } from "./go-away.ts";

const cases: [protocol: "1.1" | "2", expected: unknown[]][] = [
  ["2", [true, undefined]],
  ["1.1", []],
];
for (const [protocol, expected] of cases)
  test(`over HTTP/${protocol} a client ${expected.length > 0 ? "receives" : "does not receive"} GOAWAY`, async () => {
    const reported: unknown[] = [];
    const call = apiCall({ path: "/", protocol, goAway: (atOnce) => reported.push(atOnce) });
    const next = async (): Promise<Reply> => ({ status: 200, headers: {} });
    endConnection(call);
    await goAway(0.5, () => 0.4).run(call, next);
    await goAway(0.5, () => 0.6).run(call, next);
    assert.deepEqual(reported, expected);
  });
