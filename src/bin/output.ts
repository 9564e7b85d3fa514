// The output streams of a command: results and errors.

export interface Output {
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
}
