// The last lines of a log, limited by lines and characters, since a log can be endless.

export interface LogBuffer {
  readonly lines: readonly string[];
  /** The number of dropped lines. */
  readonly dropped: number;
}

export const emptyLog: LogBuffer = { lines: [], dropped: 0 };

const maxLines = 5000;
const maxLineLength = 10_000;

export function addLines({ lines, dropped }: LogBuffer, more: readonly string[]): LogBuffer {
  const cutLines = more.map((line) =>
    line.length > maxLineLength ? `${line.slice(0, maxLineLength)}…` : line,
  );
  const all = [...lines, ...cutLines];
  const over = Math.max(0, all.length - maxLines);
  return { lines: over > 0 ? all.slice(over) : all, dropped: dropped + over };
}
