// The last lines of a log, limited by lines and characters, since a log can be endless.

export interface LogBuffer {
  readonly lines: readonly string[];
  /** The number of dropped lines. */
  readonly dropped: number;
}

export const emptyLog: LogBuffer = { lines: [], dropped: 0 };

const mostLines = 5000;
const longestLine = 10_000;

export function addLines({ lines, dropped }: LogBuffer, more: readonly string[]): LogBuffer {
  const cutLines = more.map((line) => (line.length > longestLine ? `${line.slice(0, longestLine)}…` : line));
  const all = [...lines, ...cutLines];
  const over = Math.max(0, all.length - mostLines);
  return { lines: over > 0 ? all.slice(over) : all, dropped: dropped + over };
}
