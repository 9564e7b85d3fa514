import assert from "node:assert/strict";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { virtualClock } from "#base";
import { codeHash, oneTimeLogin } from "./one-time-login.ts";

const hour = 3_600_000;

function setUp(note?: unknown) {
  const folder = mkdtempSync(join(tmpdir(), "orch-login-"));
  const file = join(folder, "login.json");
  const clock = virtualClock(1_000_000);
  if (note !== undefined) writeFileSync(file, typeof note === "string" ? note : JSON.stringify(note));
  return {
    file,
    clock,
    login: oneTimeLogin(file, clock),
    [Symbol.dispose]: () => rmSync(folder, { recursive: true }),
  };
}
const noteOf = (code: string, expires = 2_000_000) => ({
  codeHash: codeHash(code),
  expires,
  user: "admin",
  groups: ["masters"],
});

test("a code is exchanged for a token of its user, once", () => {
  using it = setUp(noteOf("secret"));
  const made = it.login.exchange("secret");
  assert.ok(made);
  assert.deepEqual(it.login.tokens.identify(made.token, []), {
    user: { name: "admin", groups: ["masters"] },
  });
  assert.equal(it.login.exchange("secret"), undefined);
  assert.equal(existsSync(it.file), false);
});

test("a wrong code is rejected and keeps the right one valid", () => {
  using it = setUp(noteOf("secret"));
  assert.equal(it.login.exchange("guess"), undefined);
  assert.ok(it.login.exchange("secret"));
});

const refused: [string, unknown][] = [
  ["an expired code", noteOf("secret", 1_000_000)],
  ["a file with invalid JSON", "{"],
  ["a file without a user", { ...noteOf("secret"), user: undefined }],
  ["a missing file", undefined],
];
for (const [name, note] of refused)
  test(`${name} yields no token`, () => {
    using it = setUp(note);
    assert.equal(it.login.exchange("secret"), undefined);
  });

test("a token expires", async () => {
  using it = setUp(noteOf("secret"));
  const { token } = it.login.exchange("secret")!;
  await it.clock.advance(9 * hour);
  assert.equal(it.login.tokens.identify(token, []), undefined);
});

test("the number of tokens is bounded; the oldest is dropped", () => {
  using it = setUp();
  const made = Array.from({ length: 65 }, (_, at) => {
    writeFileSync(it.file, JSON.stringify(noteOf(`code-${at}`)));
    return it.login.exchange(`code-${at}`)!.token;
  });
  assert.equal(it.login.tokens.identify(made[0]!, []), undefined);
  assert.ok(it.login.tokens.identify(made[64]!, []));
});
