// The Logs tab against a real node: container output reaches the page through the agent. Pods add network
// interfaces, and Chromium closes its connections when those change: the page reconnects.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { Browser } from "playwright-core";
import { type Cluster, type PodHome, needs, needsCluster, podHome, startCluster } from "#kit";
import { goTo, openBrowser, signedIn, visit } from "./browser.fixture.ts";

const required = { skip: needs("chromium").skip || needsCluster().skip };
const patienceMilliseconds = 120_000;
/** Writes a line, another one on request, and exits on request. */
const script = `printf 'started \\033[31m<b>here</b>\\n'
until [ -e /tmp/more ]; do sleep 0.1; done; echo 'more was asked for'
until [ -e /tmp/end ]; do sleep 0.1; done; exit 1`;

describe("the logs of a pod on a real node", required, () => {
  let cluster: Cluster;
  let home: PodHome;
  let browser: Browser;
  before(async () => {
    [cluster, browser] = await Promise.all([startCluster(), openBrowser()]);
    home = await podHome(cluster);
  });
  after(async () => {
    home?.stop();
    await browser?.close();
    await cluster?.stop();
  });
  test("lines appear as they are written, as plain text, and are available after a restart", async () => {
    const { url, token } = cluster.apiserver;
    const name = await home.script(script, {}, { restartPolicy: "Always" });
    await home.ready(name);
    await using visitor = await visit(browser, url);
    const { page } = visitor;
    page.setDefaultTimeout(patienceMilliseconds);
    await signedIn(page, token);
    await goTo(page, `${url}/ui/#/timeline?q=pods+-n+${home.namespace}`);
    await page.getByRole("treeitem", { name: new RegExp(`Pod ${name}`) }).click();
    await page.getByRole("tab", { name: "Logs" }).click();
    const log = page.getByLabel("Log", { exact: true });
    await log.getByText("started ␛[31m<b>here</b>", { exact: false }).waitFor();
    assert.ok(!(await log.innerText()).includes("more was asked for"));
    await home.exec(name, "mkdir", "-p", "/tmp/more");
    await log.getByText("more was asked for", { exact: false }).waitFor();
    await home.exec(name, "mkdir", "-p", "/tmp/end");
    await home.until(
      name,
      "has been restarted",
      ({ status }) => (status?.containerStatuses?.[0]?.restartCount ?? 0) > 0,
    );
    await page.getByLabel("before its last restart").check();
    await log.getByText("more was asked for", { exact: false }).waitFor();
    assert.deepEqual(visitor.problems, []);
  });
});
