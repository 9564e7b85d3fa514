import assert from "node:assert/strict";
import { mkdir, mkdtemp, readdir, readlink, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { logLinkName, logLinks } from "./log-links.ts";

async function setUp(t: TestContext) {
  const folder = await mkdtemp(join(tmpdir(), "log-links-"));
  t.after(() => rm(folder, { recursive: true, force: true }));
  const pods = join(folder, "pods");
  const log = async (pod: string, container: string): Promise<string> => {
    await mkdir(join(pods, `n_${pod}_uid`, container), { recursive: true });
    const path = join(pods, `n_${pod}_uid`, container, "0.log");
    await writeFile(path, "");
    return path;
  };
  const links = join(folder, "containers");
  return { pods, log, links, made: logLinks(links), names: () => readdir(links).catch(() => []) };
}
const named = (pod: string, container = "c"): string =>
  logLinkName({ pod, namespace: "n", container, containerId: "id" });

test("link names consist of pod, namespace, container and ID, truncated to the file name limit", () => {
  assert.equal(named("p"), "p_n_c-id.log");
  const long = named("p".repeat(253), "c".repeat(63));
  assert.deepEqual([long.length, long.endsWith(".log")], [255, true]);
});

test("an existing log is linked once", async (t) => {
  const { log, links, made, names } = await setUp(t);
  const path = await log("p", "c");
  await made.link(named("p"), path);
  await made.link(named("p"), path);
  await made.link(named("q"), join(links, "nothing"));
  assert.deepEqual(await names(), [named("p")]);
  assert.equal(await readlink(join(links, named("p"))), path);
});

test("links are removed with the logs of their pod", async (t) => {
  const { pods, log, made, names } = await setUp(t);
  await made.link(named("p"), await log("p", "c"));
  await made.link(named("q"), await log("q", "c"));
  await made.unlinkBelow(join(pods, "n_p_uid"));
  assert.deepEqual(await names(), [named("q")]);
});

test("dangling links are removed", async (t) => {
  const { pods, log, made, names } = await setUp(t);
  await made.link(named("p"), await log("p", "c"));
  await made.link(named("q"), await log("q", "c"));
  await rm(join(pods, "n_q_uid"), { recursive: true });
  await made.sweep();
  assert.deepEqual(await names(), [named("p")]);
});
