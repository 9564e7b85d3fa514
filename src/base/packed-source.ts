// Which source file a line of a packed program comes from. Packing joins many modules into one file and marks
// each with a comment:
//
//   // dist/nodeagent/pods.js      ← line 2700
//   …                              ← line 2750 is pods.js:50
//
// Logs name modules, and --vmodule picks them by name, also where programs are shipped packed.
import { readFileSync } from "node:fs";

interface Marks {
  /** Where modules begin, in order, and their names. */
  readonly lines: readonly number[];
  readonly names: readonly string[];
}

const known = new Map<string, Marks | undefined>();
const mark = /^\/\/ (?:\S*\/)?([^/\s]+\.[jt]s)$/;

/** `pods.js:50`; for files that are not packed, their own name and line. */
export function sourceAt(file: string, line: number): string {
  const name = file.slice(file.lastIndexOf("/") + 1);
  if (!file.includes("/pack/")) return `${name}:${line}`;
  if (!known.has(file)) known.set(file, marksOf(file));
  const marks = known.get(file);
  const at = marks ? marks.lines.findLastIndex((begin) => begin < line) : -1;
  return at < 0 ? `${name}:${line}` : `${marks!.names[at]}:${line - marks!.lines[at]!}`;
}

function marksOf(file: string): Marks | undefined {
  try {
    const lines: number[] = [];
    const names: string[] = [];
    const text = readFileSync(file.replace(/^file:\/\//, ""), "latin1");
    for (let number = 1, from = 0; from < text.length; number++) {
      const end = text.indexOf("\n", from);
      const found = text.startsWith("// ", from)
        ? mark.exec(text.slice(from, end < 0 ? undefined : end))
        : undefined;
      if (found) {
        lines.push(number);
        names.push(found[1]!);
      }
      from = end < 0 ? text.length : end + 1;
    }
    return { lines, names };
  } catch {
    return undefined;
  }
}
