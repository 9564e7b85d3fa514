// Where a command writes what people read: its answer, and what went wrong.

export interface Output {
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
}
