import assert from "node:assert/strict";
import { test } from "node:test";
import { apiCall } from "#kit";
import { crossOrigin, originMatcher, strictTransport } from "./response-headers.ts";

const origins: [name: string, pattern: string, origin: string, allowed: boolean][] = [
  ["a whole origin", "^https://ok\\.example$", "https://ok.example", true],
  ["another origin", "^https://ok\\.example$", "https://other.example", false],
  ["any port after the host", "//ok\\.example(:|$)", "https://ok.example:8443", true],
  ["a bare host name", "ok\\.example", "https://ok.example", true],
  ["a host that only starts like the pattern", "ok\\.example", "https://ok.example.evil.test", false],
  ["a host that only ends like the pattern", "ok\\.example", "https://not-ok.example", false],
  ["a subdomain that the pattern allows", "//[a-z]+\\.example$", "https://app.example", true],
  ["everything", ".*", "https://any.test", true],
  ["an origin that is not a URL", ".*", "null", true],
];
for (const [name, pattern, origin, allowed] of origins)
  test(`${name} is ${allowed ? "allowed" : "rejected"}`, () =>
    assert.equal(originMatcher([pattern])(origin), allowed));

test("an overlong origin is rejected without matching", () =>
  assert.equal(originMatcher(["(a+)+$"])(`https://${"a".repeat(5000)}!`), false));

test("a preflight request is answered without authentication", async () => {
  const call = apiCall({ method: "OPTIONS", path: "/api", headers: { origin: "https://ok.example" } });
  const reply = await crossOrigin(["^https://ok\\.example$"]).run(call, () =>
    assert.fail("nobody else is asked"),
  );
  assert.equal(reply.status, 204);
  assert.equal(call.headers["access-control-allow-origin"], "https://ok.example");
  assert.equal(call.headers["access-control-allow-methods"], "POST, GET, OPTIONS, PUT, DELETE, PATCH");
});

test("a preflight request of another origin is passed on, without headers", async () => {
  const call = apiCall({ method: "OPTIONS", path: "/api", headers: { origin: "https://other.example" } });
  const reply = await crossOrigin(["^https://ok\\.example$"]).run(call, () =>
    Promise.resolve({ status: 405, headers: {} }),
  );
  assert.equal(reply.status, 405);
  assert.deepEqual(call.headers, {});
});

test("an empty Origin header is ignored", async () => {
  const call = apiCall({ path: "/api", headers: { origin: "" } });
  await crossOrigin([".*"]).run(call, () => Promise.resolve({ status: 200, headers: {} }));
  assert.deepEqual(call.headers, {});
});

test("strict transport security directives are joined in one header", async () => {
  const call = apiCall();
  await strictTransport(["max-age=5", "preload"]).run(call, () =>
    Promise.resolve({ status: 200, headers: {} }),
  );
  assert.equal(call.headers["strict-transport-security"], "max-age=5; preload");
});
