// The log of a program that writes to it by itself: kept from growing without end, and read for the program's
// last words.
import {
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
const usualMostBytes = 16 * 1024 * 1024;
const lookMilliseconds = 10_000;

export class LogFile {
  readonly #path: string;
  readonly #mostBytes: number;
  /** Where what the latest run wrote begins. */
  #begin = 0;

  constructor(path: string, mostBytes = usualMostBytes) {
    this.#path = path;
    this.#mostBytes = mostBytes;
  }

  /** Opens it for another run; the caller closes it. */
  open(): number {
    makeFolder(dirname(this.#path));
    const file = openSync(this.#path, "a", 0o600);
    this.#begin = fstatSync(file).size;
    return file;
  }

  /**
   * Moves what is there to the file beside it, in place of what lay there, once it is too much. The program
   * goes on writing to the same file.
   */
  trim(): void {
    const { size = 0 } = statSync(this.#path, { throwIfNoEntry: false }) ?? {};
    if (size <= this.#mostBytes) return;
    const older = `${this.#path}.1`;
    try {
      copyFileSync(this.#path, older);
    } catch {
      // A full disk has more need of the room than anybody of old lines.
      rmSync(older, { force: true });
    }
    truncateSync(this.#path);
    this.#begin = 0;
  }

  /** Looks after its size until the returned function is called. */
  keepSmall(clock: Clock): () => void {
    let cancel = (): void => undefined;
    const look = (): void => {
      this.trim();
      cancel = clock.after(lookMilliseconds, look);
    };
    look();
    return () => cancel();
  }

  /** The last lines of the latest run. */
  lastLines(): string[] {
    const bytes = Buffer.alloc(shownBytes);
    const file = openSync(this.#path, "r");
    try {
      const read = readSync(
        file,
        bytes,
        0,
        shownBytes,
        Math.max(this.#begin, fstatSync(file).size - shownBytes),
      );
      return bytes.toString("utf8", 0, read).trimEnd().split("\n").slice(-shownLines);
    } finally {
      closeSync(file);
    }
  }
}
