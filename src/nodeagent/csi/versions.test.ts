import assert from "node:assert/strict";
import { test } from "node:test";
import { highestVersion, versionProblem } from "./versions.ts";

const none = (versions: string, why: string): string =>
  `None of the versions specified ${versions} are supported. err=${why}`;
const notFound = (versions: string, why: string): string =>
  `could not find a highest supported version from versions (${versions}) reported by this driver: ${why}`;

const versions: [given: readonly string[], spoken: string, problem: string | undefined, known?: string][] = [
  [["0.3.0", "1.2.0"], "1.2.0", undefined],
  [["1.10.0", "1.9.0"], "1.10.0", undefined],
  [["v1.0"], "1.0", undefined],
  [["1.2.0-rc1"], "1.2.0", undefined],
  [[], "", "Plugin returned an empty list for supported versions"],
  [["2.0.0"], "", none('["2.0.0"]', notFound("[2.0.0]", "<nil>"))],
  [["banana"], "", none('["banana"]', notFound("[banana]", 'could not parse "banana" as version'))],
  [["1"], "", none('["1"]', notFound("[1]", 'illegal version string "1"'))],
  [
    ["2.0.0", "0.1"],
    "0.1",
    none('["2.0.0" "0.1"]', "highest supported version reported by driver is 0.1, must be v1.x"),
  ],
  [["1.3.0"], "1.3.0", undefined, "1.2.0"],
  [
    ["1.2.0"],
    "1.2.0",
    'Another driver with the same name is already registered with a higher supported version: "1.2.0"',
    "1.2.0",
  ],
];
for (const [given, used, problem, known] of versions)
  test(`of the versions [${given.join(", ")}] ${used || "none"} is used${known ? ` next to ${known}` : ""}`, () => {
    assert.equal(highestVersion(given), used);
    assert.equal(versionProblem(given, known), problem);
  });
