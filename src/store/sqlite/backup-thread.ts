// The thread that copies a store: it writes one read snapshot compactly to a file while the writer continues.

import { DatabaseSync } from "node:sqlite";
import { parentPort, workerData } from "node:worker_threads";
import { type Fault, faultOf } from "./files.ts";

if (parentPort) {
  const { from, to } = workerData as { from: string; to: string };
  let fault: Fault | undefined;
  let db: DatabaseSync | undefined;
  try {
    db = new DatabaseSync(from, { readOnly: true, timeout: 5000 });
    db.prepare("VACUUM INTO ?").run(to);
  } catch (error) {
    fault = faultOf(error);
  } finally {
    db?.close();
  }
  parentPort.postMessage(fault);
}
