// The page in a real browser, used as a person would use it: the same tests in both dialects.
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import type { Browser } from "playwright-core";
import type { DialectName } from "#dialect";
import { needs } from "#kit";
import {
  type Page,
  type VisitOptions,
  type Visitor,
  goTo,
  openBrowser,
  signIn,
  signedIn,
  visit,
} from "./browser.fixture.ts";
import { reachTests } from "./page-reach.fixture.ts";
import { statesTests } from "./page-states.fixture.ts";
import { type Shop, openShop } from "./shop.fixture.ts";

/** Directory of the screenshots for the docs, which are taken with UPDATE=1. */
const pictures = join(import.meta.dirname, "..", "..", "docs", "ui");
const chromium = needs("chromium");

/** State and helpers that the tests of a dialect share. */
export interface PageSuite {
  readonly shop: () => Shop;
  open(options?: VisitOptions): Promise<Visitor>;
  /** Opens a view as if the administrator had signed in before. */
  asAdmin(page: Page, route: string): Promise<void>;
  picture(page: Page, name: string): Promise<void>;
}

export function pageSuite(dialect: DialectName): void {
  describe(`the page of a server that speaks ${dialect}`, chromium, () => {
    let shop: Shop;
    let browser: Browser;
    before(async () => {
      [shop, browser] = await Promise.all([openShop(dialect), openBrowser()]);
    });
    after(async () => {
      await browser?.close();
      await shop?.[Symbol.asyncDispose]();
    });
    const open = (options?: VisitOptions): Promise<Visitor> => visit(browser, shop.url, options);
    const asAdmin = async (page: Page, route: string): Promise<void> => {
      await signedIn(page, shop.adminToken);
      await goTo(page, `${shop.url}/ui/${route}`);
    };
    const picture = async (page: Page, name: string): Promise<void> => {
      const path = join(pictures, `${name}.png`);
      if (dialect === "orch" && (process.env["UPDATE"] || !existsSync(path))) await page.screenshot({ path });
    };

    const suite: PageSuite = { shop: () => shop, open, asAdmin, picture };

    test("a wrong token is refused with a message, a valid one shows the overview", async () => {
      await using visitor = await open();
      const { page } = visitor;
      await goTo(page, `${shop.url}/ui/`);
      await page.getByLabel("Token").fill("wrong");
      await page.getByRole("button", { name: "Sign in" }).click();
      await page.getByRole("alert").getByText("token is invalid or has expired").waitFor();
      await page.getByLabel("Token").fill(shop.adminToken);
      await page.getByRole("button", { name: "Sign in" }).click();
      await page.getByRole("heading", { name: "Current problems" }).waitFor();
      await page.getByRole("button", { name: "Sign out" }).click();
      await page.getByRole("heading", { name: "Sign in" }).waitFor();
      assert.equal(await page.evaluate("sessionStorage.length"), 0);
      assert.deepEqual(visitor.problems, []);
    });

    test("the cause of a failed rollout is found in three clicks", async () => {
      await using visitor = await open();
      const { page } = visitor;
      await signIn(page, shop.url, shop.adminToken);
      const problem = page.getByRole("button", { name: /ImagePullBackOff/ });
      await problem.waitFor();
      await page.getByText("Insufficient memory").first().waitFor();
      await page.getByRole("button", { name: /CrashLoopBackOff.*7 restarts.*OOMKilled 137/ }).waitFor();
      await page.getByRole("button", { name: /Evicted.*low on resource: memory/ }).waitFor();
      await page.getByRole("button", { name: /Unhealthy.*Readiness probe failed/ }).waitFor();
      await picture(page, "overview");
      await problem.click();
      const detail = page.getByRole("complementary");
      await detail.getByText("manifest unknown: no such tag").first().waitFor();
      await page.getByRole("treeitem", { name: /Pod web-7c9b-c3/ }).waitFor();
      await picture(page, "cause");
      assert.deepEqual(visitor.problems, []);
    });

    test("a search in command-line syntax finds an object with everything it owns", async () => {
      await using visitor = await open();
      const { page } = visitor;
      await asAdmin(page, "#/timeline");
      await page.getByRole("treeitem", { name: /Node node-1/ }).waitFor();
      await picture(page, "timeline");
      await page.keyboard.press("/");
      await page.keyboard.type("deploy/web -n shop");
      await page.keyboard.press("Enter");
      await page.getByRole("treeitem", { name: /Pod web-7c9b-c3/ }).waitFor();
      await page.getByRole("treeitem", { name: /Node node-1/ }).waitFor({ state: "detached" });
      assert.match(page.url(), /q=deploy%2Fweb/);
      await page.goBack();
      await page.getByRole("treeitem", { name: /Node node-1/ }).waitFor();
      const search = page.getByRole("searchbox", { name: /^Search/ });
      await search.fill("kubectl events --for pod/web-7c9b-c3 --types=Warning -n shop --since 2h");
      await search.press("Enter");
      await page.waitForURL(/last=2h/);
      await page.getByText("1 object, live").waitFor();
      await page.getByRole("treeitem", { name: /Pod web-7c9b-c3/ }).waitFor();
      await search.fill("get pods -l app=other -n shop --context here");
      await search.press("Enter");
      await page.getByRole("note").getByText("--context here").waitFor();
      await page.getByText("No events in this range").waitFor();
      await search.fill("get pods -l app=web -n shop");
      await search.press("Enter");
      await page.getByRole("treeitem", { name: /Pod web-7c9b-c3/ }).waitFor();
      assert.deepEqual(visitor.problems, []);
    });

    test("dragging across the histogram selects the range, and a link shows the same view", async () => {
      await using visitor = await open();
      const { page } = visitor;
      await asAdmin(page, "#/timeline?q=-n+shop");
      const chart = page.getByRole("img", { name: /warnings,/ });
      await chart.waitFor();
      await page.getByRole("treeitem", { name: /Pod web-7c9b-c3/ }).waitFor();
      const box = (await chart.boundingBox())!;
      await page.mouse.move(box.x + box.width * 0.6, box.y + 40);
      await page.mouse.down();
      await page.mouse.move(box.x + box.width * 0.8, box.y + 40, { steps: 4 });
      await page.mouse.up();
      await page.waitForURL(/since=.*until=/);
      assert.equal(await page.getByRole("button", { name: "Live" }).getAttribute("aria-pressed"), "false");
      const link = page.url();
      await using other = await open();
      await signedIn(other.page, shop.adminToken);
      await goTo(other.page, link);
      await other.page.getByRole("region", { name: "Timeline" }).waitFor();
      assert.equal(
        await other.page.getByRole("button", { name: "Live" }).getAttribute("aria-pressed"),
        "false",
      );
      await page.getByRole("button", { name: "Live" }).click();
      await page.waitForURL((url) => !url.href.includes("until="));
      await page.getByRole("button", { name: "Warnings only" }).click();
      await page.waitForURL(/type%3DWarning/);
      await page.getByRole("treeitem", { name: /Pod web-5d4f-b2/ }).waitFor({ state: "detached" });
      await page.getByRole("button", { name: "Zoom out" }).click();
      assert.deepEqual([...visitor.problems, ...other.problems], []);
    });

    test("an object shows its events, its YAML and, without an agent, why there is no log", async () => {
      await using visitor = await open();
      const { page } = visitor;
      await asAdmin(page, "#/timeline?q=-n+shop");
      await page.getByRole("treeitem", { name: /Pod web-7c9b-c3/ }).click();
      const detail = page.getByRole("complementary", { name: "Pod web-7c9b-c3" });
      await detail.getByText("Back-off pulling image").first().waitFor();
      await detail.getByLabel("Find in reasons, notes and names").fill("manifest");
      await detail.getByText("Back-off pulling image").first().waitFor({ state: "detached" });
      await detail.getByText("manifest unknown: no such tag").first().waitFor();
      await detail.getByLabel("Find in reasons, notes and names").fill("");
      await detail.getByText("Scheduled", { exact: true }).waitFor();
      await detail.getByLabel("warnings only").check();
      await detail.getByText("Scheduled", { exact: true }).waitFor({ state: "detached" });
      await detail.getByText("Back-off pulling image").first().waitFor();
      await detail.getByRole("tab", { name: "YAML" }).click();
      await detail.getByText("name: web-7c9b-c3").first().waitFor();
      const yaml = detail.getByLabel("The object as YAML");
      assert.doesNotMatch(await yaml.innerText(), /managedFields/);
      await detail.getByLabel("with managed fields").check();
      await yaml.getByText("managedFields", { exact: false }).waitFor();
      await detail.getByRole("tab", { name: "Logs" }).click();
      await detail.getByRole("alert").getByText("could not be loaded").waitFor();
      assert.deepEqual(visitor.problems, []);
    });

    test("a deployment shows its owned objects, and changes as a diff", async () => {
      await using visitor = await open();
      const { page } = visitor;
      await asAdmin(page, "#/timeline?q=-n+shop");
      await page.getByRole("treeitem", { name: /Deployment web/ }).click();
      const detail = page.getByRole("complementary", { name: "Deployment web" });
      await detail.getByText("manifest unknown").first().waitFor();
      await detail.getByRole("tab", { name: "Changes" }).click();
      const diff = detail.getByLabel("Changed fields").first();
      await diff
        .getByText("+", { exact: false })
        .getByText("registry.test/web:1.5", { exact: false })
        .waitFor();
      await diff.getByText("registry.test/web:1.4", { exact: false }).waitFor();
      await picture(page, "changes");
      await detail.getByRole("tab", { name: "Tree" }).click();
      await detail.getByRole("button", { name: /web-7c9b-c3/ }).click();
      await page.getByRole("complementary", { name: "Pod web-7c9b-c3" }).waitFor();
      assert.deepEqual(visitor.problems, []);
    });

    test("the lines of a log appear as they are written, as plain text", async () => {
      await using visitor = await open();
      const { page } = visitor;
      await page.route(/\/pods\/web-5d4f-a1\/log\?/, (route) =>
        route.fulfill({ body: "one\n\u001b[31m<b>two</b>\n", contentType: "text/plain" }),
      );
      await asAdmin(page, "#/timeline?q=-n+shop");
      await page.getByRole("treeitem", { name: /Pod web-5d4f-a1/ }).click();
      await page.getByRole("tab", { name: "Logs" }).click();
      await page.getByLabel("Log", { exact: true }).getByText("␛[31m<b>two</b>", { exact: false }).waitFor();
      await page.getByLabel("Container").selectOption("app");
      assert.deepEqual(visitor.problems, []);
    });

    test("new events appear without user action", async () => {
      await using visitor = await open();
      const { page } = visitor;
      await asAdmin(page, "#/timeline?q=configmaps+-n+quiet&last=5m");
      await page.getByText("No events in this range").waitFor();
      const made = await shop.create("/api/v1/namespaces/quiet/configmaps", {
        metadata: { name: "settings" },
      });
      await shop.report(
        { ...made, kind: "ConfigMap", apiVersion: "v1" },
        { reason: "Touched", message: "now" },
      );
      await page.getByRole("treeitem", { name: /settings/ }).waitFor();
      assert.deepEqual(visitor.problems, []);
    });

    test("a user of one namespace sees it, and which parts are forbidden", async () => {
      await using visitor = await open();
      const { page } = visitor;
      await signIn(page, shop.url, shop.viewerToken);
      await page.getByRole("button", { name: /ImagePullBackOff/ }).waitFor();
      await page.getByText("in shop", { exact: true }).waitFor();
      await page.getByRole("heading", { name: "You are not allowed to see nodes" }).waitFor();
      await picture(page, "one-namespace");
      await page.getByRole("link", { name: "Timeline" }).click();
      await page.getByRole("heading", { name: /You are not allowed to see/ }).waitFor();
      await page.getByRole("button", { name: "Open namespace" }).click();
      await page.getByRole("treeitem", { name: /Pod web-7c9b-c3/ }).waitFor();
      assert.equal(await page.getByRole("treeitem", { name: /node-1/ }).count(), 0);
      await page.getByRole("treeitem", { name: /Pod web-7c9b-c3/ }).click();
      await page.getByRole("complementary").getByText("manifest unknown").first().waitFor();
      assert.deepEqual(visitor.problems, []);
    });

    statesTests(suite);
    reachTests(suite);
  });
}
