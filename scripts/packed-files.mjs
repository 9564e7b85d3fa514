// The files of a packed program or library: splitting bundled code into modules, and writing it.
import { readFileSync, renameSync, writeFileSync } from "node:fs";

/** Splits bundled code at the comments with which esbuild marks modules. */
export function modulesIn(text, inputs) {
  const starts = [...text.matchAll(/^\/\/ (\S+)\n/gm)].filter(
    ([, path]) => inputs[path] || path === "<stdin>",
  );
  return [
    { path: "", code: text.slice(0, starts[0].index) },
    ...starts.map(({ 0: comment, 1: path, index }, at) => ({
      path,
      code: text.slice(index + comment.length, starts[at + 1]?.index),
    })),
  ];
}

/** V8 stores a source text with a single character beyond Latin-1 in two bytes per character; esbuild does not escape all of them. */
export const inAscii = (code) =>
  code.replace(/[\u0080-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);

/** Renamed into place, so that a program that starts concurrently reads either the old file or the new one. */
export function put(path, contents) {
  writeFileSync(`${path}.new`, contents);
  renameSync(`${path}.new`, path);
  return path;
}

const mark = /^\/\/ (?:\S*\/)?([^/\s]+\.[jt]s)$/;

/** Writes the `[line, name]` pairs of the modules in a packed file, from which log lines get their source file. */
export function putMarks(path) {
  const lines = readFileSync(path, "utf8").split("\n");
  const marks = lines.flatMap((line, at) => {
    const found = mark.exec(line);
    return found ? [[at + 1, found[1]]] : [];
  });
  return put(`${path}.marks`, JSON.stringify(marks));
}
