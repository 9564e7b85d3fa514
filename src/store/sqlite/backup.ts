// Backs up a store to a single file, possibly while it is in use, and restores it.

import {
  closeSync,
  copyFileSync,
  existsSync,
  fsyncSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
} from "node:fs";
import { dirname, resolve } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { Worker } from "node:worker_threads";
import { makeFolder } from "#base";
import { StoreDamaged } from "../errors.ts";
import { alteredRow, alteredValue, missingRow, structuralDamage } from "./damage.ts";
import { applicationId, siblingModule, type Fault, formatVersion, storeFile } from "./files.ts";
import { damageOf } from "./reader.ts";

/** SQLITE_NOTADB */
const notDatabase = 26;

/**
 * Writes a snapshot of the store in `dir` to `file`, which must not exist yet. Another process may have the
 * store open and keep writing. The file appears only when it is complete and checked.
 */
export async function backupStore(dir: string, file: string): Promise<void> {
  const source = storeFile(dir);
  if (!existsSync(source)) throw new Error(`there is no store in ${dir}`);
  if (existsSync(file)) throw new Error(`${file} is already there; a backup does not overwrite`);
  const partial = `${file}.partial`;
  createPartial(partial, file);
  try {
    const fault = await copyInThread({ from: source, to: resolve(partial) });
    if (fault)
      throw (
        damageOf(source, { errcode: fault.code, message: fault.message }) ??
        new Error(`the store in ${dir} could not be backed up: ${fault.message}`)
      );
    checkIntact(partial, source);
    flush(partial);
    renameSync(partial, file);
    flush(dirname(resolve(file)));
  } finally {
    rmSync(partial, { force: true });
  }
}

/** Creates the file beforehand so that only its owner can read it. */
function createPartial(partial: string, file: string): void {
  try {
    rmSync(partial, { force: true });
    closeSync(openSync(partial, "wx", 0o600));
  } catch (error) {
    throw new Error(`${file} cannot be written: ${(error as Error).message}`, { cause: error });
  }
}

/** Creates a store in `dir`, which must be empty or absent, from a backup. */
export async function restoreStore(file: string, dir: string): Promise<void> {
  const found = statSync(file, { throwIfNoEntry: false });
  if (!found) throw new Error(`there is no backup ${file}`);
  if (found.isDirectory())
    throw new Error(`${file} is a directory; a store is restored from the file that a backup has written`);
  // Opening a pipe would wait for its writer.
  if (!found.isFile()) throw new Error(`${file} is not a backup: it is not a regular file`);
  if (existsSync(dir) && readdirSync(dir).length > 0)
    throw new Error(`${dir} is not empty; a store is restored into an empty directory only`);
  checkIntact(file, file, "use another backup");
  makeFolder(dir);
  const target = storeFile(dir);
  const partial = `${target}.partial`;
  try {
    closeSync(openSync(partial, "wx", 0o600));
    copyFileSync(file, partial);
    flush(partial);
    renameSync(partial, target);
    flush(dir);
  } finally {
    rmSync(partial, { force: true });
  }
}

/** Throws, naming `source`, unless the file is an intact store of a known format. Reads every row. */
function checkIntact(file: string, source: string, remedy?: string): void {
  let db: DatabaseSync | undefined;
  try {
    db = new DatabaseSync(file, { readOnly: true });
    const first = (sql: string): unknown => Object.values(db!.prepare(sql).get() ?? {})[0];
    if (first("PRAGMA application_id") !== applicationId)
      throw new Error(`${source} is not a backup: it is not a store`);
    if (first("PRAGMA user_version") !== formatVersion)
      throw new Error(
        `${source} has format ${String(first("PRAGMA user_version"))}, this program knows ${formatVersion}`,
      );
    const damage = structuralDamage(db) ?? alteredRow(db) ?? missingRow(db) ?? alteredValue(db);
    if (damage !== undefined) throw new StoreDamaged(source, damage, remedy);
  } catch (error) {
    throw namingFile(source, error, remedy);
  } finally {
    db?.close();
  }
}

/** Adds the file to an error of SQLite, whose messages name none. */
function namingFile(file: string, error: unknown, remedy?: string): Error {
  const { errcode, message } = error as Error & { readonly errcode?: number };
  if (errcode === undefined) return error as Error;
  if (errcode % 256 === notDatabase)
    return new Error(`${file} is not a backup: ${message}`, { cause: error });
  return damageOf(file, error)
    ? new StoreDamaged(file, message, remedy)
    : new Error(`${file} could not be read: ${message}`, { cause: error });
}

// Copying holds a snapshot for as long as the disk takes, so it must not run in a server's event loop.
function copyInThread(data: { readonly from: string; readonly to: string }): Promise<Fault | undefined> {
  return new Promise((settle, reject) => {
    const worker = new Worker(siblingModule("backup-thread"), {
      workerData: data,
      execArgv: [],
      name: "store backup",
    });
    worker.once("message", (fault: Fault | undefined) => settle(fault));
    worker.once("error", reject);
    worker.once("exit", () => settle({ code: 0, message: "the copying thread ended" }));
  });
}

function flush(path: string): void {
  const handle = openSync(path, "r");
  fsyncSync(handle);
  closeSync(handle);
}
