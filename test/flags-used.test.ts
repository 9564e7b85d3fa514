// Every setting is either effective or refused: one that is not refused must be read outside its declaration.
import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { apiserverOptions } from "#apiserver";
import { dialects } from "#dialect";
import { nodeagentOptions } from "#nodeagent";
import type { AnyOption } from "#options";

/** Settings that take effect without being read by name, with the reason. */
const otherwise: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  apiserver: {
    admissionControl: "the plug-ins to enable and to disable follow from it",
    cloudProvider: "its validation only accepts values without an effect",
    logFlushFrequency: "logFrom takes the settings of logs as a whole",
    loggingFormat: "logFrom takes the settings of logs as a whole",
    permitAddressSharing: "the runtime always shares addresses",
    storageBackend: "its validation only accepts values that agree with the servers",
  },
  nodeagent: {
    configDir: "the settings are read with it",
    logFlushFrequency: "logFrom takes the settings of logs as a whole",
    loggingFormat: "logFrom takes the settings of logs as a whole",
    logJsonInfoBufferSize: "logFrom takes the settings of logs as a whole",
    logJsonSplitStream: "logFrom takes the settings of logs as a whole",
    showHiddenMetricsForVersion: "there are no hidden metrics at present",
    vmodule: "logFrom takes the settings of logs as a whole",
  },
};

const root = join(import.meta.dirname, "..", "src");
const readersOf = (rooms: RegExp): string =>
  (readdirSync(root, { recursive: true }) as string[])
    .filter(
      (file) =>
        file.endsWith(".ts") &&
        !/\.(test|fixture)\.ts$|\/options\/|^options\//.test(file) &&
        rooms.test(file),
    )
    .map((file) => readFileSync(join(root, file), "utf8"))
    .join("\n");

for (const [program, options, rooms] of [
  ["apiserver", apiserverOptions(dialects.orch), /^(?!nodeagent\/)/],
  ["nodeagent", nodeagentOptions(dialects.orch), /^(nodeagent\/|bin\/nodeagent)/],
] as const) {
  test(`every setting of ${program} that is not refused is used, or is listed as an exception`, () => {
    const readers = readersOf(rooms);
    const all: readonly AnyOption[] = options.sections.flatMap(
      (section) => section.options as readonly AnyOption[],
    );
    const unused = all
      .filter(
        ({ name, unavailable, idle }) =>
          unavailable === undefined && idle === undefined && !new RegExp(`\\b${name}\\b`).test(readers),
      )
      .map(({ name }) => name);
    assert.deepEqual(unused.toSorted(), Object.keys(otherwise[program]!).toSorted());
  });
}
