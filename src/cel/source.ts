// Positions in source text, and error messages that show the line and a caret.

/** An error at an offset in UTF-16 units; a negative offset means no position. */
export interface SourceError {
  readonly offset: number;
  readonly message: string;
  /**
   * Whether a position at the start of a line belongs to that line: the reference's type checker attributes
   * it to the previous one.
   */
  readonly ofToken?: boolean;
}

/** Maximum number of errors shown; of further errors only the count is reported. */
export const maxErrors = 100;
const maxSnippetLength = 16_384;

/** Creates a syntax error. The reference uses its own message as a format string without arguments. */
const syntaxError = (offset: number, message: string): SourceError => ({
  offset,
  ofToken: true,
  message: `Syntax error: ${message}`.replaceAll(formatted, (_, flags: string, verb: string) =>
    verb === "" ? "%!(NOVERB)" : verb === "%" && flags === "" ? "%" : `%!${verb}(MISSING)`,
  ),
});
/** Adds a syntax error. Messages that are not shown are not computed. */
export function reportSyntax(errors: SourceError[], offset: number, makeMessage: () => string): void {
  errors.push(errors.length < maxErrors ? syntaxError(offset, makeMessage()) : { offset, message: "" });
}

const formatted = /%([-+# 0]*\d*(?:\.\d*)?)([^]?)/gu;

/** Formats the errors as one text, ordered by position. */
export function formatErrors(source: string, errors: readonly SourceError[]): string {
  const points = Array.from(source);
  const starts = lineStarts(points);
  const inPoints = pointOffsets(source, points);
  const lines = new Map<number, ShownLine | undefined>();
  const placed = errors
    .slice(0, maxErrors)
    .map((error) => ({ error, at: place(starts, inPoints(error.offset), error.ofToken) }));
  placed.sort((left, right) => left.at.line - right.at.line || left.at.column - right.at.column);
  const texts = placed.map(({ error, at }) => {
    const head = `ERROR: <input>:${at.line}:${at.column + 1}: ${error.message}`;
    const line = lines.getOrInsertComputed(at.line, (number) => shownLine(points, starts, number));
    return line ? head + snippet(line, at.column) : head;
  });
  if (errors.length > maxErrors) texts.push(`${errors.length - maxErrors} more errors were truncated`);
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

function place(starts: readonly number[], offset: number, ofToken = false): Place {
  if (offset < 0) return { line: -1, column: -1 };
  let line = 1;
  let column = offset;
  for (const start of starts) {
    if (start > offset || (start === offset && !ofToken)) break;
    line += 1;
    column = offset - start;
  }
  return { line, column };
}

/** Maps offsets in UTF-16 units to offsets in code points. */
function pointOffsets(source: string, points: readonly string[]): (offset: number) => number {
  if (points.length === source.length) return (offset) => offset;
  const pointAt = new Uint32Array(source.length + 1);
  let unit = 0;
  for (let at = 0; at < points.length; unit += points[at]!.length, at++) pointAt[unit] = at;
  pointAt[unit] = points.length;
  return (offset) => (offset < 0 ? offset : pointAt[offset]!);
}

/** A source line, and a dot of matching width for each of its characters. */
interface ShownLine {
  readonly text: string;
  readonly dots: string;
}
const wideDot = "\uff0e";

function shownLine(
  points: readonly string[],
  starts: readonly number[],
  line: number,
): ShownLine | undefined {
  if (line < 1 || line > starts.length + 1) return undefined;
  const from = line === 1 ? 0 : starts[line - 2]!;
  const to = line <= starts.length ? starts[line - 1]! - 1 : points.length;
  if (to - from > maxSnippetLength) return undefined;
  const shown = points.slice(from, to);
  return {
    text: shown.join("").replaceAll("\t", " "),
    dots: shown.map((point) => (point > "\u007f" ? wideDot : ".")).join(""),
  };
}

const snippet = ({ text, dots }: ShownLine, column: number): string =>
  `\n | ${text}\n | ${dots.slice(0, column)}${dots[column] === wideDot ? "\uff3e" : "^"}`;

/** Returns the errors without duplicates. */
export function distinctErrors(errors: readonly SourceError[]): readonly SourceError[] {
  const seen = new Map<number, string[]>();
  return errors.filter(({ offset, message }) => {
    const before = seen.get(offset);
    if (before?.includes(message)) return false;
    if (before) before.push(message);
    else seen.set(offset, [message]);
    return true;
  });
}
