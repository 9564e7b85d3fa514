// Maps a line of a packed program to its source file. Packing (scripts/pack.mjs) joins many modules into one
// file, marks each with a comment, and writes the positions of the marks to a file next to it: searching for
// them took a tenth of the startup time.
//
//   // dist/nodeagent/pods.js      ← line 2700       chunk.js.marks   [[2700,"pods.js"], …]
//   …                              ← line 2750 is pods.js:50
//
// With this, logs name modules and --vmodule selects them by name in packed programs, too.
import { readFileSync } from "node:fs";

/** The first line and the name of each module, in order. */
type Marks = readonly (readonly [line: number, name: string])[];

const known = new Map<string, Marks>();

/**
 * Returns the module and line, such as `pods.js:50`; for files that are not packed, their own name and line.
 */
export function sourceAt(file: string, line: number): string {
  const name = file.slice(file.lastIndexOf("/") + 1);
  if (!file.includes("/pack/")) return `${name}:${line}`;
  const found = known.getOrInsertComputed(file, read).findLast(([begin]) => begin < line);
  return found ? `${found[1]}:${line - found[0]}` : `${name}:${line}`;
}

function read(file: string): Marks {
  try {
    return JSON.parse(readFileSync(`${file.replace(/^file:\/\//, "")}.marks`, "utf8")) as Marks;
  } catch {
    return [];
  }
}
