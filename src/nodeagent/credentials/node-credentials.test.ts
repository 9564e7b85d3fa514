import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { silentLog, virtualClock } from "#base";
import { dockerConfigFiles, nodeCredentials } from "./node-credentials.ts";

test("the node's credentials are looked for in the kubelet's places", () => {
  assert.deepEqual(
    dockerConfigFiles("/var/lib/agent").map(({ path }) => path),
    [
      "/var/lib/agent/config.json",
      join(process.cwd(), "config.json"),
      join(homedir(), ".docker/config.json"),
      "/.docker/config.json",
      "/var/lib/agent/.dockercfg",
      join(process.cwd(), ".dockercfg"),
      join(homedir(), ".dockercfg"),
      "/.dockercfg",
    ],
  );
});

test("the first usable file has the node's credentials, which are read again after five minutes", async (t) => {
  const folder = await mkdtemp(join(tmpdir(), "orch-node-credentials-"));
  t.after(() => rm(folder, { recursive: true }));
  const clock = virtualClock();
  const files = [
    { path: join(folder, "missing"), form: "config.json" },
    { path: join(folder, "malformed"), form: "config.json" },
    { path: join(folder, "config.json"), form: "config.json" },
    { path: join(folder, ".dockercfg"), form: ".dockercfg" },
  ] as const;
  const entry = (username: string) => ({ "r.example": { username, password: "p" } });
  await writeFile(files[1].path, '{"auths": 1}');
  await writeFile(files[3].path, JSON.stringify(entry("old")));
  const credentials = nodeCredentials({ clock, log: silentLog, files });
  const users = async (): Promise<unknown[]> =>
    (await credentials()).map(([place, { username }]) => [place, username]);
  assert.deepEqual(await users(), [["r.example", "old"]]);
  await writeFile(files[2].path, JSON.stringify({ auths: entry("new"), credsStore: "other" }));
  await clock.advance(299_999);
  assert.deepEqual(await users(), [["r.example", "old"]]);
  await clock.advance(1);
  assert.deepEqual(await users(), [["r.example", "new"]]);
});
