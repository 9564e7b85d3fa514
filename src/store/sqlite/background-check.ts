// Integrity check in the background, for a database too large to be checked before it is opened.

import { Worker } from "node:worker_threads";
import type { StoreDamaged } from "../errors.ts";
import { siblingModule, type Fault } from "./files.ts";
import { damageOf } from "./reader.ts";

/** Starts the check; `damaged` is called at most once. The returned function stops a running check. */
export function checkInBackground(file: string, damaged: (error: StoreDamaged) => void): () => Promise<void> {
  const worker = new Worker(siblingModule("check-thread"), {
    workerData: { file },
    execArgv: [],
    name: "store check",
  });
  worker.unref();
  worker.once("message", (fault: Fault | undefined) => {
    const damage = fault && damageOf(file, { errcode: fault.code, message: fault.message });
    if (damage) damaged(damage);
  });
  // A check that cannot run says nothing about the store.
  worker.on("error", () => undefined);
  return async () => void (await worker.terminate());
}
