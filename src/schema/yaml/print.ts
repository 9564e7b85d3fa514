// Prints plain JSON data as YAML with kube-apiserver's layout: block style, sequences not indented, keys in
// natural order, strings quoted if they would be read as another type, multi-line strings as literal blocks,
// long lines folded at spaces.

import { yamlNumber } from "./yaml-number.ts";
import { compareNaturally } from "./natural-order.ts";
import { resolvePlain } from "./resolve.ts";
import { type Analysis, analyze, escaped, misread } from "./scalar-style.ts";

const widest = 80;
/** Longer keys are written with a question mark. */
const maxKeyLength = 128;

export function printYaml(value: unknown): string {
  const printer = new Printer();
  printer.node(value, 0, false);
  return printer.finish();
}

/** Returns the number of code points between two indexes. */
function widthOf(text: string, from: number, to = text.length): number {
  let pairs = 0;
  for (let at = from; at < to - 1; at++)
    if ((text.charCodeAt(at) & 0xfc00) === 0xd800 && (text.charCodeAt(at + 1) & 0xfc00) === 0xdc00) pairs++;
  return to - from - pairs;
}

function countOf(character: string, text: string, from: number, to: number): number {
  let count = 0;
  for (let at = from; at < to; at++) if (text[at] === character) count++;
  return count;
}

class Printer {
  #parts: string[] = [];
  #column = 0;

  finish(): string {
    if (this.#column > 0) this.#put("\n");
    return this.#parts.join("");
  }

  #put(text: string): void {
    this.#parts.push(text);
    const broken = text.lastIndexOf("\n");
    this.#column = broken < 0 ? this.#column + widthOf(text, 0) : widthOf(text, broken + 1);
  }
  /** Starts a line at this indentation, unless the current line is still empty. */
  #line(indent: number): void {
    this.#put(`${this.#column > 0 ? "\n" : ""}${" ".repeat(indent)}`);
  }

  /**
   * Writes a value. The lines of a collection start at `indent`, continuation lines of a string two columns
   * further; `inline` is set if the value starts on the current line.
   */
  node(value: unknown, indent: number, inline: boolean): void {
    if (Array.isArray(value)) this.#sequence(value, indent, inline);
    else if (typeof value === "object" && value !== null)
      this.#mapping(value as Record<string, unknown>, indent, inline);
    else this.#scalar(value, indent, false);
  }

  #sequence(items: readonly unknown[], indent: number, inline: boolean): void {
    if (items.length === 0) return this.#put("[]");
    items.forEach((item, i) => {
      if (!inline || i > 0) this.#line(indent);
      this.#put("- ");
      this.node(item, typeof item === "object" && item !== null ? indent + 2 : indent, true);
    });
  }

  #mapping(map: Record<string, unknown>, indent: number, inline: boolean): void {
    const keys = Object.keys(map)
      .filter((key) => map[key] !== undefined)
      .sort(compareNaturally);
    if (keys.length === 0) return this.#put("{}");
    keys.forEach((key, i) => {
      if (!inline || i > 0) this.#line(indent);
      const simple = !key.includes("\n") && Buffer.byteLength(key) <= maxKeyLength;
      if (simple) this.#scalar(key, indent, true);
      else {
        this.#put("? ");
        this.#scalar(key, indent + 2, false);
        this.#line(indent);
      }
      this.#put(":");
      const value = map[key];
      const nested =
        typeof value === "object" &&
        value !== null &&
        (Array.isArray(value) ? value.length > 0 : Object.values(value).some((item) => item !== undefined));
      if (!nested) this.#put(" ");
      this.node(value, Array.isArray(value) ? indent : nested ? indent + 2 : indent, false);
    });
  }

  #scalar(value: unknown, indent: number, key: boolean): void {
    if (typeof value === "string") this.#text(value, indent + 2, key);
    else this.#put(typeof value === "number" ? yamlNumber(value) : String(value));
  }

  #text(text: string, indent: number, key: boolean): void {
    const analysis = analyze(text);
    if (text.includes("\n")) {
      if (analysis.block && !key) this.#literal(text, indent);
      else this.#doubleQuoted(text, indent, key);
    } else if (typeof resolvePlain(text) !== "string" || misread.test(text))
      this.#doubleQuoted(text, indent, key);
    else this.#plainOrQuoted(text, analysis, indent, key);
  }

  #plainOrQuoted(text: string, analysis: Analysis, indent: number, key: boolean): void {
    if (analysis.plain) this.#folded(text, indent, key, "");
    else if (analysis.single) this.#folded(text, indent, key, "'");
    else this.#doubleQuoted(text, indent, key);
  }

  /** Writes a string on one line, or folded over several lines at single spaces. */
  #folded(text: string, indent: number, key: boolean, quote: "" | "'"): void {
    if (key || this.#column + 2 + 2 * text.length <= widest)
      return this.#put(`${quote}${doubled(text, quote)}${quote}`);
    this.#put(quote);
    const quotes = quote === "'" ? 1 : 0;
    let start = 0;
    let width = this.#column;
    // The position up to which the width is known.
    let measured = 0;
    for (let at = text.indexOf(" "); at >= 0; at = text.indexOf(" ", at + 1)) {
      width += widthOf(text, measured, at) + quotes * countOf("'", text, measured, at);
      measured = at;
      const isInside = quotes === 0 || (at > 0 && at < text.length - 1);
      if (width <= widest || !isInside || text[at - 1] === " " || text[at + 1] === " ") continue;
      this.#put(doubled(text.slice(start, at), quote));
      this.#line(indent);
      start = measured = at + 1;
      width = indent;
    }
    this.#put(doubled(text.slice(start), quote) + quote);
  }

  #doubleQuoted(text: string, indent: number, key: boolean): void {
    this.#put('"');
    let afterSpace = false;
    for (let at = 0; at < text.length; at++) {
      if (text[at] !== " ") {
        const end = text.indexOf(" ", at);
        const word = text.slice(at, end < 0 ? undefined : end);
        this.#put(escaped(word));
        at += word.length - 1;
        afterSpace = false;
      } else if (!key && !afterSpace && this.#column > widest && at > 0 && at < text.length - 1) {
        this.#line(indent);
        if (text[at + 1] === " ") this.#put("\\");
        afterSpace = true;
      } else {
        this.#put(" ");
        afterSpace = true;
      }
    }
    this.#put('"');
  }

  #literal(text: string, indent: number): void {
    const hint = /^[ \n]/.test(text) ? "2" : "";
    const chomping = !text.endsWith("\n") ? "-" : text === "\n" || text.endsWith("\n\n") ? "+" : "";
    // Empty lines are not indented.
    this.#put(`|${hint}${chomping}\n${text.replaceAll(/^(?=.)/gm, " ".repeat(indent))}`);
  }
}

const doubled = (text: string, quote: "" | "'"): string =>
  quote === "'" ? text.replaceAll("'", "''") : text;
