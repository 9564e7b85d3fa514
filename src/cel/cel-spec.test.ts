import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { lastRelease } from "#base";
import { allVectors, failureOf } from "./cel-spec.fixture.ts";
import { environment } from "./program.ts";

const vectors = allVectors();
const file = readFileSync(new URL("./testdata/cel-spec-gaps.txt", import.meta.url), "utf8");
const laterHeading = "## what later releases brought: these pass with the functions of release 1.32";
const namesIn = (text: string): Set<string> =>
  new Set(text.split("\n").filter((line) => line !== "" && !line.startsWith("#")));
const listed = namesIn(file);
const [, later = ""] = file.split(laterHeading);
const listedUntilLater = namesIn(later.split("\n## ", 1)[0]!);
const sectionOf = (name: string): string => `${name.split("/", 2).join("/")}/*`;

const releases: [name: string, release: number, isListed: (name: string) => boolean][] = [
  [
    "every public conformance vector passes, except those listed with a reason",
    27,
    (name) => listed.has(name) || listed.has(sectionOf(name)),
  ],
  [
    "vectors that need the functions of later releases pass with these",
    lastRelease,
    (name) =>
      (listed.has(name) && !listedUntilLater.has(name)) ||
      (listed.has(sectionOf(name)) && !listedUntilLater.has(sectionOf(name))),
  ],
];
for (const [name, release, isListed] of releases)
  test(name, () => {
    const env = environment({ release });
    const wrong = vectors.flatMap((vector) => {
      const failure = failureOf(env, vector);
      if (failure === undefined) return isListed(vector.name) ? [`${vector.name} passes: unlist it`] : [];
      return isListed(vector.name) ? [] : [`${vector.name}: ${vector.test.expr}: ${failure}`];
    });
    assert.deepEqual(wrong, []);
  });

test("the list of failing vectors names only existing vectors", () => {
  const names = new Set(vectors.flatMap(({ name }) => [name, sectionOf(name)]));
  assert.deepEqual(
    [...listed].filter((name) => !names.has(name)),
    [],
  );
  assert.ok(vectors.length > 2300, `${vectors.length} vectors`);
  assert.ok(listedUntilLater.size > 50, `${listedUntilLater.size} for later releases`);
});
