// RE2 regular expressions with linear-time matching; compiled ones are cached.

import { LRUCache } from "lru-cache";
import { Matcher, RegexWorkError } from "./match.ts";
import { compileRegex } from "./program.ts";
import { RegexError, parseRegex } from "./syntax.ts";
import { evaluationError } from "../values.ts";
import { chargeWalk } from "../walk-limit.ts";

export interface Pattern {
  test(text: string): boolean;
  /** Returns the leftmost match. */
  find(text: string): string | undefined;
  /** Returns matches that do not overlap, at most `limit` of them unless it is negative. */
  findAll(text: string, limit: number): string[];
}

export type Compiled = { readonly pattern: Pattern } | { readonly error: string };

const kept = new LRUCache<string, Compiled>({
  max: 256,
  maxSize: 65_536,
  sizeCalculation: (_value, key) => key.length + 1,
});

export function compilePattern(text: string): Compiled {
  const known = kept.get(text);
  if (known) return known;
  const compiled = compileNow(text);
  kept.set(text, compiled);
  return compiled;
}

function compileNow(text: string): Compiled {
  try {
    const program = compileRegex(parseRegex(text), text);
    chargeWalk(program.code.length);
    return { pattern: patternOf(new Matcher(program)) };
  } catch (error) {
    if (error instanceof RegexError) return { error: error.message };
    throw error;
  }
}

function patternOf(matcher: Matcher): Pattern {
  return {
    test: (text) => bounded(() => matcher.test(text)),
    find: (text) =>
      bounded(() => {
        const found = matcher.find(text, 0);
        return found && text.slice(found.start, found.end);
      }),
    findAll: (text, limit) => bounded(() => allMatches(matcher, text, limit)),
  };
}

function allMatches(matcher: Matcher, text: string, limit: number): string[] {
  const found: string[] = [];
  const work = { steps: 0 };
  let before = -1;
  for (let at = 0; at <= text.length && found.length !== limit;) {
    const match = matcher.find(text, at, work);
    if (!match) break;
    const { start, end } = match;
    const empty = start === end;
    if (!(empty && start === before)) found.push(text.slice(start, end));
    at = end > at ? end : at + ((text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1);
    before = end;
  }
  return found;
}

function bounded<T>(run: () => T): T {
  try {
    return run();
  } catch (error) {
    if (error instanceof RegexWorkError) throw evaluationError(error.message);
    throw error;
  }
}
