import assert from "node:assert/strict";
import { test } from "node:test";
import { freePort, needs } from "#kit";
import { openBrowser, signedIn, visit } from "./browser.fixture.ts";

test("a navigation interrupted by the browser is not a page error", needs("chromium"), async () => {
  await using browser = await openBrowser();
  const nobody = `https://127.0.0.1:${await freePort()}`;
  await using visitor = await visit(browser, nobody);
  await signedIn(visitor.page, "secret");
  await assert.rejects(visitor.page.goto(`${nobody}/ui/`), /ERR_/);
  await visitor.page.waitForURL("chrome-error://chromewebdata/");
  await visitor.page.evaluate("document.readyState");
  assert.deepEqual(visitor.problems, []);
});
