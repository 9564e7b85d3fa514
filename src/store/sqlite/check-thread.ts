// The thread that checks the structure and the log of a large database for damage while it is in use.

import { DatabaseSync } from "node:sqlite";
import { parentPort, workerData } from "node:worker_threads";
import { type Fault, faultOf, rowSeal, structuralDamage } from "./files.ts";

if (parentPort) {
  let fault: Fault | undefined;
  let db: DatabaseSync | undefined;
  try {
    db = new DatabaseSync((workerData as { file: string }).file, { readOnly: true, timeout: 5000 });
    const damage = structuralDamage(db) ?? alteredRow(db);
    if (damage !== undefined) fault = { code: 11, message: damage };
  } catch (error) {
    fault = faultOf(error);
  } finally {
    db?.close();
  }
  parentPort.postMessage(fault);
}

type Columns = [
  revision: number,
  key: string,
  created: number,
  before: number,
  expires: number,
  seal: number,
];

/** Checks every row of the log, which was loaded without verifying its checksums. */
function alteredRow(db: DatabaseSync): string | undefined {
  const rows = db.prepare("SELECT revision, key, created, before, expires, seal FROM log");
  rows.setReturnArrays(true);
  for (const row of rows.iterate()) {
    const [revision, key, created, before, expires, seal] = row as unknown as Columns;
    if (seal !== rowSeal(revision, key, created, before, expires))
      return `the log is not what was written at revision ${revision}`;
  }
  return undefined;
}
