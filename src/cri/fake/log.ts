// A container log in CRI format: one line per line of output, with time, stream and partial flag.
import { appendFileSync, closeSync, mkdirSync, openSync } from "node:fs";
import { dirname } from "node:path";
import type { Stream } from "./program.ts";

/** Longer lines are split into partial ones, as by real runtimes. */
const partBytes = 16_384;
const maxLines = 10_000;

export class Log {
  readonly path: string;
  /** The most recent lines, as written. */
  readonly lines: string[] = [];
  readonly #onDisk: boolean;
  readonly #now: () => number;
  readonly #pending: Record<Stream, string> = { stdout: "", stderr: "" };
  #file: number | undefined;

  constructor(path: string, { onDisk, now }: { readonly onDisk: boolean; readonly now: () => number }) {
    this.path = path;
    this.#onDisk = onDisk && path !== "";
    this.#now = now;
  }

  open(): void {
    if (!this.#onDisk) return;
    mkdirSync(dirname(this.path), { recursive: true });
    this.#file = openSync(this.path, "a", 0o640);
  }

  /** Continues in a new file at the same path, after the old one was renamed. */
  reopen(): void {
    this.close();
    this.open();
  }

  close(): void {
    if (this.#file !== undefined) closeSync(this.#file);
    this.#file = undefined;
  }

  write(stream: Stream, text: string): void {
    const parts = (this.#pending[stream] + text).split("\n");
    this.#pending[stream] = parts.pop()!;
    for (const part of parts) this.#line(stream, part);
    while (this.#pending[stream].length >= partBytes) {
      this.#add(stream, "P", this.#pending[stream].slice(0, partBytes));
      this.#pending[stream] = this.#pending[stream].slice(partBytes);
    }
  }

  /** Writes output without a trailing newline as a partial line when the program ends. */
  flush(): void {
    for (const stream of ["stdout", "stderr"] as const) {
      if (this.#pending[stream]) this.#add(stream, "P", this.#pending[stream]);
      this.#pending[stream] = "";
    }
  }

  #line(stream: Stream, line: string): void {
    let rest = line;
    for (; rest.length > partBytes; rest = rest.slice(partBytes))
      this.#add(stream, "P", rest.slice(0, partBytes));
    this.#add(stream, "F", rest);
  }

  #add(stream: Stream, tag: "F" | "P", text: string): void {
    const time = new Date(this.#now()).toISOString().replace("Z", "000000Z");
    const line = `${time} ${stream} ${tag} ${text}`;
    this.lines.push(line);
    if (this.lines.length > maxLines) this.lines.shift();
    if (this.#file !== undefined) appendFileSync(this.#file, `${line}\n`);
  }
}
