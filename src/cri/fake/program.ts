// What a container of the fake runtime runs: a function that prints, sleeps and ends, and that can be asked
// to end.
import type { Clock } from "#base";

export type Stream = "stdout" | "stderr";

/** What a program sees of its world. */
export interface World {
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  print(stream: Stream, text: string): void;
  /** Resolves later, or rejects when the program is killed. */
  sleep(milliseconds: number): Promise<void>;
  /** Never resolves; rejects when the program is killed. */
  forever(): Promise<never>;
  /**
   * Calls back when the program is asked to end. A program that does nothing about it goes on, as the first
   * process of a container does.
   */
  onTerm(run: () => void): void;
  readFile(path: string): string | undefined;
  writeFile(path: string, text: string, more: { readonly append: boolean }): void;
}

/** Returns its exit code, now or later. */
export type Program = (world: World) => number | Promise<number>;

/** Thrown into a program that is killed; nothing needs to catch it. */
export class Killed extends Error {
  override readonly name = "Killed";
}

export interface Files {
  read(path: string): string | undefined;
  write(path: string, text: string, append: boolean): void;
}

/** A running program. */
export class Process {
  /** Resolves with the exit code. */
  readonly ended: Promise<number>;
  #onTerm: (() => void)[] = [];
  readonly #dead = new AbortController();
  #end!: (code: number) => void;

  constructor(
    program: Program,
    {
      clock,
      argv,
      env,
      files,
      print,
    }: {
      clock: Clock;
      argv: readonly string[];
      env: Readonly<Record<string, string>>;
      files: Files;
      print: World["print"];
    },
  ) {
    this.ended = new Promise((resolve) => (this.#end = resolve));
    const { signal } = this.#dead;
    const world: World = {
      argv,
      env,
      print: (stream, text) => {
        if (!signal.aborted) print(stream, text);
      },
      sleep: (milliseconds) => clock.sleep(milliseconds, signal),
      forever: () =>
        new Promise((_, reject) =>
          signal.addEventListener("abort", () => reject(signal.reason as Error), { once: true }),
        ),
      onTerm: (run) => void this.#onTerm.push(run),
      readFile: (path) => files.read(path),
      writeFile: (path, text, { append }) => {
        if (!signal.aborted) files.write(path, text, append);
      },
    };
    // Started a turn later, so that whoever starts it has written down that it runs.
    Promise.resolve()
      .then(() => program(world))
      .then(
        (code) => this.exit(code),
        (error: unknown) => this.exit(error instanceof Killed ? 137 : 1),
      );
  }

  /** Asks the program to end. */
  term(): void {
    for (const run of this.#onTerm) run();
  }

  /** Ends the program with this code, whatever it does. */
  exit(code: number): void {
    this.#end(code);
    this.#dead.abort(new Killed());
  }
}
