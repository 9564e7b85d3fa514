// Accessibility of the page: keyboard, pointer, screen reader, dark theme, small screen.
import assert from "node:assert/strict";
import { test } from "node:test";
import { type Page, goTo } from "./browser.fixture.ts";
import type { PageSuite } from "./page.fixture.ts";

export function reachTests({ shop, open, asAdmin, picture }: PageSuite): void {
  test("everything can be done with the keyboard alone", async () => {
    await using visitor = await open();
    const { page } = visitor;
    await goTo(page, `${shop().url}/ui/#/timeline?q=-n+shop`);
    await page.getByLabel("Token").waitFor();
    await page.keyboard.press("Tab");
    await page.keyboard.insertText(shop().adminToken);
    await page.keyboard.press("Enter");
    const lanes = page.getByRole("tree");
    await lanes.waitFor();
    await lanes.focus();
    await page.keyboard.press("+");
    await page.waitForURL(/last=30m/);
    await page.keyboard.press("-");
    await page.keyboard.press("-");
    await page.waitForURL(/last=2h/);
    await page.keyboard.press("ArrowLeft");
    await page.waitForURL(/since=/);
    await page.keyboard.press("l");
    await page.waitForURL(/last=2h/);
    await lanes.waitFor();
    await lanes.focus();
    await page.keyboard.press("End");
    await page.keyboard.press("Enter");
    const detail = page.getByRole("complementary");
    await detail.waitFor();
    await detail.getByRole("tab", { name: "Events" }).focus();
    await page.keyboard.press("ArrowRight");
    assert.equal(await detail.getByRole("tab", { name: "Tree" }).getAttribute("aria-selected"), "true");
    await page.keyboard.press("Escape");
    await detail.waitFor({ state: "detached" });
    await page.locator('[role="tree"]:focus').waitFor();
    await page.keyboard.press("Home");
    const web = page.getByRole("treeitem", { name: /Deployment web/ });
    while ((await lanes.getAttribute("aria-activedescendant")) !== (await web.getAttribute("id")))
      await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Space");
    await page.getByRole("treeitem", { name: /Pod web-7c9b-c3/ }).waitFor({ state: "detached" });
    assert.equal(await web.getAttribute("aria-expanded"), "false");
    await page.keyboard.press("Space");
    await page.getByRole("treeitem", { name: /Pod web-7c9b-c3/ }).waitFor();
    assert.deepEqual(visitor.problems, []);
  });

  test("the wheel zooms from days to seconds, and dragging moves the range", async () => {
    await using visitor = await open();
    const { page } = visitor;
    await asAdmin(page, "#/timeline?q=-n+shop&last=7d");
    await page.getByRole("treeitem", { name: /Deployment web/ }).waitFor();
    const box = (await page.locator("canvas").last().boundingBox())!;
    await page.mouse.move(box.x + 100, box.y + 60);
    await page.mouse.down();
    await page.mouse.move(box.x + 400, box.y + 60, { steps: 3 });
    await page.mouse.up();
    await page.waitForURL(/since=.*until=/);
    const seconds = (wanted: number) => (url: URL) => {
      const query = new URLSearchParams(url.hash.split("?")[1]);
      return Date.parse(query.get("until")!) - Date.parse(query.get("since")!) === wanted * 1000;
    };
    await page.getByRole("treeitem", { name: /Deployment web/ }).waitFor({ state: "detached" });
    await page.keyboard.press("l");
    await page.getByRole("treeitem", { name: /Deployment web/ }).waitFor();
    await page.mouse.move(box.x + box.width - 30, box.y + 60);
    await page.keyboard.down("Control");
    for (let at = 0; at < 30; at++) await page.mouse.wheel(0, -200);
    await page.keyboard.up("Control");
    await page.waitForURL(seconds(1));
    // The keys also work where there are no events to show.
    await page.getByText("No events in this range").waitFor();
    await page.keyboard.press("-");
    await page.waitForURL(seconds(2));
    await page.keyboard.down("Control");
    for (let at = 0; at < 30; at++) await page.mouse.wheel(0, 200);
    await page.keyboard.up("Control");
    await page.getByRole("treeitem", { name: /Deployment web/ }).waitFor();
    assert.deepEqual(visitor.problems, []);
  });

  test("a mark has a tooltip, and a click on it opens its object", async () => {
    await using visitor = await open();
    const { page } = visitor;
    await asAdmin(page, "#/timeline?q=pod/report+-n+shop&last=24h");
    const lane = page.getByRole("treeitem", { name: /Pod report/ });
    await lane.waitFor();
    const [box, row] = [(await page.locator("canvas").last().boundingBox())!, (await lane.boundingBox())!];
    // All reports are at the right edge, where the range of a day leaves only a margin.
    await page.mouse.move(box.x + box.width / 1.012 - 3, row.y + row.height / 2);
    await page
      .getByRole("tooltip")
      .getByText(/warnings/)
      .waitFor();
    await page.mouse.down();
    await page.mouse.up();
    await page.getByRole("complementary", { name: "Pod report" }).waitFor();
    assert.deepEqual(visitor.problems, []);
  });

  test("every control has an accessible name", async () => {
    await using visitor = await open();
    const { page } = visitor;
    await goTo(page, `${shop().url}/ui/`);
    await page.getByLabel("Token").waitFor();
    assert.deepEqual(await namelessControls(page), []);
    await asAdmin(page, "#/overview");
    await page.reload();
    await page.getByRole("button", { name: /ImagePullBackOff/ }).waitFor();
    assert.deepEqual(await namelessControls(page), []);
    await page.getByRole("button", { name: /ImagePullBackOff/ }).click();
    await page.getByRole("treeitem", { name: /Pod web-7c9b-c3/ }).waitFor();
    for (const tab of ["Events", "Tree", "Changes", "Logs", "YAML"]) {
      await page.getByRole("tab", { name: tab }).click();
      await page
        .getByRole("tabpanel", { name: tab })
        .getByText(/Loading/)
        .waitFor({ state: "detached" });
      assert.deepEqual(await namelessControls(page), [], tab);
    }
    assert.deepEqual(visitor.problems, []);
  });

  test("the theme follows the system until the user chooses one", async () => {
    await using visitor = await open({ dark: true });
    const { page } = visitor;
    await asAdmin(page, "#/timeline?q=-n+shop");
    const theme = (): Promise<unknown> => page.evaluate("document.documentElement.dataset.theme");
    assert.equal(await theme(), "dark");
    await page.getByRole("treeitem", { name: /Pod web-7c9b-c3/ }).waitFor();
    await picture(page, "dark");
    await page.getByRole("button", { name: "Switch to light theme" }).click();
    await page.reload();
    await page.getByRole("treeitem", { name: /Pod web-7c9b-c3/ }).waitFor();
    assert.equal(await theme(), "light");
  });

  test("on a small screen the range is selected by touch", async () => {
    await using visitor = await open({ width: 390, height: 844, touch: true });
    const { page } = visitor;
    await asAdmin(page, "#/timeline?q=-n+shop");
    const chart = page.getByRole("img", { name: /warnings,/ });
    await chart.waitFor();
    const { x, y, width } = (await chart.boundingBox())!;
    const session = await page.context().newCDPSession(page);
    const touch = (type: "touchStart" | "touchMove" | "touchEnd", ...shares: number[]) =>
      session.send("Input.dispatchTouchEvent", {
        type,
        touchPoints: shares.map((share) => ({ x: x + width * share, y: y + 40 })),
      });
    await touch("touchStart", 0.3);
    for (const share of [0.4, 0.5, 0.6]) await touch("touchMove", share);
    await touch("touchEnd");
    await page.waitForURL(/since=.*until=/);
    assert.deepEqual(visitor.problems, []);
  });

  test("a small screen shows either the lanes or the details", async () => {
    await using visitor = await open({ width: 390, height: 844 });
    const { page } = visitor;
    await asAdmin(page, "#/timeline?q=-n+shop");
    const lane = page.getByRole("treeitem", { name: /Pod web-7c9b-c3/ });
    await lane.waitFor();
    assert.equal(await page.evaluate("document.documentElement.scrollWidth <= innerWidth"), true);
    await picture(page, "small");
    await lane.click();
    await page.getByRole("complementary").getByText("manifest unknown").first().waitFor();
    assert.equal(await page.getByRole("tree").isVisible(), false);
    assert.deepEqual(visitor.problems, []);
  });
}

interface AccessibleNode {
  readonly ignored: boolean;
  readonly role?: { readonly value?: unknown };
  readonly name?: { readonly value?: unknown };
}

const controls = new Set(
  "button link textbox searchbox checkbox combobox tab tabpanel tree treeitem img region complementary".split(
    " ",
  ),
);

/** Returns the controls and landmarks without an accessible name. */
async function namelessControls(page: Page): Promise<readonly string[]> {
  const session = await page.context().newCDPSession(page);
  const { nodes } = (await session.send("Accessibility.getFullAXTree")) as { nodes: AccessibleNode[] };
  await session.detach();
  return nodes
    .filter(({ ignored, role }) => !ignored && controls.has(String(role?.value)))
    .filter(({ name }) => String(name?.value ?? "").trim() === "")
    .map(({ role }) => String(role?.value));
}
