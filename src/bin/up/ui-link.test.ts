import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { makeUiLink } from "./ui-link.ts";

test("a link contains a code in its fragment, and the private file only its hash and expiry", () => {
  const folder = mkdtempSync(join(tmpdir(), "orch-link-"));
  try {
    const uiLogin = join(folder, "login.json");
    const link = new URL(makeUiLink({ uiLogin }, "https://127.0.0.1:6443", { now: 1000, milliseconds: 500 }));
    assert.equal(`${link.origin}${link.pathname}${link.search}`, "https://127.0.0.1:6443/ui/");
    const code = new URLSearchParams(link.hash.slice(1)).get("code")!;
    assert.ok(code.length >= 40);
    const text = readFileSync(uiLogin, "utf8");
    assert.ok(!text.includes(code));
    const note = JSON.parse(text) as Record<string, unknown>;
    assert.equal(note["codeHash"], createHash("sha256").update(code).digest("hex"));
    assert.equal(note["expires"], 1500);
    assert.equal(statSync(uiLogin).mode & 0o077, 0);
    assert.notEqual(makeUiLink({ uiLogin }, "https://a", { now: 0 }).split("#")[1], link.hash.slice(1));
  } finally {
    rmSync(folder, { recursive: true });
  }
});
