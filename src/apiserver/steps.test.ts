import assert from "node:assert/strict";
import { test } from "node:test";
import { dialects } from "#dialect";
import { StoreBusy, StoreFull } from "#store";
import { at, serve } from "./server.fixture.ts";
import { apiCall } from "#kit";
import { newAuditId, recover, warningValues } from "#filters";

const { ask, must } = await serve();
const maps = "/api/v1/namespaces/default/configmaps";

const cases: [name: string, texts: string[], values: string[]][] = [
  ["text is quoted", ["be careful"], ['299 - "be careful"']],
  ["quotes and backslashes are escaped", ['say "a\\b"'], ['299 - "say \\"a\\\\b\\""']],
  ["text with control characters is not sent", ["a\r\nSet-Cookie: b", "\u0000", "\u0085"], []],
  ["empty text is not sent", ["", "a"], ['299 - "a"']],
  ["characters that headers cannot contain are replaced", ["ü"], ['299 - "?"']],
  ["several warnings are sent in order", ["a", "b"], ['299 - "a"', '299 - "b"']],
  ["a single long warning is sent in full", ["x".repeat(4096)], [`299 - "${"x".repeat(4096)}"`]],
  ["a warning above the size limit is truncated", ["x".repeat(4097)], [`299 - "${"x".repeat(256)}"`]],
  [
    "many long warnings are truncated, and the last ones dropped",
    Array.from({ length: 60 }, () => "x".repeat(300)),
    Array.from({ length: 16 }, () => `299 - "${"x".repeat(256)}"`),
  ],
];
for (const [name, texts, values] of cases)
  test(`warnings: ${name}`, () => assert.deepEqual(warningValues(texts), values));

test("an unknown field is a warning that cannot inject headers", async () => {
  const answer = await must(201, "POST", `${maps}?dryRun=All`, {
    body: { metadata: { name: "a" }, 'x"\r\nSet-Cookie: y': 1, [`z${"z".repeat(100_000)}`]: 1 },
  });
  const warnings = [answer.headers["warning"] ?? []].flat();
  assert.equal(warnings.length, 2);
  for (const warning of warnings) {
    assert.match(warning, /^299 - "unknown field [\x20-\x7e]*"$/);
    assert.ok(warning.length < 300);
  }
});

test("duplicate fields cause warnings, too, and the last value is used", async () => {
  const answer = await must(201, "POST", `${maps}?dryRun=All`, {
    body: '{"metadata":{"name":"a","name":"b"},"data":{"x":"1","x":"2"}}',
  });
  assert.deepEqual(answer.headers["warning"], [
    '299 - "duplicate field \\"metadata.name\\""',
    '299 - "duplicate field \\"data.x\\""',
  ]);
  assert.deepEqual([answer.at("metadata.name"), answer.at("data.x")], ["b", "2"]);
});

const strictness: [mode: string, status: number, warned: boolean][] = [
  ["Ignore", 201, false],
  ["Warn", 201, true],
  ["Strict", 400, false],
];
for (const [mode, status, warned] of strictness) {
  test(`field validation ${mode}: unknown fields answer ${status}`, async () => {
    const answer = await must(status, "POST", `${maps}?dryRun=All&fieldValidation=${mode}`, {
      body: { metadata: { name: "a" }, unheard: 1 },
    });
    assert.equal("warning" in answer.headers, warned);
    if (status === 400)
      assert.match(String(answer.at("message")), /strict decoding error: unknown field "unheard"/);
  });
}

test("every response carries an audit ID, that of the client if it is valid", async () => {
  for (const path of ["/version", maps, `${maps}/none`, "/nowhere"])
    assert.match(String((await ask("GET", path)).headers["audit-id"]), /^[0-9a-f-]{36}$/);
  assert.equal(
    (await ask("GET", "/version", { headers: { "audit-id": "mine-1" } })).headers["audit-id"],
    "mine-1",
  );
  for (const bad of ["a b", "x".repeat(65), "a\r\nb", ""]) {
    const headers = { "audit-id": bad };
    assert.match(newAuditId({ headers } as unknown as Parameters<typeof newAuditId>[0]), /^[0-9a-f-]{36}$/);
  }
});

const errorCases: [name: string, error: Error, code: number, message: RegExp, logged: number][] = [
  ["an unexpected error", new Error("oops"), 500, /^Internal error occurred: logged-1$/, 1],
  [
    "a full store",
    new StoreFull("/somewhere", "disk is full"),
    500,
    /the store has no space left; nothing was written$/,
    1,
  ],
  ["a busy store", new StoreBusy(3), 429, /try again later$/, 0],
];
for (const [name, error, code, message, logged] of errorCases) {
  test(`${name} below the endpoints is answered with ${code}`, async () => {
    const seen: unknown[] = [];
    const options = {
      dialect: dialects.orch,
      unexpected: (surprise: unknown) => `logged-${seen.push(surprise)}`,
    } as unknown as Parameters<typeof recover>[0];
    const reply = await recover(options).run(apiCall({ method: "POST", path: maps }), () =>
      Promise.reject(error),
    );
    assert.equal(reply.status, code);
    assert.match(
      (JSON.parse(Buffer.from(reply.body as Uint8Array).toString()) as { message: string }).message,
      message,
    );
    assert.deepEqual(seen, [error].slice(0, logged));
  });
}

test("responses are not cacheable", async () => {
  assert.equal((await must(200, "GET", maps)).headers["cache-control"], "no-cache, private");
});

test("unauthenticated requests get 401, unauthorized ones 403, and nothing about the object is revealed", async () => {
  const anonymous = await must(403, "GET", `${maps}/secret`, {
    trusted: { name: "system:anonymous", groups: ["system:unauthenticated"] },
  });
  assert.match(
    String(anonymous.at("message")),
    /User "system:anonymous" cannot get resource "configmaps" in API group "" in the namespace "default"/,
  );
  const bad = await ask("GET", maps, {
    trusted: null as never,
    headers: { authorization: "Bearer nonsense" },
  });
  assert.deepEqual([bad.status, bad.at("reason")], [401, "Unauthorized"]);
});

const lateTokens: [name: string, authorization: string, warned: boolean][] = [
  ["a token after several spaces is ignored with a warning", "Bearer  nonsense", true],
  ["a scheme without a token is ignored silently", "Bearer", false],
  ["another scheme is ignored", "Basic  nonsense", false],
];
for (const [name, authorization, warned] of lateTokens) {
  test(name, async () => {
    const { headers } = await ask("GET", maps, { trusted: null as never, headers: { authorization } });
    assert.equal(headers["warning"] !== undefined, warned);
  });
}

test("impersonation changes the caller's identity if it is allowed", async () => {
  const { json } = await must(403, "GET", maps, {
    headers: { "impersonate-user": "jane", "impersonate-group": "dev" },
  });
  assert.match(String(at(json, "message")), /User "jane" cannot list/);
  await must(403, "GET", maps, {
    headers: { "impersonate-user": "admin" },
    trusted: { name: "jane", groups: [] },
  });
  const { text } = await must(500, "GET", maps, { headers: { "impersonate-group": "dev" } });
  assert.match(text, /^Internal Server Error: ".*": requested \[\{Group  dev    }] without impersonating/);
});
