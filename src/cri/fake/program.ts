// Programs run by containers of the fake runtime: functions that print, sleep, exit, and may handle SIGTERM.
import type { Clock } from "#base";

export type Stream = "stdout" | "stderr";

/** The environment of a program. */
export interface World {
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  print(stream: Stream, text: string): void;
  /** Resolves after the given time, or rejects when the program is killed. */
  sleep(milliseconds: number): Promise<void>;
  /** Never resolves; rejects when the program is killed. */
  forever(): Promise<never>;
  /**
   * Registers a SIGTERM handler. A program without one keeps running, like the first process of a real
   * container.
   */
  onTerm(run: () => void): void;
  readFile(path: string): string | undefined;
  writeFile(path: string, text: string, more: { readonly append: boolean }): void;
}

/** Returns the exit code, now or later. */
export type Program = (world: World) => number | Promise<number>;

/** Thrown into a program that is killed; programs need not catch it. */
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
    // Deferred by a microtask, so that the caller can first record that the program runs.
    Promise.resolve()
      .then(() => program(world))
      .then(
        (code) => this.exit(code),
        (error: unknown) => this.exit(error instanceof Killed ? 137 : 1),
      );
  }

  /** Sends SIGTERM to the program. */
  term(): void {
    for (const run of this.#onTerm) run();
  }

  /** Ends the program with this code regardless of what it does. */
  exit(code: number): void {
    this.#end(code);
    this.#dead.abort(new Killed());
  }
}
