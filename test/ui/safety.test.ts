// Security of the page: hostile content, framing, other origins, inline code, and sign-in without typing a
// token.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { type Server, createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import type { Browser } from "playwright-core";
import { type TestAuthority, needs, testAuthority } from "#kit";
import { goTo, openBrowser, signedIn, visit } from "./browser.fixture.ts";
import { type Shop, openShop } from "./shop.fixture.ts";

const built = join(import.meta.dirname, "..", "..", "dist", "pack", "ui");

test("the whole page is smaller than 120 KB, compressed", () => {
  const bytes = readdirSync(built)
    .filter((name) => name.endsWith(".br"))
    .reduce((sum, name) => sum + statSync(join(built, name)).size, 0);
  assert.ok(bytes > 10_000 && bytes < 120_000, `it has ${bytes} bytes`);
});

test("the page has no inline code and no third-party URLs", () => {
  const html = readFileSync(join(built, "index.html"), "utf8");
  assert.doesNotMatch(html, /<style|style=|\son\w+=|https?:/);
  for (const [, attributes, body] of html.matchAll(/<script([^>]*)>([^<]*)<\/script>/g)) {
    assert.match(attributes!, /src="app-\w+\.js"/);
    assert.equal(body, "");
  }
});

describe("the page in a hostile world", needs("chromium"), () => {
  const folder = mkdtempSync(join(tmpdir(), "orch-ui-"));
  const loginFile = join(folder, "login.json");
  let authority: TestAuthority;
  let shop: Shop;
  let browser: Browser;
  let elsewhere: Server;
  let elsewhereUrl: string;
  before(async () => {
    const caFile = join(folder, "ca.crt");
    authority = await testAuthority();
    writeFileSync(caFile, authority.ca);
    [shop, browser] = await Promise.all([
      openShop("orch", [`--ui-login-file=${loginFile}`, `--client-ca-file=${caFile}`]),
      openBrowser(),
    ]);
    elsewhere = createServer((_request, reply) => {
      reply.setHeader("content-type", "text/html");
      reply.end(`<!doctype html><title>elsewhere</title><iframe src="${shop.url}/ui/"></iframe>`);
    });
    await new Promise<void>((resolve) => elsewhere.listen(0, "127.0.0.1", resolve));
    elsewhereUrl = `http://127.0.0.1:${(elsewhere.address() as AddressInfo).port}`;
  });
  after(async () => {
    await browser?.close();
    await shop?.[Symbol.asyncDispose]();
    elsewhere?.close();
    rmSync(folder, { recursive: true });
  });

  test("markup, control characters, bidi tricks and huge notes are shown as text", async () => {
    const trap = `<img src=x onerror="globalThis.caught=1"><script>globalThis.caught=1</script>`;
    const pod = shop.pods[2]!;
    await shop.report(pod, { reason: trap, message: `${trap} \u001b[31m \u202egnp.exe`, type: "Warning" });
    await shop.report(pod, { reason: "Huge", message: "x".repeat(1 << 20), type: "Warning" });
    const named = { name: `${trap}\u202e`, namespace: "shop", uid: "trap" };
    await shop.report({ kind: "Pod", apiVersion: "v1", metadata: named }, { reason: "Odd", message: "odd" });
    await using visitor = await visit(browser, shop.url);
    const { page } = visitor;
    await signedIn(page, shop.adminToken);
    await goTo(page, `${shop.url}/ui/#/timeline?q=-n+shop&last=5m`);
    await page.getByRole("treeitem", { name: /onerror/ }).waitFor();
    await page.getByRole("treeitem", { name: /Pod web-7c9b-c3/ }).click();
    const detail = page.getByRole("complementary");
    await detail.getByText("<script>globalThis.caught=1</script>", { exact: false }).first().waitFor();
    await detail.getByText("␛[31m ‹U+202E›gnp.exe", { exact: false }).waitFor();
    await detail.getByRole("button", { name: /show 100,000 more characters/ }).waitFor();
    assert.equal(await page.evaluate("globalThis.caught"), undefined);
    assert.equal(await page.locator("main img").count(), 0);
    assert.ok(Number(await page.evaluate("document.body.textContent.length")) < 50_000);
    assert.deepEqual(visitor.problems, []);
  });

  test("injected inline code does not run", async () => {
    await using visitor = await visit(browser, shop.url);
    const { page } = visitor;
    await goTo(page, `${shop.url}/ui/`);
    await page.getByLabel("Token").waitFor();
    const outcome = await page.evaluate(`(() => {
      const script = document.createElement("script");
      try {
        script.textContent = "globalThis.caught = 1";
        document.body.append(script);
      } catch {
        // Trusted Types refuse it before the policy does.
      }
      return globalThis.caught;
    })()`);
    assert.equal(outcome, undefined);
  });

  test("the page cannot be framed, and other origins get nothing", async () => {
    const context = await browser.newContext({ ignoreHTTPSErrors: true });
    const page = await context.newPage();
    await goTo(page, elsewhereUrl);
    const frame = page.frames().find((each) => each !== page.mainFrame())!;
    assert.equal(await frame.getByLabel("Token").count(), 0);
    const got = await page.evaluate(async (url) => {
      const tries = ["/ui/", "/api", "/version", "/ui/login"].map((path) =>
        fetch(`${url}${path}`, { credentials: "include" }).then(
          () => `${path} answered`,
          () => "nothing",
        ),
      );
      return await Promise.all(tries);
    }, shop.url);
    assert.deepEqual(new Set(got), new Set(["nothing"]));
    await context.close();
  });

  test("a one-time link signs in, once", async () => {
    const code = "A".repeat(43);
    const codeHash = createHash("sha256").update(code).digest("hex");
    writeFileSync(
      loginFile,
      JSON.stringify({ codeHash, expires: Date.now() + 600_000, user: "admin", groups: ["system:masters"] }),
    );
    await using visitor = await visit(browser, shop.url);
    const { page } = visitor;
    await goTo(page, `${shop.url}/ui/#code=${code}`);
    await page.getByRole("button", { name: /ImagePullBackOff/ }).waitFor();
    assert.doesNotMatch(page.url(), /code/);
    await using second = await visit(browser, shop.url);
    await goTo(second.page, `${shop.url}/ui/#code=${code}`);
    await second.page.getByRole("alert").getByText("has been used").waitFor();
    assert.deepEqual([...visitor.problems, ...second.problems], []);
  });

  test("a client certificate needs no sign-in", async () => {
    const { cert, key } = await authority.issue("/O=system:masters/CN=admin");
    const context = await browser.newContext({
      ignoreHTTPSErrors: true,
      clientCertificates: [{ origin: shop.url, cert: Buffer.from(cert), key: Buffer.from(key) }],
    });
    const page = await context.newPage();
    await goTo(page, `${shop.url}/ui/`);
    await page.getByRole("button", { name: /ImagePullBackOff/ }).waitFor();
    await context.close();
  });
});
