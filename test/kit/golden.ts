// Golden files: program output and published documents, kept in the repository so that every change shows in
// a diff.
import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

const root = join(import.meta.dirname, "..", "..");

/**
 * Compares text with a file, named relative to the package's root; with UPDATE=1 (`npm run golden`) writes
 * the file instead.
 */
export function golden(file: string, text: string): void {
  const path = join(root, file);
  if (process.env["UPDATE"] === "1") {
    mkdirSync(dirname(path), { recursive: true });
    if (!existsSync(path) || readFileSync(path, "utf8") !== text) writeFileSync(path, text);
    return;
  }
  assert.ok(existsSync(path), `${file} does not exist: run "npm run golden" and review it`);
  assert.equal(
    text,
    readFileSync(path, "utf8"),
    `${file} is out of date: run "npm run golden" and review the diff`,
  );
}
