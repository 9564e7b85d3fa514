// The log file of a program that writes to it directly: rotates it, and reads its last lines.
import {
  appendFileSync,
  closeSync,
  copyFileSync,
  fstatSync,
  openSync,
  readSync,
  rmSync,
  statSync,
  truncateSync,
} from "node:fs";
import { dirname } from "node:path";
import { type Clock, makeFolder } from "#base";

const shownLines = 12;
const shownBytes = 16_384;
const defaultMaxBytes = 16 * 1024 * 1024;
const checkMilliseconds = 10_000;

export class LogFile {
  readonly #path: string;
  readonly #maxBytes: number;
  /** Offset at which the output of the latest run starts. */
  #runStart = 0;

  constructor(path: string, maxBytes = defaultMaxBytes) {
    this.#path = path;
    this.#maxBytes = maxBytes;
  }

  /** Opens the file for another run; the caller closes it. */
  open(): number {
    makeFolder(dirname(this.#path));
    const file = openSync(this.#path, "a", 0o600);
    this.#runStart = fstatSync(file).size;
    return file;
  }

  /**
   * Moves the content to FILE.1, replacing that, if the file is too large. The program keeps writing to the
   * same file.
   */
  rotateIfLarge(): void {
    const { size = 0 } = statSync(this.#path, { throwIfNoEntry: false }) ?? {};
    if (size <= this.#maxBytes) return;
    const older = `${this.#path}.1`;
    try {
      copyFileSync(this.#path, older);
    } catch {
      // The disk may be full: prefer free space over old lines.
      rmSync(older, { force: true });
    }
    truncateSync(this.#path);
    this.#runStart = 0;
  }

  /** Rotates the file periodically until the returned function is called. */
  startRotation(clock: Clock): () => void {
    let cancel = (): void => undefined;
    const check = (): void => {
      try {
        this.rotateIfLarge();
      } catch {
        // The file system may be read-only: the programs and their supervisor keep running.
      }
      cancel = clock.after(checkMilliseconds, check);
    };
    check();
    return () => cancel();
  }

  /** Returns the last lines of the latest run, and the reason if lines after them could not be written. */
  lastLines(): string[] {
    const bytes = Buffer.alloc(shownBytes);
    const file = openSync(this.#path, "r");
    try {
      const read = readSync(
        file,
        bytes,
        0,
        shownBytes,
        Math.max(this.#runStart, fstatSync(file).size - shownBytes),
      );
      const lines = bytes.toString("utf8", 0, read).trimEnd().split("\n").slice(-shownLines);
      const problem = this.#writeProblem();
      return problem === undefined ? lines : [...lines.filter((line) => line !== ""), problem];
    } finally {
      closeSync(file);
    }
  }

  #writeProblem(): string | undefined {
    try {
      appendFileSync(this.#path, "\n");
      return undefined;
    } catch (error) {
      return `${this.#path} is incomplete: ${(error as Error).message}`;
    }
  }
}
