// Source text with positions, and error messages that show the line and a caret.

/** An error at an offset in UTF-16 units; a negative one has no place. */
export interface SourceError {
  readonly offset: number;
  readonly message: string;
}

const mostErrors = 100;
const longestSnippet = 16_384;

/** The errors as one text, in the order of their places. */
export function formatErrors(source: string, errors: readonly SourceError[]): string {
  const points = Array.from(source);
  const starts = lineStarts(points);
  const inPoints = (offset: number) => (offset < 0 ? -1 : Array.from(source.slice(0, offset)).length);
  const placed = errors
    .slice(0, mostErrors)
    .map((error) => ({ error, at: place(starts, inPoints(error.offset)) }));
  placed.sort((left, right) => left.at.line - right.at.line || left.at.column - right.at.column);
  const texts = placed.map(({ error, at }) => {
    const head = `ERROR: <input>:${at.line}:${at.column + 1}: ${error.message}`;
    return head + snippet(points, starts, at);
  });
  if (errors.length > mostErrors) texts.push(`${errors.length - mostErrors} more errors were truncated`);
  return texts.join("\n");
}

interface Place {
  readonly line: number;
  readonly column: number;
}

function lineStarts(points: readonly string[]): number[] {
  const starts: number[] = [];
  points.forEach((point, index) => {
    if (point === "\n") starts.push(index + 1);
  });
  return starts;
}

/** A place at the very start of a line counts for the line before, as in the reference. */
function place(starts: readonly number[], offset: number): Place {
  if (offset < 0) return { line: -1, column: -1 };
  let line = 1;
  let column = offset;
  for (const start of starts) {
    if (start >= offset) break;
    line += 1;
    column = offset - start;
  }
  return { line, column };
}

function snippet(points: readonly string[], starts: readonly number[], at: Place): string {
  if (at.line < 1 || at.line > starts.length + 1) return "";
  const from = at.line === 1 ? 0 : starts[at.line - 2]!;
  const to = at.line <= starts.length ? starts[at.line - 1]! - 1 : points.length;
  if (to - from > longestSnippet) return "";
  const line = points.slice(from, to).map((point) => (point === "\t" ? " " : point));
  const wide = (point: string | undefined) => point !== undefined && point > "\u007f";
  const dots = line.slice(0, at.column).map((point) => (wide(point) ? "\uff0e" : "."));
  return `\n | ${line.join("")}\n | ${dots.join("")}${wide(line[at.column]) ? "\uff3e" : "^"}`;
}
