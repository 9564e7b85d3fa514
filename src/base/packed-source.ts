// Maps a position in a packed program to its source file. Packing (scripts/pack.mjs) joins many modules into one
// file and writes where they begin to a file next to it: searching for that took a tenth of the startup time. In a
// file without white space a module is one line, so the lines of its calls of a log are listed.
//
//   // dist/nodeagent/pods.js      ← line 2700       chunk.js.marks   [[2700,"pods.js"], …]
//   …                              ← line 2750 is pods.js:50
//
//   function add(e){log.info("…    ← line 2701       program.cjs.marks   [[2700,"pods.js",{"1:21":50}], …]
//
// With this, logs name modules and --vmodule selects them by name in packed programs, too.
import { readFileSync } from "node:fs";

/** Of each module, in order: the line before it, its name, and the original lines of positions within it. */
type Marks = readonly (readonly [before: number, name: string, lines?: Readonly<Record<string, number>>])[];

const known = new Map<string, Marks>();

/**
 * Returns the module and line, such as `pods.js:50`; for files that are not packed, their own name and line.
 */
export function sourceAt(file: string, line: number, column: number): string {
  const name = file.slice(file.lastIndexOf("/") + 1);
  if (!file.includes("/pack/")) return `${name}:${line}`;
  const found = known.getOrInsertComputed(file, read).findLast(([before]) => before < line);
  if (!found) return `${name}:${line}`;
  const [before, module, lines] = found;
  return `${module}:${lines?.[`${line - before}:${column}`] ?? line - before}`;
}

function read(file: string): Marks {
  try {
    return JSON.parse(readFileSync(`${file.replace(/^file:\/\//, "")}.marks`, "utf8")) as Marks;
  } catch {
    return [];
  }
}
