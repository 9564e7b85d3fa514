import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { allVectors, failureOf } from "./cel-spec.fixture.ts";
import { environment } from "./program.ts";

const vectors = allVectors();
const file = readFileSync(new URL("./testdata/cel-spec-gaps.txt", import.meta.url), "utf8");
const listed = new Set(file.split("\n").filter((line) => line !== "" && !line.startsWith("#")));
const sectionOf = (name: string): string => `${name.split("/", 2).join("/")}/*`;
const isListed = (name: string): boolean => listed.has(name) || listed.has(sectionOf(name));

test("every public vector of the language passes, except those that are listed with a reason", () => {
  const env = environment();
  const wrong = vectors.flatMap((vector) => {
    const failure = failureOf(env, vector);
    if (failure === undefined) return isListed(vector.name) ? [`${vector.name} passes: unlist it`] : [];
    return isListed(vector.name) ? [] : [`${vector.name}: ${vector.test.expr}: ${failure}`];
  });
  assert.deepEqual(wrong, []);
});

test("the list of vectors that do not pass names only vectors that there are", () => {
  const names = new Set(vectors.flatMap(({ name }) => [name, sectionOf(name)]));
  assert.deepEqual(
    [...listed].filter((name) => !names.has(name)),
    [],
  );
  assert.ok(vectors.length > 2300, `${vectors.length} vectors`);
});
