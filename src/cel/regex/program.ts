// Compiles regular expressions to programs of a nondeterministic machine.

import { merged } from "./classes.ts";
import { type Assertion, type Regex, RegexError } from "./syntax.ts";

/**
 * `split` prefers its first target; `set` consumes one code point within its ranges (low, high, low, high
 * ...).
 */
export type Instruction =
  | { readonly op: "set"; readonly ranges: Int32Array; readonly next: number }
  | { readonly op: "split"; readonly first: number; readonly second: number }
  | { readonly op: "assert"; readonly assertion: Assertion; readonly next: number }
  | { readonly op: "match" };

export interface RegexProgram {
  readonly code: readonly Instruction[];
  readonly start: number;
}

const maxInstructions = 20_000;

/** Built backwards: each piece is given the position where it continues. */
export function compileRegex(regex: Regex, pattern: string): RegexProgram {
  const code: Instruction[] = [{ op: "match" }];
  const emit = (instruction: Instruction): number => {
    if (code.length >= maxInstructions) throw new RegexError("expression too large", pattern);
    return code.push(instruction) - 1;
  };
  const build = (node: Regex, next: number): number => {
    switch (node.kind) {
      case "empty":
        return next;
      case "set":
        return emit({ op: "set", ranges: Int32Array.from(merged(node.ranges).flat()), next });
      case "assert":
        return emit({ op: "assert", assertion: node.assertion, next });
      case "concat":
        return node.parts.reduceRight((after, part) => build(part, after), next);
      case "either":
        return node.choices
          .map((choice) => build(choice, next))
          .reduceRight((second, first) => emit({ op: "split", first, second }));
      case "repeat":
        return repeat(node, next);
    }
  };
  const split = (greedy: boolean, inside: number, after: number): number =>
    emit({ op: "split", first: greedy ? inside : after, second: greedy ? after : inside });
  const repeat = ({ of, least, most, greedy }: Regex & { kind: "repeat" }, next: number): number => {
    let after = next;
    if (most === Infinity) {
      const loop = emit({ op: "match" });
      const body = build(of, loop);
      code[loop] = { op: "split", first: greedy ? body : next, second: greedy ? next : body };
      after = loop;
    } else for (let count = least; count < most; count += 1) after = split(greedy, build(of, after), next);
    for (let count = 0; count < least; count += 1) after = build(of, after);
    return after;
  };
  const start = build(regex, 0);
  return { code, start };
}
