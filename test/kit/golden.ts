// Golden files: what a program prints or publishes, kept in the repository so that every change of it shows
// in a diff.
import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

const root = join(import.meta.dirname, "..", "..");

/**
 * Compares text with a file, named from the package's root; with UPDATE=1 (`npm run golden`) writes it
 * instead.
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
