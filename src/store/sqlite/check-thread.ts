// The thread that looks for damage in the structure of a large database while it is used already.

import { DatabaseSync } from "node:sqlite";
import { parentPort, workerData } from "node:worker_threads";
import { type Fault, faultOf, structuralDamage } from "./files.ts";

if (parentPort) {
  let fault: Fault | undefined;
  let db: DatabaseSync | undefined;
  try {
    db = new DatabaseSync((workerData as { file: string }).file, { readOnly: true, timeout: 5000 });
    const damage = structuralDamage(db);
    if (damage !== undefined) fault = { code: 11, message: damage };
  } catch (error) {
    fault = faultOf(error);
  } finally {
    db?.close();
  }
  parentPort.postMessage(fault);
}
