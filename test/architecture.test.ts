// Architecture rules as tests: the order of rooms, one entry point per room, product names in one place, and
// a maximum file size.
import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { vagueProse } from "./architecture/language.ts";
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

test("documents are in plain technical English", () => {
  const documents = readdirSync(join(root, "docs"), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith(".md"))
    .map((entry) => join(entry.parentPath, entry.name).slice(root.length + 1));
  const vague = ["README.md", "CHANGELOG.md", "test/robustness/README.md", ...documents].flatMap((file) =>
    vagueProse(file, readFileSync(join(root, file), "utf8")),
  );
  assert.equal(vague.join("\n"), "");
  assert.equal(vagueProse("a.md", `Who may read it is ${"to"}ld below.`).length, 1);
});
