import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { openStore } from "#store";
import { storeCommand } from "./store-command.ts";

const folder = mkdtempSync(join(tmpdir(), "orch-store-command-"));
after(() => rmSync(folder, { recursive: true }));

async function run(...argv: string[]) {
  let out = "";
  let err = "";
  const code = await storeCommand(argv, {
    out: (text) => void (out += text),
    err: (text) => void (err += text),
  });
  return { code, out, err };
}

test("orch store stats shows space usage", async () => {
  const store = await openStore({ dir: join(folder, "store") });
  await store.write({ key: "/registry/pods/default/a", value: new Uint8Array(1500), expect: "any" });
  await store.write({ key: "/registry/events/default/e", value: new Uint8Array(20), expect: "any" });
  await store.close();
  const { code, out } = await run("stats", `--data-dir=${folder}`);
  assert.equal(code, 0);
  assert.match(out, /^resource +objects +bytes +largest +old versions +bytes\npods +1 +1,500 +1,500 +0 +0\n/);
  assert.match(out, /\nevents +1 +20 +20 +0 +0\n\ndatabase [\d,]+ bytes/);
});

const refused: [name: string, argv: string[], err: RegExp][] = [
  ["no store", ["stats", `--data-dir=${join(folder, "none")}`], /there is no store in/],
  ["a file", ["stats", "f", `--data-dir=${folder}`], /orch store stats takes no file/],
  [
    "rewriting statistics",
    ["stats", "--rewrite", `--data-dir=${folder}`],
    /orch store stats takes no --rewrite/,
  ],
  [
    "rewriting without a client configuration",
    ["encryption", "--rewrite", `--data-dir=${join(folder, "none")}`],
    /^error: .*admin.*: .*ENOENT|no such file/,
  ],
  ["a wrong verb", ["statz", `--data-dir=${folder}`], /unknown command: orch store statz/],
];
for (const [name, argv, err] of refused)
  test(`orch store rejects ${name}`, async () => {
    const result = await run(...argv);
    assert.equal(result.code, 1);
    assert.match(result.err, err);
  });
