import assert from "node:assert/strict";
import { test } from "node:test";
import { virtualClock } from "#base";
import { dialects } from "#dialect";
import { BadCredential } from "./authenticator.ts";
import { cachedTokens } from "./token-cache.ts";
import { webhookTokens } from "./webhook-token.ts";

const dialect = dialects.orch;
const apiVersion = `authentication.${dialect.wire.groupSuffix}/v1`;

function harness(status: object | string, version: "v1" | "v1beta1" = "v1") {
  const sent: { spec: object; apiVersion: string }[] = [];
  const errors: string[] = [];
  const method = webhookTokens({
    webhook: {
      post: async (document) => {
        sent.push(JSON.parse(document) as (typeof sent)[number]);
        return typeof status === "string"
          ? status
          : JSON.stringify({ apiVersion, kind: "TokenReview", status });
      },
      close: () => undefined,
    },
    version,
    dialect,
    audiences: ["api"],
    onError: (error) => errors.push(error.message),
  });
  return {
    sent,
    errors,
    method,
    identify: async (audiences: string[] = ["api"]) => await method.identify("t", audiences),
  };
}

test("a review is sent with the token and its audiences, and the user is returned", async () => {
  const user = { username: "pat", uid: "u", groups: ["a"], extra: { scope: ["x"] } };
  const { identify, sent } = harness({ authenticated: true, user });
  assert.deepEqual(await identify(), {
    user: { name: "pat", uid: "u", groups: ["a"], extra: { scope: ["x"] } },
    audiences: ["api"],
  });
  assert.deepEqual(sent[0]!.spec, { token: "t", audiences: ["api"] });
});

test("audiences are in the order of the response", async () => {
  const { identify } = harness({
    authenticated: true,
    user: { username: "p" },
    audiences: ["b", "x", "a"],
  });
  assert.deepEqual((await identify(["a", "b"]))?.audiences, ["b", "a"]);
});

const cases: [name: string, status: object | string, outcome: "nobody" | "bad" | "good"][] = [
  ["not authenticated", { authenticated: false }, "nobody"],
  ["an empty status", {}, "nobody"],
  ["an error", { error: "no" }, "bad"],
  [
    "an error of an authenticated status is ignored",
    { authenticated: true, error: "no", user: { username: "p" } },
    "good",
  ],
  ["other audiences", { authenticated: true, user: { username: "p" }, audiences: ["other"] }, "nobody"],
  ["an error with other audiences", { error: "no", audiences: ["other"] }, "nobody"],
  ["invalid JSON", "nope", "bad"],
  ["another kind", JSON.stringify({ apiVersion, kind: "Pod", status: { authenticated: true } }), "bad"],
  [
    "another version",
    JSON.stringify({
      apiVersion: `${apiVersion}beta1`,
      kind: "TokenReview",
      status: { authenticated: true },
    }),
    "bad",
  ],
  ["groups that are not a list", { authenticated: true, user: { username: "p", groups: "a" } }, "bad"],
];
for (const [name, status, outcome] of cases)
  test(`a response of the token webhook: ${name}`, async () => {
    const { identify } = harness(status);
    if (outcome === "bad") return await assert.rejects(identify(), BadCredential);
    assert.equal((await identify()) !== undefined, outcome === "good");
  });

test("successes and refusals are cached, failures are not, and concurrent requests share one call", async () => {
  const clock = virtualClock();
  const options = { clock, successMilliseconds: 1000, failureMilliseconds: 500 };
  for (const [status, requestCount] of [
    [{ authenticated: true, user: { username: "p" } }, 1],
    [{ authenticated: false }, 1],
    ["nope", 3],
  ] as const) {
    const { method, sent } = harness(status);
    const cached = cachedTokens(method, options);
    await Promise.allSettled([cached.identify("t", ["api"]), cached.identify("t", ["api"])]);
    await Promise.allSettled([cached.identify("t", ["api"])]);
    await Promise.allSettled([cached.identify("t", ["api"])]);
    assert.equal(sent.length, requestCount);
    await Promise.allSettled([cached.identify("t", ["other"])]);
    assert.equal(sent.length, requestCount + 1);
  }
  const { method, sent } = harness({ authenticated: true, user: { username: "p" } });
  const cached = cachedTokens(method, options);
  await cached.identify("t", []);
  await clock.advance(1000);
  await cached.identify("t", []);
  assert.equal(sent.length, 2);
});
