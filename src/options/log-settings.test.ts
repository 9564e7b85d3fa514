import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";

/**
 * Writes one line of information, one for --v=2 and one error, as settings say; in a process of its own, whose streams can
 * be read.
 */
function written(settings: object): string[] {
  const script = `
    import { logFrom } from ${JSON.stringify(new URL("./log-settings.ts", import.meta.url).href)};
    const log = logFrom({ v: 0, vmodule: [], logFlushFrequency: 5000, ...${JSON.stringify(settings)} });
    log.info("told");
    log.verbose(2, "detailed");
    log.error("failed");
    log.flush();
  `;
  const { stdout, stderr } = spawnSync(
    process.execPath,
    ["--no-warnings", "--conditions=orch-source", "--input-type=module", "--eval", script],
    { encoding: "utf8" },
  );
  return [stdout, stderr].map((text) =>
    ["told", "detailed", "failed"].filter((word) => text.includes(word)).join(" "),
  );
}

const cases: [name: string, settings: object, streams: string[]][] = [
  ["text goes to standard error", { loggingFormat: "text" }, ["", "told failed"]],
  ["--v=1 leaves out what is logged from level 2 on", { loggingFormat: "text", v: 1 }, ["", "told failed"]],
  ["--v=2 adds what is logged at level 2", { loggingFormat: "text", v: 2 }, ["", "told detailed failed"]],
  ["text is not split", { loggingFormat: "text", logJsonSplitStream: true }, ["", "told failed"]],
  ["JSON goes to standard error", { loggingFormat: "json" }, ["", "told failed"]],
  [
    "information in JSON goes to standard output when split",
    { loggingFormat: "json", logJsonSplitStream: true },
    ["told", "failed"],
  ],
  [
    "what is buffered is written in the end",
    { loggingFormat: "json", logJsonSplitStream: true, logJsonInfoBufferSize: "1Mi" },
    ["told", "failed"],
  ],
];
for (const [name, settings, streams] of cases) test(name, () => assert.deepEqual(written(settings), streams));
