import assert from "node:assert/strict";
import { mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { podFiles } from "./pod-files.ts";

test("the log of a container is removed with its rotated parts, and nothing outside of the log directory", async (t) => {
  const folder = await mkdtemp(join(tmpdir(), "pod-files-"));
  t.after(() => rm(folder, { recursive: true, force: true }));
  const logs = join(folder, "logs");
  const ofContainer = join(logs, "n_p_u/c");
  await mkdir(ofContainer, { recursive: true });
  for (const name of ["0.log", "0.log.20240102-030405", "0.log.20240102-030406.gz", "1.log", "10.log"])
    await writeFile(join(ofContainer, name), "");
  await writeFile(join(folder, "0.log"), "");
  const files = podFiles(folder, logs);
  await files.removeLog(join(ofContainer, "0.log"));
  await files.removeLog(join(folder, "0.log"));
  await files.removeLog("");
  assert.deepEqual(await readdir(ofContainer), ["1.log", "10.log"]);
  assert.ok((await readdir(folder)).includes("0.log"));
});
