import assert from "node:assert/strict";
import { test } from "node:test";
import { ApiError } from "#base";
import { dialects } from "#dialect";
import { apiCall } from "#kit";
import { recover } from "./recover.ts";

const filter = recover({ dialect: dialects.orch, unexpected: () => "id" });

const codes: [code: number, status: number][] = [
  [99, 500],
  [418, 418],
  [999, 999],
  [1000, 500],
  [2_147_483_647, 500],
];
for (const [code, status] of codes)
  test(`an error with code ${code} is answered with status ${status}`, async () => {
    const denied = new ApiError(code, "Denied", "denied by a webhook");
    const reply = await filter.run(apiCall(), () => Promise.reject(denied));
    assert.equal(reply.status, status);
    const body = JSON.parse(String(reply.body)) as Record<string, unknown>;
    assert.deepEqual([body["code"], body["message"]], [code, "denied by a webhook"]);
  });
