// npm run golden: rewrites golden files, transcripts and docs/reference by running their tests with UPDATE=1.
// Review the diff.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { filesUnder, install, root, run, runtime } from "./setup.mjs";

await install();
const keepsFiles = (file) => /\bgolden\(/.test(readFileSync(join(root, file), "utf8"));
const files = [...filesUnder("src", ".test.ts"), ...filesUnder("test", ".test.ts")].filter(keepsFiles);
const reporter = new URL("reporter.mjs", import.meta.url).href;
const good = run(
  runtime(),
  [
    "--conditions=orch-source",
    "--test",
    `--test-reporter=${reporter}`,
    "--test-isolation=none",
    "--test-force-exit",
    ...files,
  ],
  {
    env: { ...process.env, UPDATE: "1" },
  },
);
run("git", ["status", "--short", "--", "src", "test", "docs"]);
process.exitCode = good ? 0 : 1;
