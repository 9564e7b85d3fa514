// docs/rules.md names a test for every statement of the documents; this test verifies that these tests exist.
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

const root = join(import.meta.dirname, "..");
const statements = 518;
/** Maximum number of statements without a test. It may only be lowered. */
const mostForLater = 7;

interface Row {
  readonly rule: number;
  readonly shownBy: string;
}

const rows: Row[] = readFileSync(join(root, "docs", "rules.md"), "utf8")
  .split("\n")
  .flatMap((line) => {
    const cells = /^\| (\d+) \| (?:.+?) \| ([^|].*) \|$/.exec(line.replaceAll("\\|", "\u0000"));
    return cells ? [{ rule: Number(cells[1]), shownBy: cells[2]!.replaceAll("\u0000", "|") }] : [];
  });

const sources = new Map<string, string>();
const sourceOf = (file: string): string => {
  let text = sources.get(file);
  if (text === undefined)
    sources.set(file, (text = existsSync(join(root, file)) ? readFileSync(join(root, file), "utf8") : ""));
  return text;
};

/**
 * Returns the problems of one cell: none for advice, for statements deferred to later, and for existing
 * tests.
 */
function problems({ rule, shownBy }: Row): string[] {
  if (shownBy === "advice" || /^later: ./.test(shownBy)) return [];
  return shownBy.split("<br>").flatMap((named) => {
    const found = /^`([^`]+\.test\.ts)`: `([^`]+)`$/.exec(named);
    if (!found) return [`rule ${rule}: "${named}" names no test`];
    return sourceOf(found[1]!).includes(found[2]!) ? [] : [`rule ${rule}: ${found[1]} has no "${found[2]}"`];
  });
}

test("every statement of the documents is listed once, in order", () => {
  assert.deepEqual(
    rows.map(({ rule }) => rule),
    Array.from({ length: statements }, (_each, index) => index + 1),
  );
});

test("every test named in the list of rules exists", () => assert.deepEqual(rows.flatMap(problems), []));

test("the number of statements without a test does not grow", () => {
  const left = rows.filter(({ shownBy }) => shownBy.startsWith("later:")).length;
  assert.ok(left <= mostForLater, `${left} statements have no test, ${mostForLater} are the most`);
});

test("a test that does not exist is detected", () => {
  assert.equal(
    problems({ rule: 1, shownBy: "`test/rules.test.ts`: `every statement of the documents is listed once`" })
      .length,
    0,
  );
  assert.equal(problems({ rule: 1, shownBy: `\`test/rules.test.ts\`: \`${"no such"} test\`` }).length, 1);
  assert.equal(problems({ rule: 1, shownBy: "`test/absent.test.ts`: `x`" }).length, 1);
  assert.equal(problems({ rule: 1, shownBy: "soon" }).length, 1);
});
