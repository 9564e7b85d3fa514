// Atomic writes of files that only their owner can read.
import { randomBytes } from "node:crypto";
import { renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { makeFolder } from "./make-folder.ts";

/** Writes or replaces such a file; missing parent directories are created for the owner only. */
export function writePrivate(file: string, text: string): void {
  makeFolder(dirname(resolve(file)));
  const temporary = `${file}.${process.pid}.${randomBytes(4).toString("hex")}`;
  try {
    writeFileSync(temporary, text, { mode: 0o600, flag: "wx" });
    renameSync(temporary, file);
  } catch (error) {
    rmSync(temporary, { force: true });
    const { code, message } = error as NodeJS.ErrnoException;
    throw Object.assign(new Error(`${file} cannot be written: ${message}`, { cause: error }), { code });
  }
}
