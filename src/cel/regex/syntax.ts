// Parses the RE2 syntax of regular expressions, without backreferences and lookaround.

import { type Ranges, classNamed, folded, negated, perlClass, posixClass } from "./classes.ts";

export type Assertion = "textStart" | "textEnd" | "lineStart" | "lineEnd" | "boundary" | "notBoundary";

export type Regex =
  | { readonly kind: "empty" }
  | { readonly kind: "set"; readonly ranges: Ranges }
  | { readonly kind: "assert"; readonly assertion: Assertion }
  | { readonly kind: "concat"; readonly parts: readonly Regex[] }
  | { readonly kind: "either"; readonly choices: readonly Regex[] }
  | {
      readonly kind: "repeat";
      readonly of: Regex;
      readonly least: number;
      readonly most: number;
      readonly greedy: boolean;
    };

export class RegexError extends Error {
  override readonly name = "RegexError";
  constructor(what: string, where: string) {
    super(`error parsing regexp: ${what}: \`${where}\``);
  }
}

interface Flags {
  readonly fold: boolean;
  readonly lines: boolean;
  readonly dotAll: boolean;
  readonly swapGreed: boolean;
}

const noFlags: Flags = { fold: false, lines: false, dotAll: false, swapGreed: false };
const maxRepeats = 1000;
const maxNesting = 1000;
/** Each atom compiles to at least one instruction, and programs are limited. */
const maxAtoms = 20_000;
const anything: Ranges = [[0, 0x10ffff]];
const anythingButNewline = negated([[10, 10]]);

export function parseRegex(pattern: string): Regex {
  const parser = new RegexParser(pattern);
  return parser.all();
}

class RegexParser {
  readonly #text: readonly string[];
  readonly #pattern: string;
  #at = 0;
  #depth = 0;
  #atoms = 0;

  constructor(pattern: string) {
    this.#pattern = pattern;
    this.#text = Array.from(pattern);
  }

  all(): Regex {
    const { regex } = this.#alternatives(noFlags);
    if (this.#at < this.#text.length) throw new RegexError("unexpected )", this.#pattern);
    return regex;
  }

  #peek(text: string): boolean {
    for (let index = 0; index < text.length; index += 1) {
      if (this.#text[this.#at + index] !== text[index]) return false;
    }
    return true;
  }

  #accept(text: string): boolean {
    if (!this.#peek(text)) return false;
    this.#at += text.length;
    return true;
  }

  #since(start: number): string {
    return this.#text.slice(start, this.#at).join("");
  }

  /**
   * Parses alternatives up to a closing parenthesis or the end; flags set inside apply to the end of the
   * group.
   */
  #alternatives(outer: Flags): { readonly regex: Regex } {
    this.#depth += 1;
    if (this.#depth > maxNesting) throw new RegexError("expression nests too deeply", this.#pattern);
    let flags = outer;
    const choices: Regex[] = [];
    let parts: Regex[] = [];
    while (this.#at < this.#text.length && !this.#peek(")")) {
      if (this.#accept("|")) {
        choices.push(concat(parts));
        parts = [];
        continue;
      }
      const group = this.#flagGroup(flags);
      if (group) {
        flags = group;
        continue;
      }
      parts.push(...this.#piece(flags));
    }
    choices.push(concat(parts));
    this.#depth -= 1;
    return { regex: choices.length === 1 ? choices[0]! : { kind: "either", choices } };
  }

  /** Parses a flag group: `(?i)` changes the flags for what follows. */
  #flagGroup(flags: Flags): Flags | undefined {
    if (!this.#peek("(?")) return undefined;
    const found = /^\(\?([imsU]*)(?:-([imsU]+))?\)/.exec(this.#text.slice(this.#at, this.#at + 20).join(""));
    if (!found || found[0] === "(?)") return undefined;
    this.#at += found[0].length;
    return withFlags(flags, found[1]!, found[2] ?? "");
  }

  #piece(flags: Flags): Regex[] {
    const start = this.#at;
    if (this.#accept(String.raw`\Q`)) return this.#quoted(flags);
    if (/[*+?]/.test(this.#text[start]!))
      throw new RegexError("missing argument to repetition operator", this.#text[start]!);
    let regex = this.#atom(flags);
    for (let repeats = 0; ; repeats += 1) {
      const from = this.#at;
      const bounds = this.#repetition();
      if (!bounds) return [regex];
      const lazy = this.#accept("?");
      if (repeats > 0) throw new RegexError("invalid nested repetition operator", this.#since(from));
      const greedy = lazy === flags.swapGreed;
      regex = { kind: "repeat", of: regex, ...bounds, greedy };
    }
  }

  #quoted(flags: Flags): Regex[] {
    const parts: Regex[] = [];
    while (this.#at < this.#text.length && !this.#accept(String.raw`\E`))
      parts.push(this.#set([point(this.#text[this.#at++]!)], flags));
    return parts;
  }

  #repetition(): { readonly least: number; readonly most: number } | undefined {
    if (this.#accept("*")) return { least: 0, most: Infinity };
    if (this.#accept("+")) return { least: 1, most: Infinity };
    if (this.#accept("?")) return { least: 0, most: 1 };
    if (!this.#peek("{")) return undefined;
    const found = /^\{(\d{1,6})(,(\d{0,6}))?\}/.exec(this.#text.slice(this.#at, this.#at + 16).join(""));
    if (!found) return undefined;
    const least = Number(found[1]);
    const most = found[2] === undefined ? least : found[3] === "" ? Infinity : Number(found[3]);
    if (least > maxRepeats || (most !== Infinity && most > maxRepeats) || least > most)
      throw new RegexError("invalid repeat count", found[0]);
    this.#at += found[0].length;
    return { least, most };
  }

  #set(ranges: Ranges, flags: Flags): Regex {
    return { kind: "set", ranges: flags.fold ? folded(ranges) : ranges };
  }

  #atom(flags: Flags): Regex {
    this.#atoms += 1;
    if (this.#atoms > maxAtoms) throw new RegexError("expression too large", this.#pattern);
    const start = this.#at;
    const char = this.#text[this.#at++]!;
    switch (char) {
      case "(":
        return this.#group(start, flags);
      case "[":
        return { kind: "set", ranges: this.#bracket(start, flags) };
      case ".":
        return { kind: "set", ranges: flags.dotAll ? anything : anythingButNewline };
      case "^":
        return { kind: "assert", assertion: flags.lines ? "lineStart" : "textStart" };
      case "$":
        return { kind: "assert", assertion: flags.lines ? "lineEnd" : "textEnd" };
      case "\\":
        return this.#escape(start, flags);
      default:
        return this.#set([point(char)], flags);
    }
  }

  #group(start: number, flags: Flags): Regex {
    let inner = flags;
    if (this.#accept("?")) {
      const head = this.#text.slice(this.#at, this.#at + 200).join("");
      const named = /^P<(\w+)>/.exec(head);
      const flagged = /^([imsU]*)(?:-([imsU]+))?:/.exec(head);
      const found = named ?? flagged;
      if (!found)
        throw new RegexError(
          "invalid or unsupported Perl syntax",
          this.#text.slice(start, start + 3).join(""),
        );
      this.#at += found[0].length;
      if (flagged) inner = withFlags(flags, flagged[1]!, flagged[2] ?? "");
    }
    const { regex } = this.#alternatives(inner);
    if (!this.#accept(")")) throw new RegexError("missing closing )", this.#pattern);
    return regex;
  }

  #escape(start: number, flags: Flags): Regex {
    const assertions: Readonly<Record<string, Assertion>> = {
      A: "textStart",
      z: "textEnd",
      b: "boundary",
      B: "notBoundary",
    };
    const next = this.#text[this.#at];
    if (next !== undefined && Object.hasOwn(assertions, next)) {
      this.#at += 1;
      return { kind: "assert", assertion: assertions[next]! };
    }
    return this.#set(this.#classEscape(flags) ?? [this.#charEscape(start)], flags);
  }

  /** Parses a class escape such as `\d` or `\pL`, if present. */
  #classEscape(flags: Flags): Ranges | undefined {
    const next = this.#text[this.#at];
    if (next === undefined) return undefined;
    const perl = perlClass(next);
    if (perl) {
      this.#at += 1;
      return perl;
    }
    if (next !== "p" && next !== "P") return undefined;
    const found = /^[pP](?:\{(\^?)([^}]*)\}|(.))/u.exec(this.#text.slice(this.#at, this.#at + 60).join(""));
    const ranges = found && classNamed(found[2] ?? found[3]!);
    if (!ranges) throw new RegexError("invalid character class range", `\\${found?.[0] ?? next}`);
    this.#at += Array.from(found[0]).length;
    const negate = (next === "P") !== (found[1] === "^");
    const whole = flags.fold ? folded(ranges) : ranges;
    return negate ? negated(whole) : whole;
  }

  /** Parses the escape of one character after a backslash. */
  #charEscape(start: number): readonly [number, number] {
    const rest = this.#text.slice(this.#at, this.#at + 14).join("");
    if (rest === "") throw new RegexError("trailing backslash at end of expression", "");
    const numeric = /^(?:x\{([0-9a-fA-F]+)\}|x([0-9a-fA-F]{2})|(0[0-7]{0,2}|[1-7][0-7]{1,2}))/.exec(rest);
    if (numeric) {
      this.#at += numeric[0].length;
      const hex = numeric[1] ?? numeric[2];
      const code = hex === undefined ? Number.parseInt(numeric[3]!, 8) : Number.parseInt(hex, 16);
      if (code <= 0x10ffff) return [code, code];
    } else {
      const char = this.#text[this.#at++]!;
      const controls: Readonly<Record<string, number>> = { a: 7, f: 12, n: 10, r: 13, t: 9, v: 11 };
      if (Object.hasOwn(controls, char)) return [controls[char]!, controls[char]!];
      if (/[^A-Za-z0-9]/.test(char) && char < "\u0080") return point(char);
    }
    throw new RegexError("invalid escape sequence", this.#since(start));
  }

  #bracket(start: number, flags: Flags): Ranges {
    const negate = this.#accept("^");
    const ranges: (readonly [number, number])[] = [];
    for (let first = true; first || !this.#peek("]"); first = false) {
      if (this.#at >= this.#text.length)
        throw new RegexError("missing closing ]", this.#text.slice(start).join(""));
      const posix = this.#posix();
      if (posix) ranges.push(...posix);
      else ranges.push(...this.#bracketItem(flags));
    }
    this.#at += 1;
    const whole = flags.fold ? folded(ranges) : ranges;
    return negate ? negated(whole) : whole;
  }

  #posix(): Ranges | undefined {
    const found = /^\[:(\^?)(\w+):\]/.exec(this.#text.slice(this.#at, this.#at + 16).join(""));
    if (!found) return undefined;
    const ranges = posixClass(found[2]!);
    if (!ranges) throw new RegexError("invalid character class range", found[0]);
    this.#at += found[0].length;
    return found[1] === "^" ? negated(ranges) : ranges;
  }

  #bracketItem(flags: Flags): Ranges {
    const start = this.#at;
    if (this.#peek("\\")) {
      this.#at += 1;
      const named = this.#classEscape(flags);
      if (named) return named;
      this.#at = start;
    }
    const [low] = this.#bracketChar();
    if (!this.#peek("-") || this.#text[this.#at + 1] === "]" || this.#text[this.#at + 1] === undefined)
      return [[low, low]];
    this.#at += 1;
    const [high] = this.#bracketChar();
    if (high < low) throw new RegexError("invalid character class range", this.#since(start));
    return [[low, high]];
  }

  #bracketChar(): readonly [number, number] {
    const start = this.#at;
    const char = this.#text[this.#at++]!;
    return char === "\\" ? this.#charEscape(start) : point(char);
  }
}

const point = (char: string): readonly [number, number] => [char.codePointAt(0)!, char.codePointAt(0)!];

const concat = (parts: readonly Regex[]): Regex =>
  parts.length === 0 ? { kind: "empty" } : parts.length === 1 ? parts[0]! : { kind: "concat", parts };

function withFlags(flags: Flags, on: string, off: string): Flags {
  const value = (letter: string, before: boolean) =>
    off.includes(letter) ? false : before || on.includes(letter);
  return {
    fold: value("i", flags.fold),
    lines: value("m", flags.lines),
    dotAll: value("s", flags.dotAll),
    swapGreed: value("U", flags.swapGreed),
  };
}
