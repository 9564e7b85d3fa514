import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { test } from "node:test";
import { promisify } from "node:util";

const cases: [name: string, settings: object, streams: string[]][] = [
  ["text is written to standard error", { loggingFormat: "text" }, ["", "told failed"]],
  ["--v=1 leaves out what is logged from level 2 on", { loggingFormat: "text", v: 1 }, ["", "told failed"]],
  ["--v=2 adds what is logged at level 2", { loggingFormat: "text", v: 2 }, ["", "told detailed failed"]],
  ["text is not split", { loggingFormat: "text", logJsonSplitStream: true }, ["", "told failed"]],
  ["JSON is written to standard error", { loggingFormat: "json" }, ["", "told failed"]],
  [
    "information in JSON goes to standard output when split",
    { loggingFormat: "json", logJsonSplitStream: true },
    ["told", "failed"],
  ],
  [
    "buffered lines are written at exit",
    { loggingFormat: "json", logJsonSplitStream: true, logJsonInfoBufferSize: "1Mi" },
    ["told", "failed"],
  ],
];

/**
 * Writes an informational line, one for --v=2 and an error with the settings of each case, in a separate
 * process whose streams can be read.
 */
const script = `
  import { writeSync } from "node:fs";
  import { logFrom } from ${JSON.stringify(new URL("./log-settings.ts", import.meta.url).href)};
  for (const settings of ${JSON.stringify(cases.map(([, settings]) => settings))}) {
    const log = logFrom({ v: 0, vmodule: [], logFlushFrequency: 5000, ...settings });
    log.info("told");
    log.verbose(2, "detailed");
    log.error("failed");
    log.flush();
    for (const stream of [1, 2]) writeSync(stream, "----");
  }
`;
const written = promisify(execFile)(process.execPath, [
  "--no-warnings",
  "--conditions=orch-source",
  "--input-type=module",
  "--eval",
  script,
]);
/** A failure is reported by the test that awaits it. */
written.catch(() => undefined);

for (const [at, [name, , streams]] of cases.entries())
  test(name, async () => {
    const { stdout, stderr } = await written;
    const found = [stdout, stderr].map((text) =>
      ["told", "detailed", "failed"].filter((word) => text.split("----")[at]!.includes(word)).join(" "),
    );
    assert.deepEqual(found, streams);
  });
