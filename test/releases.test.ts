// docs/releases.md lists the features of every later release; this test compares its tables with the gates.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { firstRelease, minorOf, releases } from "#base";
import { gatesIn, knownGates } from "#options";

const text = readFileSync(join(import.meta.dirname, "..", "docs", "releases.md"), "utf8");
const sections = new Map(
  text
    .split("\n## ")
    .slice(1)
    .map((section) => [section.slice(0, section.indexOf("\n")), section]),
);
const laterReleases = releases.filter((release) => minorOf(release) > firstRelease);
const defaultsIn = (minor: number): Set<string> =>
  new Set(
    gatesIn(knownGates, minor)
      .filter((gate) => gate.default)
      .map(({ name }) => name),
  );

test("every later release has a section", () => assert.deepEqual([...sections.keys()], laterReleases));

for (const release of laterReleases) {
  const section = sections.get(release) ?? "";
  const minor = minorOf(release);
  test(`the table of ${release} lists exactly the gates that it has on by default`, () => {
    const before = defaultsIn(minor - 1);
    const listed = [...section.matchAll(/^\| `(\w+)` \|/gm)].map(([, name]) => name!);
    assert.deepEqual(listed, [...defaultsIn(minor)].filter((name) => !before.has(name)).toSorted());
  });

  test(`what ${release} is said not to serve has no gate that it has on`, () => {
    const [, unserved = ""] = section.split("\nNot served: ");
    const names = [...unserved.matchAll(/`(\w+)`/g)].map(([, name]) => name!);
    assert.ok(names.length > 0);
    const served = defaultsIn(minor);
    assert.deepEqual(
      names.filter((name) => served.has(name)),
      [],
    );
  });
}
