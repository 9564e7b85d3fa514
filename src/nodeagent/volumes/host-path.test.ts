import assert from "node:assert/strict";
import { mkdir, stat, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join, resolve } from "node:path";
import { test } from "node:test";
import { podWith, setUp } from "./volumes.fixture.ts";

const hostPaths: [type: string, what: string, outcome: RegExp | "fine"][] = [
  ["", "missing", "fine"],
  ["Directory", "folder", "fine"],
  ["Directory", "file", /file is not a directory/],
  ["Directory", "missing", /missing is not a directory/],
  ["DirectoryOrCreate", "missing", "fine"],
  ["DirectoryOrCreate", "file", /is not a directory/],
  ["DirectoryOrCreate", "/proc/none/below", /\/proc\/none/],
  ["File", "file", "fine"],
  ["File", "folder", /folder is not a file/],
  ["FileOrCreate", "missing", "fine"],
  ["Socket", "socket", "fine"],
  ["Socket", "file", /is not a socket file/],
  ["CharDevice", "file", /is not a character device/],
  ["BlockDevice", "folder", /is not a block device/],
];
for (const [type, what, outcome] of hostPaths) {
  test(`hostPath of type ${type || "none"} on ${what}: ${outcome === "fine" ? "fine" : "refused"}`, async (t) => {
    const { folder, mount } = await setUp(t);
    await mkdir(join(folder, "folder"));
    await writeFile(join(folder, "file"), "");
    const server = createServer().listen(join(folder, "socket"));
    t.after(() => void server.close());
    await new Promise((resolve) => server.once("listening", resolve));
    const pod = podWith({ hostPath: { path: resolve(folder, what), type } });
    if (outcome !== "fine") {
      await assert.rejects(mount(pod), outcome);
      return;
    }
    assert.deepEqual(await mount(pod), { hostPath: join(folder, what), isForeign: true });
    if (type.endsWith("OrCreate"))
      assert.equal((await stat(join(folder, what))).isDirectory(), type.startsWith("Directory"));
  });
}
