// docs/flags.md names a test for every flag of orch-apiserver; this test verifies that the test exists and
// that its file names the flag.
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { apiserverOptions } from "#apiserver";
import { dialects } from "#dialect";
import type { AnyOption } from "#options";

const root = join(import.meta.dirname, "..");
const options: readonly AnyOption[] = apiserverOptions(dialects.orch).sections.flatMap(
  (section) => section.options as readonly AnyOption[],
);
const rows = readFileSync(join(root, "docs", "flags.md"), "utf8")
  .split("\n")
  .flatMap((line) => {
    const cells = /^\| `--([a-z0-9-]+)` \| (.+) \|$/.exec(line);
    return cells ? [{ flag: cells[1]!, shownBy: cells[2]! }] : [];
  });

/** Returns the problems of one row: none if the tests exist and their file names the flag or its setting. */
function problems({ flag, shownBy }: (typeof rows)[number]): string[] {
  const option = options.find((each) => each.flag === flag);
  const named = new RegExp(`--${flag}(?![\\w-])|\\b${option?.name ?? flag}\\b`);
  return shownBy.split("<br>").flatMap((cell) => {
    const found = /^`([^`]+\.test\.ts)`: `([^`]+)`$/.exec(cell);
    if (!found) return [`--${flag}: "${cell}" names no test`];
    const [, file, words] = found as unknown as [string, string, string];
    const text = existsSync(join(root, file)) ? readFileSync(join(root, file), "utf8") : "";
    if (!text.includes(words)) return [`--${flag}: ${file} has no "${words}"`];
    return named.test(text) ? [] : [`--${flag}: ${file} does not name it`];
  });
}

test("every flag is listed once, in the order of the reference page", () =>
  assert.deepEqual(
    rows.map(({ flag }) => flag),
    options.flatMap(({ flag }) => flag ?? []),
  ));

test("every test named in the list of flags exists and names the flag", () =>
  assert.deepEqual(rows.flatMap(problems), []));

test("a row without its test is detected", () => {
  const cell = (words: string): string => `\`test/flags.test.ts\`: \`${words}\``;
  // This file names only --event-ttl.
  assert.equal(problems({ flag: "event-ttl", shownBy: cell("a row without its test") }).length, 0);
  assert.equal(problems({ flag: "event-ttl", shownBy: cell(["no", "such"].join(" ")) }).length, 1);
  assert.equal(problems({ flag: "bind-address", shownBy: cell("a row without") }).length, 1);
});
