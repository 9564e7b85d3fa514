// The output streams of a command: results and errors.

export interface Output {
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
}

/** Exit code of a program that a shell reports as ended by SIGPIPE. */
const brokenPipe = 141;

/** Ends the program once the reader of its output has gone, as `head` does, like a program in C. */
export function endWithReader(
  stream: Pick<NodeJS.EventEmitter, "on">,
  exit: (code: number) => void = process.exit,
): void {
  stream.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE") throw error;
    exit(brokenPipe);
  });
}
