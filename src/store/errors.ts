// What can go wrong with a store besides a lost race: each error names the store and what to do.

/** The store was closed; nothing more can be asked of it. */
export class StoreClosed extends Error {
  override readonly name = "StoreClosed";
  constructor() {
    super("the store is closed");
  }
}

/** Another process (or another opener in this one) holds the store. */
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

/** The disk took no more; nothing of the write was kept. */
export class StoreFull extends Error {
  override readonly name = "StoreFull";
  constructor(dir: string, detail: string) {
    super(
      `no space left for the store in ${dir}: the write was not done (${detail}); free some space and try again`,
    );
  }
}

/** What is on disk is not what was written. */
export class StoreDamaged extends Error {
  override readonly name = "StoreDamaged";
  constructor(file: string, detail: string) {
    super(`the store file ${file} is damaged: ${detail}; restore it from a backup`);
  }
}

/** The disk or the writer failed; nothing of the write was acknowledged. */
export class StoreFailed extends Error {
  override readonly name = "StoreFailed";
  constructor(dir: string, detail: string) {
    super(`the store in ${dir} could not write: ${detail}`);
  }
}

/** More writes are waiting than the store keeps waiting. */
export class StoreBusy extends Error {
  override readonly name = "StoreBusy";
  constructor(waiting: number) {
    super(`${waiting} writes are waiting for the store; try again later`);
  }
}

/**
 * The service that keeps the keys did not answer, refused, or made no sense: nothing was encrypted, so nothing was
 * written. Told in kube-apiserver's words.
 */
export class KeyServiceFailed extends Error {
  override readonly name = "KeyServiceFailed";
}
