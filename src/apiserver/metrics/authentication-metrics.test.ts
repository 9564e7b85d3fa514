import assert from "node:assert/strict";
import { test } from "node:test";
import type { Authenticator, Credentials } from "#authn";
import { createMetrics } from "#base";
import { measuredAuthenticator, tokenMetrics } from "./authentication-metrics.ts";

const credentials: Credentials = { headers: () => [], headerNames: () => [] };
const user = { user: { name: "a", groups: [] } };

const outcomes: [result: string, authenticate: Authenticator["authenticate"]][] = [
  ["success", async () => user],
  ["failure", async () => undefined],
  ["error", () => Promise.reject(new Error("no"))],
  ["success", () => user],
  ["failure", () => undefined],
  [
    "error",
    () => {
      throw new Error("no");
    },
  ],
];
for (const [result, authenticate] of outcomes)
  test(`an authentication attempt with the result ${result} is counted`, async () => {
    const metrics = createMetrics();
    const measured = measuredAuthenticator({ authenticate }, metrics);
    await (async () => measured.authenticate(credentials))().catch(() => undefined);
    const text = metrics.expose();
    assert.match(text, new RegExp(`authentication_attempts\\{result="${result}"\\} 1`));
    assert.match(text, new RegExp(`authentication_duration_seconds_count\\{result="${result}"\\} 1`));
  });

test("tokens are counted by kind and cache result", async () => {
  const metrics = createMetrics();
  const observer = tokenMetrics(metrics);
  observer.used("stale");
  observer.cached();
  await observer.verify(async () => 1);
  await assert.rejects(observer.verify(() => Promise.reject(new Error("bad"))));
  const text = metrics.expose();
  assert.match(text, /serviceaccount_stale_tokens_total 1/);
  assert.match(text, /token_cache_request_total\{status="hit"\} 1/);
  assert.match(text, /token_cache_request_total\{status="miss"\} 2/);
  assert.match(text, /token_cache_fetch_total\{status="error"\} 1/);
  assert.match(text, /token_cache_active_fetch_count\{status="in_flight"\} 0/);
});
