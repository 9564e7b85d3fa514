// A flag of the API server is effective or refused. Whatever is not refused must be read somewhere outside its declaration.
import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { apiserverOptions } from "#apiserver";
import { dialects } from "#dialect";

/** Settings that work without anybody reading them by name. */
const otherwise: Readonly<Record<string, string>> = {
  cloudProvider: "its check lets only values through that ask for nothing",
  logFlushFrequency: "logFrom takes the settings of logs as a whole",
  loggingFormat: "logFrom takes the settings of logs as a whole",
  permitAddressSharing: "the runtime always shares addresses",
  showHiddenMetricsForVersion: "no metric is hidden at present",
  storageBackend: "its check lets only values through that say the same as the servers",
};

const root = join(import.meta.dirname, "..", "src");
const readers = (readdirSync(root, { recursive: true }) as string[])
  .filter((file) => file.endsWith(".ts") && !/\.(test|fixture)\.ts$|\/options\/|^(options|nodeagent)\//.test(file))
  .map((file) => readFileSync(join(root, file), "utf8"))
  .join("\n");

test("every flag that is not refused is used, or is on the list of those that need no use", () => {
  const options = apiserverOptions(dialects.orch).sections.flatMap((section) => section.options);
  const unused = options.filter(({ name, notYet }) => notYet === undefined && !new RegExp(`\\b${name}\\b`).test(readers)).map(({ name }) => name as string);
  assert.deepEqual(unused.toSorted(), Object.keys(otherwise).toSorted());
});
