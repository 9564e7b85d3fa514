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

/** Escapes control and directional characters, since text chosen by clients must not affect the terminal. */
export const plain = (text: string): string =>
  text.replaceAll(
    /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu,
    (found) => `\\u${found.codePointAt(0)!.toString(16).padStart(4, "0")}`,
  );
