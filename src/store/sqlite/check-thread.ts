// The thread that checks the structure and the log of a large database for damage while it is in use.

import { DatabaseSync } from "node:sqlite";
import { parentPort, workerData } from "node:worker_threads";
import { alteredRow, structuralDamage } from "./damage.ts";
import { type Fault, faultOf } from "./files.ts";

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
