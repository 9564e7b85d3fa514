// Errors of a store other than failed preconditions. Each message names the store and suggests a remedy.

/** The store was closed and serves no more requests. */
export class StoreClosed extends Error {
  override readonly name = "StoreClosed";
  constructor() {
    super("the store is closed");
  }
}

/** Another process, or another opener in this process, holds the store. */
export class StoreLocked extends Error {
  override readonly name = "StoreLocked";
  readonly pid: number | undefined;
  constructor(dir: string, pid: number | undefined) {
    const holder =
      pid === undefined
        ? "another process"
        : pid === process.pid
          ? `this process (pid ${pid})`
          : `process ${pid}`;
    super(`the store in ${dir} is in use by ${holder}; stop it or choose another directory`);
    this.pid = pid;
  }
}

/** The disk is full; nothing of the write was kept. */
export class StoreFull extends Error {
  override readonly name = "StoreFull";
  constructor(dir: string, detail: string) {
    super(
      `no space left for the store in ${dir}: the write was not done (${detail}); free some space and try again`,
    );
  }
}

/** The data on disk differs from what was written. */
export class StoreDamaged extends Error {
  override readonly name = "StoreDamaged";
  constructor(file: string, detail: string, remedy = "restore it from a backup") {
    super(`the store file ${file} is damaged: ${detail}; ${remedy}`);
  }
}

/** The disk or the writer thread failed; nothing of the write was acknowledged. */
export class StoreFailed extends Error {
  override readonly name = "StoreFailed";
  constructor(dir: string, detail: string) {
    super(`the store in ${dir} could not write: ${detail}`);
  }
}

/** The write queue is full. */
export class StoreBusy extends Error {
  override readonly name = "StoreBusy";
  constructor(waiting: number) {
    super(`${waiting} writes are waiting for the store; try again later`);
  }
}

/**
 * The key service did not respond, refused, or returned an invalid response. Nothing was encrypted, so
 * nothing was written. Messages are worded like kube-apiserver's.
 */
export class KeyServiceFailed extends Error {
  override readonly name = "KeyServiceFailed";
}

/** No provider can decrypt the value. */
export class DecryptionFailed extends Error {
  override readonly name = "DecryptionFailed";
  readonly key: string;
  constructor(key: string, detail: string) {
    super(`the value of ${JSON.stringify(key)} cannot be decrypted: ${detail}`);
    this.key = key;
  }
}
