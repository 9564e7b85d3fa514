import assert from "node:assert/strict";
import { test } from "node:test";
import { fillFromGit } from "./git-repo.ts";

const refused: [
  name: string,
  source: { repository: string; revision?: string; directory?: string },
  message: RegExp,
][] = [
  [
    "a repository that looks like an option",
    { repository: "--upload-pack=x" },
    /"--upload-pack=x" is an invalid value for repository/,
  ],
  [
    "a revision that looks like an option",
    { repository: "http://x", revision: "-f" },
    /invalid value for revision/,
  ],
  [
    "a directory that looks like an option",
    { repository: "http://x", directory: "-b" },
    /invalid value for directory/,
  ],
  [
    "a nested directory",
    { repository: "http://x", directory: "a/.git/hooks" },
    /must not contain a directory separator/,
  ],
  [
    "a directory outside the volume",
    { repository: "http://x", directory: ".." },
    /"\.\." is an invalid directory/,
  ],
];
for (const [name, source, message] of refused) {
  test(`${name} never reaches git`, async () => {
    const calls: string[] = [];
    await assert.rejects(
      fillFromGit((_, args) => Promise.resolve(void calls.push(args.join(" "))), "/nowhere", source),
      message,
    );
    assert.deepEqual(calls, []);
  });
}
