// Which source file a line of a packed program comes from. Packing (scripts/pack.mjs) joins many modules into one
// file, marks each with a comment, and writes beside the file where the marks are: looking for them at a start
// took a tenth of it.
//
//   // dist/nodeagent/pods.js      ← line 2700       chunk.js.marks   [[2700,"pods.js"], …]
//   …                              ← line 2750 is pods.js:50
//
// Logs name modules, and --vmodule picks them by name, also where programs are shipped packed.
import { readFileSync } from "node:fs";

/** Where modules begin, in order, and their names. */
type Marks = readonly (readonly [line: number, name: string])[];

const known = new Map<string, Marks>();

/** `pods.js:50`; for files that are not packed, their own name and line. */
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
