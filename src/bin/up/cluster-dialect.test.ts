import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { type DialectName, dialects } from "#dialect";
import { clusterDialect } from "./cluster-dialect.ts";
import { writeRunning } from "./running.ts";

const folder = mkdtempSync(join(tmpdir(), "orch-dialect-"));
after(() => rmSync(folder, { recursive: true }));
const note = (directory: string, dialect: DialectName): string => {
  mkdirSync(directory, { recursive: true });
  writeRunning(join(directory, "running.json"), { pid: 1, port: 2, dialect, runtimeEndpoint: "", up: false });
  return directory;
};
const given = note(join(folder, "given"), "kubernetes");
const home = join(folder, "home");
note(join(home, "orch", "kubernetes"), "kubernetes");
const fresh = join(folder, "fresh");

const cases: [name: string, argv: string[], home: string, dialect: DialectName][] = [
  ["the data directory records the dialect", [`--data-dir=${given}`], fresh, "kubernetes"],
  ["the data directory may be a separate argument", ["--data-dir", given], fresh, "kubernetes"],
  ["the command line takes precedence", [`--data-dir=${given}`, "--dialect=orch"], fresh, "orch"],
  ["a new directory uses the default dialect", [`--data-dir=${fresh}`], fresh, "orch"],
  ["the only cluster of the home directory is found", [], home, "kubernetes"],
  ["a home directory without a cluster uses the default dialect", [], fresh, "orch"],
];
for (const [name, argv, data, dialect] of cases)
  test(name, () =>
    assert.deepEqual(clusterDialect(argv, { XDG_DATA_HOME: data }), { dialect: dialects[dialect] }),
  );
