// Empty and error states of the page, and its recovery from failures.
import assert from "node:assert/strict";
import { test } from "node:test";
import { goTo, signedIn } from "./browser.fixture.ts";
import type { PageSuite } from "./page.fixture.ts";

export function statesTests({ shop, open, asAdmin }: PageSuite): void {
  test("a deleted object keeps its lane and its events, and its YAML tab reports the deletion", async () => {
    const path = "/api/v1/namespaces/shop/configmaps";
    const made = await shop().create(path, { metadata: { name: "old-settings" } });
    await shop().report(
      { ...made, kind: "ConfigMap", apiVersion: "v1" },
      { reason: "Replaced", message: "by new settings", type: "Warning" },
    );
    await shop().remove(`${path}/old-settings`);
    await using visitor = await open();
    const { page } = visitor;
    await asAdmin(page, "#/timeline?q=cm/old-settings+-n+shop");
    await page.getByRole("treeitem", { name: /ConfigMap old-settings, in shop, deleted/ }).click();
    const detail = page.getByRole("complementary", { name: "ConfigMap old-settings" });
    await detail.getByText("by new settings").waitFor();
    await detail.getByText("Deleted", { exact: true }).first().waitFor();
    await detail.getByRole("tab", { name: "YAML" }).click();
    await detail.getByRole("alert").getByText("Its events remain available").waitFor();
    assert.deepEqual(visitor.problems, []);
  });

  test("a broken connection is reported and re-established automatically", async () => {
    await using visitor = await open();
    const { page } = visitor;
    await asAdmin(page, "#/timeline?q=configmaps+-n+quiet&last=5m");
    await page.getByText(/^\d+ objects?, live$/).waitFor();
    const views = /\/(lanes|buckets|timelines)\?/;
    await page.route(views, (route) => route.abort());
    await shop().create("/api/v1/namespaces/quiet/configmaps", { metadata: { name: "made-meanwhile" } });
    await page.getByText("cannot be reached").waitFor();
    await page.unroute(views);
    await page.getByRole("treeitem", { name: /made-meanwhile/ }).waitFor();
    await page.getByText("cannot be reached").waitFor({ state: "detached" });
    assert.deepEqual(visitor.problems, []);
  });

  test("the page shows loading states, and errors with advice", async () => {
    await using visitor = await open();
    const { page } = visitor;
    const { promise: pending, resolve: go } = Promise.withResolvers<void>();
    await page.route(/\/lanes\?/, async (route) => {
      await pending;
      await route.fulfill({ status: 500, json: { kind: "Status", message: "the store is full" } });
    });
    await asAdmin(page, "#/timeline");
    await page.getByRole("status").getByText("Loading the timeline").waitFor();
    go();
    const alert = page.getByRole("alert");
    await alert.getByText("The timeline could not be loaded").waitFor();
    await alert.getByText("the store is full").waitFor();
    await alert.getByText("See the server's log for details.").waitFor();
    await page.unroute(/\/lanes\?/);
    await page.getByRole("treeitem", { name: /Node node-1/ }).waitFor();
    assert.deepEqual(visitor.problems, []);
  });

  test("an expired session requires a new sign-in", async () => {
    await using visitor = await open();
    const { page } = visitor;
    await signedIn(page, "ended");
    await goTo(page, `${shop().url}/ui/#/timeline`);
    await page.getByRole("alert").getByText("Your session has expired").waitFor();
    await page.getByLabel("Token").fill(shop().adminToken);
    await page.keyboard.press("Enter");
    await page.getByRole("treeitem", { name: /Node node-1/ }).waitFor();
    assert.deepEqual(visitor.problems, []);
  });
}
