// Architecture rules as tests: the order of rooms, one entry point per room, product names in one place, and
// a maximum file size.
import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { rulesFor, type Source } from "./architecture/rules.ts";

const root = join(import.meta.dirname, "..");
const { dependencies } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
  dependencies: Record<string, string>;
};
const rules = rulesFor(Object.keys(dependencies));

function sources(): readonly Source[] {
  const read = (folder: string): string[] =>
    readdirSync(join(root, folder), { recursive: true, withFileTypes: true }).flatMap((entry) =>
      entry.isFile() ? [join(entry.parentPath, entry.name)] : [],
    );
  return ["src", "test", "bench", "scripts"]
    .filter((folder) => existsSync(join(root, folder)))
    .flatMap(read)
    .filter((path) => /\.(tsx?|mjs)$/.test(path) && !path.startsWith(join(root, "test", "architecture")))
    .map((path) => ({ file: path.slice(root.length + 1), text: readFileSync(path, "utf8") }));
}

const all = sources();
for (const { name, breaches, example } of rules) {
  test(name, () => assert.equal(all.flatMap(breaches).join("\n"), ""));
  test(`a violation is detected: ${name}`, () => assert.equal(breaches(example).length, 1));
}
